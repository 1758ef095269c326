package text

import (
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"
)

// Visible returns s without hidden characters. In a browser it returns s: there
// the host cleans all texts that leave the module (wasm/js/host/instance.ts).
func Visible(s string) string {
	if runtime.GOOS == "js" {
		return s
	}
	s, _ = Clean(s)
	return s
}

// Plain returns s as one line: without hidden characters and line breaks. A text of more
// than most bytes is cut and ends with "…".
func Plain(s string, most int) string {
	s = Visible(s)
	if len(s) > most {
		s = Cut(s, most-len("…")) + "…"
	}
	for i := 0; i < len(s); i++ {
		if !isControl(s[i]) {
			continue
		}
		line := []byte(s)
		for ; i < len(line); i++ {
			if isControl(line[i]) {
				line[i] = ' '
			}
		}
		return string(line)
	}
	return s
}

// IsToken reports whether s is a token of RFC 9110, section 5.6.2.
func IsToken(s string) bool {
	const token = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
	return s != "" && strings.Trim(s, token) == ""
}

// IsVisible reports whether s has visible ASCII only.
func IsVisible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// Quote returns a foreign name as a short text in quotes.
func Quote(name string) string { return `"` + Plain(name, 100) + `"` }

// Lower returns s with the letters A to Z in lower case, for schemes, hosts and names of headers (RFC 3986, section
// 6.2.2.1; RFC 9110, section 5.1). [strings.ToLower] would map other letters, too: the Kelvin sign to k.
func Lower(s string) string {
	var lower []byte // nil while s is in lower case, as most are
	for i := range len(s) {
		if c := s[i]; 'A' <= c && c <= 'Z' {
			if lower == nil {
				lower = []byte(s)
			}
			lower[i] = c + 'a' - 'A'
		}
	}
	if lower == nil {
		return s
	}
	return string(lower)
}

func isControl(b byte) bool { return b < ' ' || b == 0x7f }

// Cut returns at most n bytes of s. It divides no character.
func Cut(s string, n int) string {
	n = max(n, 0)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Clip returns the first 300 characters of s, with "…" behind a longer text.
func Clip(s string) string {
	n := 0
	for i := range s {
		if n == 300 {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// UTF16Len returns the length of s as JavaScript counts it.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// Base64 encodes s as RFC 4648, section 4 does. The package encoding/base64 would
// link a decoder too.
func Base64(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	out := make([]byte, 0, (len(s)+2)/3*4)
	for i := 0; i < len(s); i += 3 {
		var group [3]byte
		n := copy(group[:], s[i:])
		bits := uint(group[0])<<16 | uint(group[1])<<8 | uint(group[2])
		for j := range 4 {
			if j > n {
				out = append(out, '=')
				continue
			}
			out = append(out, alphabet[bits>>(18-6*j)&63])
		}
	}
	return string(out)
}

// Keys returns the keys of a map in order. [slices.Sorted] would add 6 KB to the module.
func Keys[V any](of map[string]V) (keys []string) {
	for key := range of {
		keys = append(keys, key)
	}
	Sort(keys)
	return keys
}

// Sort puts texts in order.
func Sort(all []string) {
	if len(all) < 2 {
		return
	}
	left, right := slices.Clone(all[:len(all)/2]), all[len(all)/2:]
	Sort(left)
	Sort(right)
	for i := range all {
		if len(right) == 0 || len(left) > 0 && left[0] <= right[0] {
			all[i], left = left[0], left[1:]
		} else {
			all[i], right = right[0], right[1:]
		}
	}
}
