package rawjson

import (
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes the JSON string raw. Lone surrogates and invalid UTF-8 become U+FFFD.
func String(raw []byte) (string, bool) {
	raw = trim(raw)
	if end, err := skipString(raw, 0); err != nil || end != len(raw) {
		return "", false
	}
	return decodeString(raw), true
}

// Bool reads true or false.
func Bool(raw []byte) (v, ok bool) {
	text := string(trim(raw))
	return text == "true", text == "true" || text == "false"
}

// AppendString appends s as a JSON string, escaped as JSON.stringify does.
// Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// AppendMember appends "key":value to an object that is begun, or to members without braces.
func AppendMember(dst []byte, key string, value []byte) []byte {
	if len(dst) > 0 && dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(AppendString(dst, key), ':'), value...)
}

// decodeString decodes a string that skipString has accepted.
func decodeString(raw []byte) string {
	in := raw[1 : len(raw)-1]
	if isPlain(in) {
		return string(in)
	}
	out := make([]byte, 0, len(in))
	for i := 0; i < len(in); {
		c := in[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRune(in[i:])
			out = utf8.AppendRune(out, r)
			i += n
			continue
		}
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		c = in[i+1]
		i += 2
		switch c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(in[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if i+1 < len(in) && in[i] == '\\' && in[i+1] == 'u' {
					low, ok = hex4(in[i+2:])
				}
				if r = utf16.DecodeRune(r, low); ok && r != utf8.RuneError {
					i += 6
				}
			}
			out = utf8.AppendRune(out, r)
		default: // the quote, the backslash and the slash stand for themselves
			out = append(out, c)
		}
	}
	return string(out)
}

// isString reports whether raw, which skipString has accepted, decodes to s.
func isString(raw []byte, s string) bool {
	if in := raw[1 : len(raw)-1]; isPlain(in) {
		return string(in) == s
	}
	return decodeString(raw) == s
}

// isPlain reports whether in decodes to itself.
func isPlain(in []byte) bool {
	for _, c := range in {
		if c == '\\' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func isNumber(raw []byte) bool {
	end, err := skipNumber(raw, 0)
	return err == nil && end == len(raw)
}

// hex4 reads the four hex digits that b starts with.
func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	n, ok := Digits(string(b[:4]), 16)
	return rune(n), ok
}

func trim(raw []byte) []byte {
	raw = raw[skipSpace(raw, 0):]
	for n := len(raw); n > 0; n-- {
		switch raw[n-1] {
		case ' ', '\n', '\t', '\r':
		default:
			return raw[:n]
		}
	}
	return nil
}
