package rawjson

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPointer is the length of a pointer in bytes. A server may send a key of a megabyte with thousands of values below it.
const maxPointer = 1000

// Pointer appends one reference token to a JSON pointer (RFC 6901), of which it keeps the first 1,000 bytes.
func Pointer(where, key string) string {
	if len(where) > maxPointer-utf8.UTFMax { // it was cut before
		return where
	}
	p := where + "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
	if len(p) > maxPointer {
		p = strings.ToValidUTF8(p[:maxPointer], "")
	}
	return p
}

// Resolve returns the value that a reference names within n: a JSON pointer in a
// fragment (RFC 6901, section 6), such as "#/$defs/point". It returns nil for any
// other reference, and fetches nothing.
func (n *Node) Resolve(ref string) *Node {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	pointer, ok := unescapeFragment(fragment)
	if !ok || pointer != "" && pointer[0] != '/' {
		return nil
	}
	for n != nil && pointer != "" {
		var step string
		if step, pointer, ok = strings.Cut(pointer[1:], "/"); ok {
			pointer = "/" + pointer
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		if n.Is('a') {
			n = n.element(step)
		} else {
			n = n.Get(step)
		}
	}
	return n
}

func (n *Node) element(step string) *Node {
	i, ok := Int([]byte(step))
	if !ok || step != strconv.Itoa(int(i)) || i < 0 || int(i) >= len(n.Values) {
		return nil
	}
	return n.Values[i]
}

// unescapeFragment decodes percent-encoding (RFC 3986, section 2.1). It fails for
// a broken escape and for bytes that are not UTF-8.
func unescapeFragment(s string) (string, bool) {
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			out = append(out, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		n, ok := Digits(s[i+1:i+3], 16)
		if !ok {
			return "", false
		}
		out = append(out, byte(n))
		i += 2
	}
	return string(out), utf8.Valid(out)
}
