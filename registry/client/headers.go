package client

import (
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// headerValue encodes s for Mcp-Name and Mcp-Param-* (SEP-2243): visible ASCII
// as it is, everything else as =?base64?…?=.
func headerValue(s string) string {
	const prefix, suffix = "=?base64?", "?="
	plain := !(strings.HasPrefix(s, prefix) && strings.HasSuffix(s, suffix))
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] <= '~'
	}
	if plain && strings.Trim(s, " ") == s {
		return s
	}
	return prefix + text.Base64(s) + suffix
}

// safeHeader reports whether a value that a server gave may be sent back: visible
// ASCII of a bounded length, which is what the spec allows in a session id.
func safeHeader(s string) bool {
	if s == "" || len(s) > 4096 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// headerOf finds a header among the lines of an [Event].
func headerOf(lines, name string) string {
	for lines != "" {
		var key, value string
		key, lines, _ = strings.Cut(lines, "\n")
		value, lines, _ = strings.Cut(lines, "\n")
		if key == name {
			return value
		}
	}
	return ""
}

// A binding sends one argument of a tool as a header (x-mcp-header, SEP-2243).
type binding struct {
	path   []string
	header string
}

// A bindingError says why a tool's annotations cannot be followed, which takes
// the tool off the list.
type bindingError string

func (e bindingError) Error() string { return string(e) }

// maxBindings bounds the headers of one call.
const maxBindings = 64

// bindings reads the x-mcp-header annotations of a tool definition.
func bindings(def []byte) ([]binding, error) {
	schema, ok := rawjson.Get(def, "inputSchema")
	if !ok {
		return nil, nil
	}
	bound, err := appendBindings(nil, schema, nil)
	if err == nil && annotations(schema, false) > len(bound) {
		return nil, bindingError("x-mcp-header is on a schema that is not in a chain of properties")
	}
	return bound, err
}

// annotations counts the x-mcp-header of a schema. With named, the members of the value are
// names of the server's choice.
func annotations(value []byte, named bool) (n int) {
	switch rawjson.Kind(value) {
	case 'o':
		_ = rawjson.Members(value, func(key string, member []byte) error {
			switch {
			case named:
				n += annotations(member, false)
			case key == "x-mcp-header":
				n++
			case key != "const" && key != "enum" && key != "default" && key != "examples":
				n += annotations(member, text.MapsSchemas(key))
			}
			return nil
		})
	case 'a':
		_ = rawjson.Elements(value, func(element []byte) error {
			n += annotations(element, false)
			return nil
		})
	}
	return n
}

func appendBindings(out []binding, schema []byte, path []string) ([]binding, error) {
	properties, ok := rawjson.Get(schema, "properties")
	if !ok || rawjson.Kind(properties) != 'o' {
		return out, nil
	}
	err := rawjson.Members(properties, func(key string, property []byte) error {
		if rawjson.Kind(property) != 'o' {
			return nil
		}
		here := append(path[:len(path):len(path)], key)
		if raw, ok := rawjson.Get(property, "x-mcp-header"); ok {
			b, err := bind(out, here, property, raw)
			if err != nil {
				return err
			}
			out = append(out, b)
		}
		var err error
		out, err = appendBindings(out, property, here)
		return err
	})
	return out, err
}

func bind(taken []binding, path []string, property, raw []byte) (binding, error) {
	kind, _ := rawjson.Get(property, "type")
	switch kind, _ := rawjson.String(kind); kind {
	case "string", "integer", "boolean":
	default:
		return binding{}, bindingError("x-mcp-header is on a parameter that is not a string, an integer or a boolean")
	}
	name, ok := rawjson.String(raw)
	if !ok || !isToken(name) {
		return binding{}, bindingError("x-mcp-header is not a header name")
	}
	lower := text.Lower(name)
	for _, b := range taken {
		if text.Lower(b.header) == lower {
			return binding{}, bindingError("two parameters have the same x-mcp-header")
		}
	}
	if len(taken) >= maxBindings {
		return binding{}, bindingError("too many x-mcp-header annotations")
	}
	return binding{path, name}, nil
}

// isToken reports whether s is a token of RFC 9110, section 5.6.2.
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		b := s[i]
		if !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
			strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0) {
			return false
		}
	}
	return s != "" && len(s) <= 128
}

// paramHeaders are the Mcp-Param-* headers of a call, names and values in turn.
// Absent and null arguments have none.
func paramHeaders(bound []binding, arguments []byte) []string {
	var out []string
	for _, b := range bound {
		value, ok := arguments, true
		for _, key := range b.path {
			if value, ok = rawjson.Get(value, key); !ok {
				break
			}
		}
		if !ok {
			continue
		}
		if text, ok := primitive(value); ok {
			out = append(out, "Mcp-Param-"+b.header, headerValue(text))
		}
	}
	return out
}

func primitive(value []byte) (string, bool) {
	switch rawjson.Kind(value) {
	case 's':
		return rawjson.String(value)
	case 'b':
		return string(value), true
	case 'n':
		if n, ok := rawjson.Int(value); ok {
			return strconv.FormatInt(n, 10), true
		}
		digits := strings.TrimPrefix(string(value), "-")
		return string(value), strings.Trim(digits, "0123456789") == ""
	}
	return "", false
}
