package text

import "strings"

// leastSecret is the shortest text that Redact hides. Many ordinary words hold a shorter one.
const leastSecret = 4

// hidden stands in place of a secret.
const hidden = "[redacted]"

// Redact hides header values, and the credentials in them, that a server repeats in s:
// in any case, percent-encoded, in base64, and with hidden characters or JSON escapes in
// between. It also hides the shape of a JSON Web Token (RFC 7519). Call it before any cut.
// Redact also hides the beginning of a value at the end of s, because an earlier cut may
// have left it.
func Redact(s string, values ...string) string {
	var secrets []string
	for _, value := range values {
		_, credential, _ := strings.Cut(value, " ")
		secrets = append(secrets, value, credential)
	}
	for range secrets {
		longest := 0 // comes first, because one secret may be a part of another
		for i := range secrets {
			if len(secrets[i]) > len(secrets[longest]) {
				longest = i
			}
		}
		secret := secrets[longest]
		secret = secret[:min(len(secret), 3*(len(s)/3+1))] // s is too short for more of it
		if len(secret) < leastSecret {
			break
		}
		secrets[longest] = ""
		coded := strings.TrimRight(Base64(secret), "=")
		s = hide(s, secret, true)
		s = hide(s, secret, false)
		s = hide(s, PercentEncoded(secret), true)
		s = hide(s, coded, true)
		s = hide(s, urlSafe(coded), true)
	}
	return hideTokens(s)
}

// maxTries bounds the bytes of s that hide reads in vain, in lengths of s.
const maxTries = 16

// hide replaces a secret in s wherever repeats finds it. A server that chose the secret can fill s with beginnings of
// it, such as aaaa for aaaab. The rest of such a text is hidden. With isJSON, a
// backslash in s begins an escape.
func hide(s, secret string, isJSON bool) string {
	var out strings.Builder
	from, tries := 0, 0
	for at := 0; at < len(s); at++ {
		if s[at] != '\\' && fold(s[at]) != fold(secret[0]) {
			continue
		}
		end, found := repeats(s, at, secret, isJSON)
		if !found {
			if tries += end - at; tries <= maxTries*len(s) {
				continue
			}
			end = len(s)
		}
		out.WriteString(s[from:at])
		out.WriteString(hidden)
		from, at = end, end-1
	}
	if from == 0 {
		return s
	}
	out.WriteString(s[from:])
	return out.String()
}

// repeats returns whether a secret begins at a place of s, and where it ends or differs. Invisible
// characters may stand within: all beyond ASCII, and controls.
func repeats(s string, at int, secret string, isJSON bool) (end int, found bool) {
	n := 0
	for at < len(s) {
		c, width := s[at], 1
		if isJSON {
			c, width = unescaped(s[at:])
		}
		if fold(c) == fold(secret[n]) {
			at += width
			if n++; n == len(secret) {
				return at, true
			}
			continue
		}
		if n == 0 || c >= ' ' && c < 0x7f {
			return at, false
		}
		at += width
	}
	return at, n >= leastSecret
}

// unescaped returns the first byte of s, or of what a JSON escape there stands for, and its
// width. A character beyond ASCII counts as the byte 0xff.
func unescaped(s string) (c byte, width int) {
	if len(s) < 2 || s[0] != '\\' {
		return s[0], 1
	}
	if s[1] != 'u' || len(s) < 6 {
		return s[1], 2
	}
	code := 0
	for _, digit := range []byte(s[2:6]) {
		value := strings.IndexByte("0123456789abcdef", fold(digit))
		if value < 0 {
			return s[0], 1
		}
		code = code<<4 | value
	}
	if code >= 0x80 {
		return 0xff, 6
	}
	return byte(code), 6
}

func fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// urlSafe turns base64 into base64url.
func urlSafe(coded string) string {
	safe := []byte(coded)
	for i, c := range safe {
		switch c {
		case '+':
			safe[i] = '-'
		case '/':
			safe[i] = '_'
		}
	}
	return string(safe)
}

// PercentEncoded encodes all but the unreserved characters of RFC 3986, section 2.3.
func PercentEncoded(s string) string {
	const digits = "0123456789ABCDEF"
	out := make([]byte, 0, 3*len(s))
	for _, c := range []byte(s) {
		if isWord(c) || c == '.' || c == '~' {
			out = append(out, c)
		} else {
			out = append(out, '%', digits[c>>4], digits[c&15])
		}
	}
	return string(out)
}

// isWord reports whether c is a character of base64url.
func isWord(c byte) bool {
	return 'a' <= fold(c) && fold(c) <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

// leastPart is the shortest part of a JSON Web Token.
const leastPart = 8

// hideTokens hides what has the shape of a signed JSON Web Token: three parts in base64url,
// of which the first begins as a JSON object does.
func hideTokens(s string) string {
	const begin = "eyJ"
	var out strings.Builder
	for from := 0; ; {
		at := strings.Index(s[from:], begin)
		if at < 0 {
			break
		}
		at += from
		end, parts := at, 0
		for ; parts < 3; parts++ {
			part := end
			for end < len(s) && isWord(s[end]) {
				end++
			}
			if parts == 0 {
				from = end // no token begins within the part if none begins here
			}
			if end-part < leastPart {
				break
			}
			if parts < 2 && end < len(s) && s[end] == '.' {
				end++
			}
		}
		if parts == 3 {
			out.WriteString(s[:at])
			out.WriteString(hidden)
			s, from = s[end:], 0
		}
	}
	out.WriteString(s)
	return out.String()
}
