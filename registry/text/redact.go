package text

import "strings"

// leastSecret is the shortest text that Redact hides. Many ordinary words hold a shorter one.
const leastSecret = 4

// Redact hides header values, and the credentials in them, that a server repeats
// in s. Call it before any cut. Redact also hides the beginning of a value at the
// end of s, because an earlier cut may have left it.
func Redact(s string, values ...string) string {
	const hidden = "[redacted]"
	for _, value := range values {
		_, credential, _ := strings.Cut(value, " ")
		for _, secret := range []string{value, credential} {
			if len(secret) < leastSecret {
				continue
			}
			s = strings.ReplaceAll(s, secret, hidden)
			for n := min(len(secret)-1, len(s)); n >= leastSecret; n-- {
				if strings.HasSuffix(s, secret[:n]) {
					s = s[:len(s)-n] + hidden
					break
				}
			}
		}
	}
	return s
}
