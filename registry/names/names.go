// Package names gives tools the names under which models see them, and finds tools
// by these names.
//
// A name always matches ^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$. It depends on nothing but
// the server's name and the tool's own: not on other servers, nor on the order in
// which they connect.
//
// The plain form is server + "__" + tool. It is used when it is legal and the
// server's name neither holds "__" nor ends in "_". The first "__" of a plain name
// is then always the seam: a + b__c stays plain and a__b + c does not.
//
// All other pairs get server_tool_hash. Each run of illegal characters becomes one
// underscore. Such a name never holds "__" and so never equals a plain one. The
// hash has 50 bits and covers both names in full. Among 5,000 hashed names of equal
// slugs, two coincide with a chance of one in 10^8.
//
// Names are looked up in a [Table]. No code splits them.
package names

import "strconv"

// MaxLen is the length of the longest function name that every dialect takes.
const MaxLen = 64

// Tool returns the name under which models see a server's tool.
func Tool(server, tool string) string {
	return string(Append(make([]byte, 0, MaxLen), server, tool))
}

// Append appends the name of a server's tool to dst.
func Append(dst []byte, server, tool string) []byte {
	if isPlainServer(server) && tool != "" && len(server)+2+len(tool) <= MaxLen && isNameText(tool) {
		return append(append(append(dst, server...), "__"...), tool...)
	}
	return append(dst, hashedName(server, tool)...)
}

func isPlainServer(s string) bool {
	if s == "" || s[0] == '-' || '0' <= s[0] && s[0] <= '9' || s[len(s)-1] == '_' || !isNameText(s) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if s[i-1] == '_' && s[i] == '_' {
			return false
		}
	}
	return true
}

func isNameText(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '_' && !isSlugByte(s[i]) {
			return false
		}
	}
	return true
}

func isSlugByte(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '-'
}

func hashedName(server, tool string) []byte {
	const (
		hashLen   = 10
		maxServer = 20 // leaves the tool, which tells models more, at least 32
	)
	name := appendSlug(make([]byte, 0, MaxLen), server, "server", maxServer)
	if c := name[0]; c == '-' || '0' <= c && c <= '9' {
		name = append([]byte{'_'}, name...)
	}
	name = append(name, '_')
	name = appendSlug(name, tool, "tool", MaxLen-len(name)-1-hashLen)
	name = append(name, '_')

	// The length of the first keeps (ab, c) and (a, bc) apart.
	h := sipHash(hashKey0, hashKey1, []byte(strconv.Itoa(len(server))+":"+server+tool))
	const digits = "abcdefghijklmnopqrstuvwxyz234567"
	for range hashLen {
		name = append(name, digits[h&31])
		h >>= 5
	}
	return name
}

// appendSlug appends the legal bytes of s, with one underscore for each run of other
// bytes except at the ends. If s has no legal byte, it appends instead.
func appendSlug(dst []byte, s, instead string, limit int) []byte {
	start := len(dst)
	gap := false
	for i := 0; i < len(s) && len(dst)-start < limit; i++ {
		if !isSlugByte(s[i]) {
			gap = true
			continue
		}
		if gap && len(dst) > start {
			if len(dst)-start+2 > limit {
				break
			}
			dst = append(dst, '_')
		}
		gap = false
		dst = append(dst, s[i])
	}
	if len(dst) == start {
		dst = append(dst, instead...)
	}
	return dst
}
