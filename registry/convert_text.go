package registry

import (
	"strconv"
	"unicode/utf8"
)

func itoa(i int) string { return strconv.Itoa(i) }

// utf16Len is the length of s in JavaScript's units.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// unescapeFragment undoes percent-encoding (RFC 3986, section 2.1). It is not
// ok for a broken escape or bytes that are not UTF-8.
func unescapeFragment(s string, ok bool) (string, bool) {
	var out []byte
	for i := 0; i < len(s) && ok; i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		out = append(out, byte(n))
		i += 2
	}
	return string(out), ok && utf8.Valid(out)
}
