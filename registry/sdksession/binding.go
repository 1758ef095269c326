package sdksession

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A binding says that a call repeats one argument in a header, as an
// x-mcp-header annotation asks (MCP 2026-07-28, basic/transports, custom headers
// from tool parameters). The SDK makes these headers only for tools that it listed
// itself.
type binding struct {
	path   []string // names of nested properties
	header string   // without its prefix
}

const (
	paramPrefix   = "Mcp-Param-"
	maxBindings   = 64
	maxSafeNumber = 1<<53 - 1
)

// readBindings collects the annotations of a definition, or says why they are
// not valid.
func readBindings(def []byte) (bindings []binding, reason string) {
	if !bytes.Contains(def, []byte("x-mcp-header")) {
		return nil, "" // walking every schema would double the time that a list takes
	}
	schema, _ := rawjson.Get(def, "inputSchema")
	if err := collectBindings(schema, nil, &bindings); err != nil {
		return nil, err.Error()
	}
	return bindings, ""
}

// collectBindings recurses with the schema's properties, whose nesting
// Limits.Depth has bounded.
func collectBindings(schema []byte, path []string, out *[]binding) error {
	properties, ok := rawjson.Get(schema, "properties")
	if !ok || rawjson.Kind(properties) != 'o' {
		return nil
	}
	return rawjson.Members(properties, func(name string, property []byte) error {
		if rawjson.Kind(property) != 'o' {
			return nil
		}
		here := append(path[:len(path):len(path)], name)
		if annotation, ok := rawjson.Get(property, "x-mcp-header"); ok {
			header, err := checkAnnotation(annotation, property, *out)
			if err != nil {
				return errors.New("x-mcp-header of " + strconv.Quote(strings.Join(here, ".")) + ": " + err.Error())
			}
			*out = append(*out, binding{here, header})
		}
		return collectBindings(property, here, out)
	})
}

func checkAnnotation(annotation, property []byte, sofar []binding) (string, error) {
	header, ok := rawjson.String(annotation)
	if !ok || header == "" {
		return "", errors.New("it is not a name")
	}
	for i := 0; i < len(header); i++ {
		if !isTokenByte(header[i]) {
			return "", errors.New("the name holds a character that HTTP does not allow")
		}
	}
	rawType, _ := rawjson.Get(property, "type")
	switch kind, _ := rawjson.String(rawType); kind {
	case "string", "integer", "boolean":
	default:
		return "", errors.New("the parameter is not a string, integer or boolean")
	}
	if len(sofar) >= maxBindings {
		return "", errors.New("there are too many")
	}
	for _, b := range sofar {
		if strings.EqualFold(b.header, header) {
			return "", errors.New("another parameter has the same name")
		}
	}
	return header, nil
}

// paramHeaders returns the headers that repeat arguments; absent and null ones,
// and values of other types, have none.
func paramHeaders(bindings []binding, arguments []byte) http.Header {
	headers := make(http.Header, len(bindings))
	for _, b := range bindings {
		value, ok := arguments, true
		for _, name := range b.path {
			if value, ok = rawjson.Get(value, name); !ok {
				break
			}
		}
		if text, isText := headerText(value); ok && isText {
			headers.Set(paramPrefix+b.header, encodeHeader(text))
		}
	}
	return headers
}

// headerText is a primitive argument as text; numbers are the integers that every
// JSON parser reads exactly.
func headerText(value []byte) (string, bool) {
	switch rawjson.Kind(value) {
	case 's':
		return rawjson.String(value)
	case 'b':
		b, ok := rawjson.Bool(value)
		return strconv.FormatBool(b), ok
	case 'n':
		if f, ok := rawjson.Float(value); ok && f == float64(int64(f)) && f <= maxSafeNumber && f >= -maxSafeNumber {
			return strconv.FormatInt(int64(f), 10), true
		}
	}
	return "", false
}

// isTokenByte reports whether b is a tchar of RFC 9110, section 5.6.2.
func isTokenByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0
}
