package gateway

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// A paramHeader is an argument of a tool that the header Mcp-Param-Name repeats
// (2026-07-28, x-mcp-header in the input schema).
type paramHeader struct {
	path []string
	name string
}

// The bounds of what is kept of a program's tools.
const (
	maxParamTools   = 1000
	maxParamHeaders = 50
	maxParamDepth   = 10
)

// learnTools keeps the annotations of the tools in an answer to tools/list. p.mu is held.
func (p *program) learnTools(m *message) {
	if len(p.params) == 0 && !bytes.Contains(m.text, []byte("x-mcp-header")) {
		return
	}
	var result struct {
		Tools []struct {
			Name        string
			InputSchema paramSchema
		}
	}
	if json.Unmarshal(m.result.in(m.text), &result) != nil {
		return
	}
	for _, tool := range result.Tools {
		found := tool.InputSchema.headers(nil, nil)
		delete(p.params, tool.Name)
		if len(found) > 0 && len(p.params) < maxParamTools {
			if p.params == nil {
				p.params = map[string][]paramHeader{}
			}
			p.params[tool.Name] = found
		}
	}
}

type paramSchema struct {
	Header     json.RawMessage        `json:"x-mcp-header"`
	Properties map[string]paramSchema `json:"properties"`
}

func (s paramSchema) headers(path []string, found []paramHeader) []paramHeader {
	for name, property := range s.Properties {
		if len(path) >= maxParamDepth || len(found) >= maxParamHeaders {
			break
		}
		at := append(path[:len(path):len(path)], name)
		var header string
		if json.Unmarshal(property.Header, &header) == nil && header != "" {
			found = append(found, paramHeader{at, header})
		}
		found = property.headers(at, found)
	}
	return found
}

// paramFault compares the headers Mcp-Param-… of a call with its arguments. It knows the
// annotations of tools that the program has listed to this client or another.
func (p *program) paramFault(h http.Header, m *message) *fault {
	if m.method != "tools/call" {
		return nil
	}
	p.mu.Lock()
	known := p.params[m.param("name")]
	p.mu.Unlock()
	if len(known) == 0 {
		return nil
	}
	var params struct {
		Arguments any `json:"arguments"`
	}
	decoder := json.NewDecoder(bytes.NewReader(m.params.in(m.text)))
	decoder.UseNumber()
	if decoder.Decode(&params) != nil {
		return nil // the program says what is wrong
	}
	for _, header := range known {
		name := "Mcp-Param-" + header.name
		value := params.Arguments
		for _, key := range header.path {
			object, _ := value.(map[string]any)
			value = object[key]
		}
		text, ok := decodedHeader(h.Get(name))
		if !ok || (value == nil) != (h.Get(name) == "") || value != nil && !repeats(text, value) {
			return &fault{Code: codeHeaderMismatch, Message: "the header " + name + " is missing, or is not what the arguments say"}
		}
	}
	return nil
}

// repeats reports whether a header's text stands for a string, a number or a boolean.
func repeats(text string, value any) bool {
	switch value := value.(type) {
	case string:
		return text == value
	case bool:
		return text == strconv.FormatBool(value)
	case json.Number:
		a, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		b, bad := value.Float64()
		return err == nil && bad == nil && !math.IsNaN(a) && a == b
	}
	return false
}
