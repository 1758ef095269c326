package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
)

// A span is a part of a message's text. The empty span stands for a part that is missing.
type span struct{ from, to int }

func (s span) in(text []byte) []byte { return text[s.from:s.to] }
func (s span) there() bool           { return s.to > s.from }

// A message is a JSON-RPC message as it came, with the places of the parts that the
// gateway reads.
type message struct {
	text         []byte
	id           span
	method       string
	params       span
	result, fail span // a response has one of them
	token        span // progress token: of a request in _meta, of a progress notification in params
	cancels      span // the request that notifications/cancelled names
	subscription span // _meta["io.modelcontextprotocol/subscriptionId"]
}

const subscriptionKey = "io.modelcontextprotocol/subscriptionId"

var errNotRPC = errors.New("not a JSON-RPC message")

func (m *message) isResponse() bool { return m.result.there() || m.fail.there() }
func (m *message) isRequest() bool  { return m.method != "" && m.id.there() }

// parse reads one message. It refuses members of the envelope, and names of requests,
// that are there twice, because two readers could take different ones.
func parse(text []byte) (*message, error) {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' || !json.Valid(text) {
		return nil, errNotRPC
	}
	m := &message{text: text}
	var method, version span
	parts := map[string]*span{
		"jsonrpc": &version, "id": &m.id, "method": &method, "params": &m.params, "result": &m.result, "error": &m.fail,
	}
	twice := false
	members(text, 0, func(key string, value span) {
		if part := parts[key]; part != nil {
			twice = twice || part.there()
			*part = value
		}
	})
	if string(m.id.in(text)) == "null" {
		m.id = span{}
	}
	if twice || string(version.in(text)) != `"2.0"` || method.there() == m.isResponse() ||
		m.isResponse() && !m.id.there() || m.id.there() && !isID(m.id.in(text)) {
		return nil, errNotRPC
	}
	if method.there() && (json.Unmarshal(method.in(text), &m.method) != nil || m.method == "") {
		return nil, errNotRPC
	}
	if !m.findIDs() {
		return nil, errNotRPC
	}
	return m, nil
}

func isID(value []byte) bool {
	return value[0] == '"' || value[0] == '-' || value[0] >= '0' && value[0] <= '9'
}

// findIDs finds the values that name requests. It reports false if one of them is there twice.
func (m *message) findIDs() bool {
	in := m.params
	if m.isResponse() {
		in = m.result
	}
	var meta span
	once := true
	take := func(part *span, value span) {
		once = once && !part.there()
		*part = value
	}
	m.object(in, func(key string, value span) {
		switch {
		case key == "_meta":
			take(&meta, value)
		case key == "progressToken" && m.method == "notifications/progress":
			take(&m.token, value)
		case key == "requestId" && m.method == "notifications/cancelled":
			take(&m.cancels, value)
		}
	})
	m.object(meta, func(key string, value span) {
		switch {
		case key == "progressToken" && m.isRequest():
			take(&m.token, value)
		case key == subscriptionKey:
			take(&m.subscription, value)
		}
	})
	return once
}

// object calls f for the members of a part, if that is an object.
func (m *message) object(part span, f func(key string, value span)) {
	if part.there() && m.text[part.from] == '{' {
		members(m.text, part.from, f)
	}
}

// param returns the text of a parameter, or "".
func (m *message) param(name string) (text string) {
	m.object(m.params, func(key string, value span) {
		if key == name {
			_ = json.Unmarshal(value.in(m.text), &text)
		}
	})
	return text
}

// An edit replaces a part of a message.
type edit struct {
	part span
	with []byte
}

// edited returns the message's text on one line, with some parts replaced.
func (m *message) edited(edits ...edit) []byte {
	edits = slices.DeleteFunc(edits, func(e edit) bool { return !e.part.there() })
	slices.SortFunc(edits, func(a, b edit) int { return a.part.from - b.part.from })
	out, at := make([]byte, 0, len(m.text)+32), 0
	for _, e := range edits {
		out = append(append(out, m.text[at:e.part.from]...), e.with...)
		at = e.part.to
	}
	out = append(out, m.text[at:]...)
	if !bytes.ContainsAny(out, "\n\r") {
		return out
	}
	var line bytes.Buffer
	_ = json.Compact(&line, out) // it is valid
	return line.Bytes()
}

func number(n int64) []byte { return strconv.AppendInt(nil, n, 10) }

// members calls f for each member of the object that begins at text[i]. The text is valid
// JSON.
func members(text []byte, i int, f func(key string, value span)) {
	for i = blank(text, i+1); text[i] != '}'; i = blank(text, i) {
		if text[i] == ',' {
			i = blank(text, i+1)
		}
		end := skip(text, i)
		var key string
		if raw := text[i+1 : end-1]; bytes.IndexByte(raw, '\\') < 0 {
			key = string(raw)
		} else {
			_ = json.Unmarshal(text[i:end], &key)
		}
		from := blank(text, blank(text, end)+1)
		i = skip(text, from)
		f(key, span{from, i})
	}
}

// blank returns the index of the first byte from i on that is no white space.
func blank(text []byte, i int) int {
	for text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t' {
		i++
	}
	return i
}

// skip returns the index behind the value that begins at text[i].
func skip(text []byte, i int) int {
	for depth := 0; ; {
		switch text[i] {
		case '"':
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			i++
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\r', '\t':
			i++
			continue
		default:
			for i < len(text) && bytes.IndexByte([]byte(",]} \n\r\t"), text[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}

// A fault is the error of a JSON-RPC response that the gateway makes itself.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (f *fault) Error() string { return f.Message }

// The codes of the gateway's own errors (JSON-RPC 2.0, and MCP 2026-07-28).
const (
	codeInvalidRequest     = -32600
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeHeaderMismatch     = -32020
	codeMissingCapability  = -32021
	codeUnsupportedVersion = -32022
)

func internalFault(message string) *fault { return &fault{Code: codeInternal, Message: message} }

// failure returns the response with an error; id is raw JSON, or nil.
func failure(id []byte, f *fault) []byte {
	if len(id) == 0 {
		id = []byte("null")
	}
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "error": f}) // all have JSON texts
	return text
}

// success returns the response with a result; both are raw JSON.
func success(id, result []byte) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(out, `,"result":`...), result...), '}')
}
