package registry

import "strings"

// leastSecret is the shortest text that is hidden: what is shorter is in many words.
const leastSecret = 4

// Redact hides the values of headers, and the credentials in them, where a server
// has repeated them in text. It comes before any cut; what an earlier cut has left
// of a value at the end of text is hidden as well.
func Redact(text string, values ...string) string {
	const hidden = "[redacted]"
	for _, value := range values {
		_, credential, _ := strings.Cut(value, " ")
		for _, secret := range []string{value, credential} {
			if len(secret) < leastSecret {
				continue
			}
			text = strings.ReplaceAll(text, secret, hidden)
			for n := min(len(secret)-1, len(text)); n >= leastSecret; n-- {
				if strings.HasSuffix(text, secret[:n]) {
					text = text[:len(text)-n] + hidden
					break
				}
			}
		}
	}
	return text
}
