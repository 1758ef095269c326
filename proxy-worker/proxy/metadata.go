package proxy

import "unicode/utf8"

// metadata has the URLs of OAuth metadata: the endpoints of an authorization server
// (RFC 8414, OpenID Connect Discovery), and the authorization servers of a resource
// (RFC 9728).
type metadata struct{ endpoints, servers []string }

var endpointNames = setOf("token_endpoint", "registration_endpoint", "revocation_endpoint", "introspection_endpoint",
	"device_authorization_endpoint", "pushed_authorization_request_endpoint")

// readMetadata reads a document. encoding/json would make the Worker a tenth
// larger for these few members.
func readMetadata(text []byte) (m metadata, ok bool) {
	s := scanner{text: text}
	if !s.next('{') {
		return m, false
	}
	if s.next('}') {
		return m, true
	}
	for {
		name, ok := s.str()
		if !ok || !s.next(':') {
			return m, false
		}
		switch {
		case endpointNames[name] && s.peek() == '"':
			value, ok := s.str()
			if !ok {
				return m, false
			}
			m.endpoints = append(m.endpoints, value)
		case name == "authorization_servers" && s.peek() == '[':
			if m.servers, ok = s.strs(); !ok {
				return m, false
			}
		default:
			if !s.skip(32) {
				return m, false
			}
		}
		switch {
		case s.next(','):
		case s.next('}'):
			return m, s.peek() == 0
		default:
			return m, false
		}
	}
}

// A scanner reads JSON text from front to back.
type scanner struct {
	text []byte
	at   int
}

// peek returns the next byte that is no white space, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.text); s.at++ {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) next(c byte) bool {
	if s.peek() != c {
		return false
	}
	s.at++
	return true
}

// strs reads an array of strings; other elements are passed over.
func (s *scanner) strs() (list []string, ok bool) {
	if s.next('['); s.next(']') {
		return nil, true
	}
	for {
		if s.peek() == '"' {
			text, ok := s.str()
			if !ok {
				return nil, false
			}
			list = append(list, text)
		} else if !s.skip(32) {
			return nil, false
		}
		if s.next(']') {
			return list, true
		}
		if !s.next(',') {
			return nil, false
		}
	}
}

var escapes = map[byte]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// str reads a string. It fails for invalid UTF-8 and for escaped surrogates, which no
// URL has.
func (s *scanner) str() (string, bool) {
	if !s.next('"') {
		return "", false
	}
	var out []byte
	for s.at < len(s.text) {
		c := s.text[s.at]
		s.at++
		switch {
		case c == '"':
			return string(out), utf8.Valid(out)
		case c < ' ':
			return "", false
		case c != '\\':
			out = append(out, c)
		case s.at < len(s.text) && s.text[s.at] == 'u':
			r, ok := hex4(s.text[s.at+1:])
			if !ok || r >= 0xd800 && r < 0xe000 {
				return "", false
			}
			s.at += 5
			out = utf8.AppendRune(out, r)
		case s.at < len(s.text) && escapes[s.text[s.at]] != 0:
			out = append(out, escapes[s.text[s.at]])
			s.at++
		default:
			return "", false
		}
	}
	return "", false
}

func hex4(b []byte) (r rune, ok bool) {
	if len(b) < 4 {
		return 0, false
	}
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r |= rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return r, true
}

// skip passes over one value of at most that depth.
func (s *scanner) skip(depth int) bool {
	switch c := s.peek(); {
	case c == 0 || depth == 0:
		return false
	case c == '"':
		for s.at++; s.at < len(s.text); s.at++ {
			switch s.text[s.at] {
			case '\\':
				s.at++
			case '"':
				s.at++
				return true
			}
		}
		return false
	case c == '{' || c == '[':
		s.at++
		if s.next(c + 2) { // the closing one, in ASCII
			return true
		}
		for {
			if c == '{' && (s.peek() != '"' || !s.skip(depth) || !s.next(':')) || !s.skip(depth-1) {
				return false
			}
			if s.next(c + 2) {
				return true
			}
			if !s.next(',') {
				return false
			}
		}
	}
	from := s.at
	for s.at < len(s.text) && isAtom(s.text[s.at]) {
		s.at++
	}
	return s.at > from
}

// isAtom reports whether c may stand in a number, true, false or null.
func isAtom(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c == 'E' || c == '+' || c == '-' || c == '.'
}
