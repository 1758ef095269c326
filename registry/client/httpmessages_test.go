//go:build !js

package client

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry/text"
)

// readEvents is a plain reading of the HTML standard, section 9.2.6.
func (r *httpExchange) readEvents(body io.Reader) {
	var data []string
	var event, lastID string
	id, retry, size, total := "", time.Duration(-1), 0, 0
	end := func(why Reason, text string) {
		r.emit(&Event{Kind: End, Last: true, Why: why, Text: text, LastID: lastID, Retry: retry})
	}
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, r.p.limits.EventBytes+16)
	lines.Split(splitLine)
	first := true
	for lines.Scan() {
		line := lines.Text()
		if first {
			line, first = strings.TrimPrefix(line, "\ufeff"), false
		}
		if line == "" {
			lastID, size = id, 0
			text := strings.Join(data, "\n")
			name := event
			data, event = nil, ""
			if text != "" {
				r.event(name, text)
			}
			if r.over {
				return
			}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data = append(data, value)
			size += len(value) + 1
		case "event":
			event = value
		case "id":
			id = value
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil && ms >= 0 {
				retry = time.Duration(ms) * time.Millisecond
			}
		}
		total += len(line) + 1
		if size > r.p.limits.EventBytes || r.flooded || r.x.Awaits != 0 && total > r.p.limits.ResponseBytes {
			end(TooLarge, "event")
			return
		}
	}
	switch err := lines.Err(); {
	case err == bufio.ErrTooLong:
		end(TooLarge, "event")
	case err != nil:
		end(Network, "the stream broke off")
	default:
		if text := strings.Join(data, "\n"); text != "" {
			r.event(event, text)
		}
		if r.nonsense && r.x.Awaits != 0 {
			end(NotMCP, "the stream has events that are not JSON")
			return
		}
		end(EOF, "")
	}
}

func splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0:
		return 0, nil, nil
	case data[i] == '\n':
		return i + 1, data[:i], nil
	case i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	case i+1 < len(data) || atEOF:
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

func (r *httpExchange) event(name, text string) {
	if name == "endpoint" {
		r.emit(&Event{Kind: Endpoint, Text: text})
		return
	}
	if name != "" && name != "message" {
		return
	}
	if !json.Valid([]byte(text)) {
		r.nonsense = true
		return
	}
	r.messages([]byte(text))
}

func (r *httpExchange) messages(text []byte) {
	var batch []json.RawMessage
	if json.Unmarshal(text, &batch) != nil {
		batch = []json.RawMessage{text}
	}
	for _, m := range batch {
		r.message(m)
	}
}

func (r *httpExchange) spend() bool {
	if now := time.Now(); now.Sub(r.second) >= time.Second {
		r.second, r.spent = now, 0
	}
	r.spent++
	r.flooded = r.x.Awaits == 0 && r.spent > 10*r.p.limits.EventsPerSecond
	return r.spent <= r.p.limits.EventsPerSecond
}

func (r *httpExchange) message(text json.RawMessage) {
	var m struct {
		ID     json.RawMessage
		Method *string
		Params struct {
			ProgressToken json.RawMessage
			Progress      float64
			Total         float64
			Message       string
		}
		Result map[string]json.RawMessage
		Error  json.RawMessage
	}
	_ = json.Unmarshal(text, &m) // members of another type stay empty
	switch {
	case m.Method != nil && !r.spend():
	case m.Method != nil && m.ID != nil:
		r.emit(&Event{Kind: Message, Text: string(text)})
	case m.Method != nil:
		switch *m.Method {
		case "notifications/progress":
			if token, err := strconv.ParseInt(string(m.Params.ProgressToken), 10, 64); err == nil {
				r.emit(&Event{Kind: Progress, RPC: token, Progress: m.Params.Progress, Total: m.Params.Total, Text: m.Params.Message})
			}
		case "notifications/tools/list_changed":
			r.emit(&Event{Kind: Changed})
		case "notifications/cancelled":
			r.emit(&Event{Kind: Message, Text: string(text)})
		}
	default:
		r.answer(text, m.ID, m.Result, m.Error)
	}
}

func (r *httpExchange) answer(text, rawID json.RawMessage, result map[string]json.RawMessage, rpcErr json.RawMessage) {
	id, err := strconv.ParseInt(string(rawID), 10, 64)
	if err != nil && (string(rawID) == "null" || rawID == nil) && rpcErr != nil && r.x.Awaits != 0 {
		id, err = r.x.Awaits, nil
		text = []byte(`{"id":` + strconv.FormatInt(id, 10) + `,"error":` + string(rpcErr) + `}`)
	}
	if err != nil {
		return
	}
	last := id == r.x.Awaits
	raw := resultText(text)
	if id&3 != opList && depth(text) > r.p.limits.Depth {
		text, result = []byte(`{"id":`+strconv.FormatInt(id, 10)+`}`), nil
	}
	if result != nil {
		switch id & 3 {
		case opList:
			if e, ok := r.tools(result); ok {
				e.Last, e.RPC, e.Bytes = last, id, len(text)
				r.emit(e)
				return
			}
		case opCall:
			if kind := string(result["resultType"]); kind == "" || kind == `"complete"` {
				r.emit(&Event{Kind: Output, Last: last, RPC: id, Table: r.p.add(raw), Bytes: len(text),
					IsError: string(result["isError"]) == "true"})
				return
			}
		}
	}
	r.emit(&Event{Kind: Message, Last: last, Text: string(text)})
}

func resultText(text json.RawMessage) json.RawMessage {
	var m struct{ Result json.RawMessage }
	_ = json.Unmarshal(text, &m)
	return m.Result
}

func (r *httpExchange) tools(result map[string]json.RawMessage) (*Event, bool) {
	var list []json.RawMessage
	if err := json.Unmarshal(result["tools"], &list); err != nil || list == nil {
		return nil, false
	}
	var kept, sent []json.RawMessage
	var names []string
	extra := map[string]any{}
	var drops [][2]string
	var headers []int
	for _, raw := range list {
		name, reason := r.judge(raw)
		if reason != "" {
			drops = append(drops, [2]string{name, reason})
			continue
		}
		if bytes.Contains(raw, []byte(`"x-mcp-header"`)) {
			headers = append(headers, len(kept))
		}
		cleaned, _, err := text.CleanDefinition(raw)
		if err != nil {
			drops = append(drops, [2]string{name, err.Error()})
			continue
		}
		kept, sent, names = append(kept, cleaned), append(sent, raw), append(names, name)
	}
	if drops != nil {
		extra["drops"] = drops
	}
	if headers != nil {
		extra["headers"] = headers
	}
	var next *string
	if json.Unmarshal(result["nextCursor"], &next) == nil && next != nil {
		extra["next"] = *next
	}
	if ttl := result["ttlMs"]; ttl != nil {
		extra["ttl"] = ttl
	}
	e := &Event{Kind: Tools, Table: r.p.addTools(kept, sent), Text: strings.Join(names, "\n")}
	if len(extra) > 0 {
		text, _ := json.Marshal(extra)
		e.Extra = string(text)
	}
	return e, true
}

func (r *httpExchange) judge(raw json.RawMessage) (name, reason string) {
	var tool map[string]json.RawMessage
	if json.Unmarshal(raw, &tool) != nil || tool == nil {
		return "", "the tool is not an object"
	}
	if json.Unmarshal(tool["name"], &name) != nil || name == "" {
		return "", "the tool has no name"
	}
	var schema map[string]json.RawMessage
	var description string
	switch {
	case len(name) > 256:
		return name[:256], "the name is longer than 256 bytes"
	case strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f }):
		return name, "the name holds a control character"
	case json.Unmarshal(tool["inputSchema"], &schema) != nil || schema == nil:
		return name, "inputSchema is not an object"
	case tool["description"] != nil && json.Unmarshal(tool["description"], &description) != nil:
		return name, "description is not a string"
	case depth(raw) > r.p.limits.Depth:
		return name, "the definition is nested too deep"
	case len(raw) > r.p.limits.DefinitionBytes:
		return name, "the definition is too large"
	}
	return name, ""
}
