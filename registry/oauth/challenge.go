package oauth

import (
	"strings"

	"github.com/portolan-mcp/portolan/registry/text"
)

// A challenge has the parameters of a WWW-Authenticate header (RFC 9110, section
// 11.6.1) that OAuth uses. The server chooses all of them.
type challenge struct {
	scheme                 string // "bearer", "dpop" or ""
	resourceMetadata, code string
	scope                  string
}

// readChallenge reads the first Bearer or DPoP challenge of a header's value. Challenges
// of other schemes may stand before and behind it.
func readChallenge(header string) (c challenge) {
	if len(header) > maxURL {
		return c
	}
	s := scanner(header)
	for s != "" {
		s.skip(" \t,")
		name := s.token()
		if name == "" {
			return c
		}
		s.skip(" \t")
		if !strings.HasPrefix(string(s), "=") || strings.HasPrefix(string(s), "==") {
			if c.scheme != "" {
				return c // the next challenge
			}
			if scheme := text.Lower(name); scheme == "bearer" || scheme == "dpop" {
				c.scheme = scheme
			}
			continue
		}
		s = s[1:]
		s.skip(" \t")
		value := s.value()
		if c.scheme == "" {
			continue
		}
		switch text.Lower(name) {
		case "resource_metadata":
			c.resourceMetadata = value
		case "error":
			c.code = value
		case "scope":
			c.scope = value
		}
	}
	return c
}

// A scanner is the part of a header that is not read yet.
type scanner string

func (s *scanner) skip(set string) {
	for *s != "" && strings.IndexByte(set, (*s)[0]) >= 0 {
		*s = (*s)[1:]
	}
}

func (s *scanner) token() string {
	i := 0
	for i < len(*s) && strings.IndexByte(" \t,=\"", (*s)[i]) < 0 {
		i++
	}
	token := string((*s)[:i])
	*s = (*s)[i:]
	if i == 0 && *s != "" {
		*s = (*s)[1:] // not a token: continue behind the byte
		return "?"
	}
	return token
}

// value reads a token or a quoted string.
func (s *scanner) value() string {
	if !strings.HasPrefix(string(*s), `"`) {
		return s.token()
	}
	var out []byte
	for i := 1; i < len(*s); i++ {
		switch b := (*s)[i]; {
		case b == '"':
			*s = (*s)[i+1:]
			return string(out)
		case b == '\\' && i+1 < len(*s):
			i++
			out = append(out, (*s)[i])
		default:
			out = append(out, b)
		}
	}
	*s = ""
	return string(out)
}

// joinScopes joins two lists of scopes. It drops repetitions and malformed scopes.
func joinScopes(a, b string) string {
	out := ""
	rest := a + " " + b
	for n := 0; rest != "" && n < maxScopes; n++ {
		var scope string
		scope, rest, _ = strings.Cut(rest, " ")
		if isScope(scope) && !hasScope(out, scope) {
			if out != "" {
				out += " "
			}
			out += scope
		}
	}
	return out
}

func hasScope(list, scope string) bool { return strings.Contains(" "+list+" ", " "+scope+" ") }

const maxScopes = 100

func isScope(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b <= ' ' || b > '~' || b == '"' || b == '\\' {
			return false
		}
	}
	return s != "" && len(s) <= 256
}
