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
	return s != "" && len(s) <= 4096 && text.IsVisible(s)
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

// The bounds of the headers of one call: how many, and bytes of a name.
const (
	maxBindings  = 64
	maxBoundName = 128
)

// bindings reads the x-mcp-header annotations of a tool definition.
func bindings(def []byte) ([]binding, error) {
	tool, err := rawjson.Parse(def, 0, 0)
	schema := tool.Get("inputSchema")
	if err != nil || schema == nil {
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
func annotations(value *rawjson.Node, named bool) (n int) {
	for i, member := range value.Values {
		key := ""
		if value.Kind == 'o' && !named {
			key = value.Keys[i]
		}
		switch key {
		case "x-mcp-header":
			n++
		case "const", "enum", "default", "examples":
		default:
			n += annotations(member, text.MapsSchemas(key))
		}
	}
	return n
}

func appendBindings(out []binding, schema *rawjson.Node, path []string) ([]binding, error) {
	properties := schema.Get("properties")
	if !properties.Is('o') {
		return out, nil
	}
	for i, property := range properties.Values {
		here := append(path[:len(path):len(path)], properties.Keys[i])
		if header := property.Get("x-mcp-header"); header != nil {
			b, err := bind(out, here, property, header)
			if err != nil {
				return nil, err
			}
			out = append(out, b)
		}
		var err error
		if out, err = appendBindings(out, property, here); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func bind(taken []binding, path []string, property, header *rawjson.Node) (binding, error) {
	switch kind, _ := property.Get("type").Text(); kind {
	case "string", "integer", "boolean":
	default:
		return binding{}, bindingError("x-mcp-header is on a parameter that is not a string, an integer or a boolean")
	}
	name, ok := header.Text()
	if !ok || len(name) > maxBoundName || !text.IsToken(name) {
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

// paramHeaders are the Mcp-Param-* headers of a call, names and values in turn.
// Absent and null arguments have none.
func paramHeaders(bound []binding, arguments []byte) []string {
	var out []string
	for _, b := range bound {
		value := arguments
		for _, key := range b.path {
			value = rawjson.Get(value, key)
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
