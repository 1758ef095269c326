package nethttp

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// maxBatch bounds the messages of one batch (MCP 2025-03-26).
const maxBatch = 1000

// maxMessage bounds the messages that are passed to the client as text, in bytes.
const maxMessage = 1 << 20

// maxErrorText bounds the message of a JSON-RPC error, in bytes. The client removes
// secrets from it before it cuts the message further.
const maxErrorText = 64 << 10

// messages emits the message or the batch of messages of one body or event. The response
// that ends the exchange comes last. The error is errNotJSON or nil.
func (x *exchange) messages(text []byte) error {
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
	if rawjson.Kind(text) != 'a' {
		m, err := splitMessage(text)
		if err != nil {
			return errNotJSON
		}
		x.message(m)
		return nil
	}
	var answer message // the first
	answered, n := false, 0
	err := rawjson.Elements(text, func(element []byte) error {
		m, err := splitMessage(element)
		switch {
		case err != nil:
		case m.awaited(x.Awaits):
			if !answered {
				answer, answered = m, true
			}
		case n < maxBatch:
			x.message(m)
		}
		n++
		return nil
	})
	if answered {
		x.message(answer)
	}
	if err != nil {
		return errNotJSON
	}
	return nil
}

// A message is a JSON-RPC message, split into its members. A missing member is nil.
type message struct {
	text                              []byte
	id, method, params, result, fault []byte
}

// splitMessage splits a message. A value that is not an object has no members. The error means
// that the text is not valid JSON.
func splitMessage(text []byte) (m message, err error) {
	m.text = text
	if rawjson.Kind(text) != 'o' {
		return m, rawjson.Valid(text, 0)
	}
	v, err := rawjson.Pick(text, "id", "method", "params", "result", "error")
	m.id, m.method, m.params, m.result, m.fault = v[0], v[1], v[2], v[3], v[4]
	return m, err
}

// awaited reports whether the message is the response to the request id.
func (m *message) awaited(id int64) bool {
	n, ok := rawjson.Int(m.id)
	return ok && id != 0 && n == id && m.method == nil
}

func (x *exchange) message(m message) {
	if method, ok := rawjson.String(m.method); ok {
		x.unasked(m, method)
		return
	}
	if m.result != nil || m.fault != nil {
		x.response(m)
	}
}

// unasked emits a request or notification of the server, within the rate limits.
func (x *exchange) unasked(m message, method string) {
	asks := m.id != nil
	if !x.p.ratesOf(x.Group).admit(asks) {
		return
	}
	switch kind := rawjson.Kind(m.id); {
	case asks && (kind == 'n' || kind == 's'):
		x.emitText(m, false)
	case asks:
	case method == "notifications/progress":
		x.progress(m.params)
	case method == "notifications/tools/list_changed":
		x.emit(&client.Event{Kind: client.Changed})
	case slices.Contains(wire.Heeded, method):
		x.emitText(m, false)
	}
}

// maxProgressText bounds the message of a progress notification, in bytes.
const maxProgressText = 1000

func (x *exchange) progress(params []byte) {
	v, _ := rawjson.Pick(params, "progressToken", "progress", "total", "message")
	token, hasToken := rawjson.Int(v[0])
	progress, hasProgress := rawjson.Float(v[1])
	total, hasTotal := rawjson.Float(v[2])
	if !hasTotal { // or it is more than a float64 holds
		total = 0
	}
	words, _ := rawjson.String(v[3])
	if hasToken && hasProgress {
		x.emit(&client.Event{
			Kind: client.Progress, RPC: token, Progress: progress, Total: total,
			Text: words[:min(len(words), maxProgressText)],
		})
	}
}

// response emits the response to a request.
func (x *exchange) response(m message) {
	if (m.id == nil || rawjson.Kind(m.id) == '0') && x.Awaits != 0 && rawjson.Kind(m.fault) == 'o' {
		// A server that could not read the request does not know its id.
		m.id, m.text = strconv.AppendInt(nil, x.Awaits, 10), nil
	}
	id, ok := rawjson.Int(m.id)
	if !ok || id == 0 { // which no request has
		return
	}
	last := id == x.Awaits
	if rawjson.Kind(m.result) == 'o' && isComplete(m.result) {
		switch client.OpOf(id) {
		case client.OpList:
			if e := x.tools(m.result); e != nil {
				e.Last, e.RPC, e.Bytes = last, id, len(m.result)
				x.emit(e)
				return
			}
			m.result, m.text = []byte("{}"), nil
		case client.OpTask:
			status := rawjson.Get(m.result, "status")
			result := rawjson.Get(m.result, "result")
			if string(status) == `"completed"` && rawjson.Kind(result) == 'o' {
				m.result = result
			} else if rawjson.Get(m.result, "content") == nil { // which a call has that became no task
				break
			}
			fallthrough
		case client.OpCall:
			if rawjson.Valid(m.result, x.p.limits.Depth) != nil {
				m.result, m.text = nil, nil // the client then finds no result
				break
			}
			isError := rawjson.Get(m.result, "isError")
			x.emit(&client.Event{
				Kind: client.Output, Last: last, RPC: id, Bytes: len(m.result), IsError: string(isError) == "true",
				Table: x.p.add(&table{shown: [][]byte{bytes.Clone(m.result)}}),
			})
			return
		}
	}
	x.emitText(m, last)
}

// isComplete reports whether a result is a final one (resultType, 2026-07-28).
func isComplete(result []byte) bool {
	kind := rawjson.Get(result, "resultType")
	return kind == nil || string(kind) == "null" || string(kind) == `"complete"`
}

// emitText passes a message to the client as text, within the limits of depth and length.
// A larger response keeps only its id, and its error the code and the start of the
// message.
func (x *exchange) emitText(m message, last bool) {
	text := m.text
	if text == nil {
		text = m.response()
	}
	if len(text) <= maxMessage && rawjson.Valid(text, x.p.limits.Depth) == nil {
		x.emit(&client.Event{Kind: client.Message, Last: last, Text: string(text)})
		return
	}
	if !last {
		return
	}
	cut := message{id: m.id}
	if rawjson.Kind(m.fault) == 'o' {
		text := rawjson.Text(m.fault, "message")
		n, _ := rawjson.Int(rawjson.Get(m.fault, "code"))
		cut.fault = strconv.AppendInt([]byte(`{"code":`), n, 10)
		cut.fault = append(cut.fault, `,"message":`...)
		cut.fault = append(rawjson.AppendString(cut.fault, text[:min(len(text), maxErrorText)]), '}')
	}
	x.emit(&client.Event{Kind: client.Message, Last: last, Text: string(cut.response())})
}

// response returns the text of a response with the id, result and error of m.
func (m *message) response() []byte {
	b := append([]byte(`{"id":`), m.id...)
	if m.result != nil {
		b = append(append(b, `,"result":`...), m.result...)
	}
	if m.fault != nil {
		b = append(append(b, `,"error":`...), m.fault...)
	}
	return append(b, '}')
}
