package gateway

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// named are the methods whose header Mcp-Name repeats a parameter.
var named = map[string]string{"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

// headerFault compares the headers of a message with what they repeat (2026-07-28,
// standard headers): two readers must not take it for different ones.
func headerFault(h http.Header, m *message) *fault {
	mismatch := func(name string) *fault {
		return &fault{Code: codeHeaderMismatch, Message: "the header " + name + " is missing, or is not what the message says"}
	}
	if m.method == "" {
		return nil
	}
	if h.Get("Mcp-Method") != m.method {
		return mismatch("Mcp-Method")
	}
	if param := named[m.method]; param != "" {
		if name, ok := decodedHeader(h.Get("Mcp-Name")); !ok || name == "" || name != m.param(param) {
			return mismatch("Mcp-Name")
		}
	}
	if !m.isRequest() {
		return nil
	}
	var meta map[string]json.RawMessage
	m.object(m.params, func(key string, value span) {
		if key == "_meta" {
			_ = json.Unmarshal(value.in(m.text), &meta)
		}
	})
	var version string
	if json.Unmarshal(meta["io.modelcontextprotocol/protocolVersion"], &version) != nil || version == "" {
		return &fault{Code: codeInvalidParams, Message: "_meta lacks io.modelcontextprotocol/protocolVersion"}
	}
	if version != h.Get("Mcp-Protocol-Version") {
		return mismatch("Mcp-Protocol-Version")
	}
	return nil
}

// decodedHeader reads a header value, which may be base64.
func decodedHeader(value string) (string, bool) {
	text, ok := strings.CutPrefix(value, "=?base64?")
	if text, end := strings.CutSuffix(text, "?="); ok && end {
		raw, err := base64.StdEncoding.DecodeString(text)
		return string(raw), err == nil
	}
	return value, true
}
