package bridge

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/socket"
	"github.com/portolan-mcp/portolan/bridge/verbatim"
)

// A tap is the connection that the go-sdk client sees: what belongs to requests of
// the link, and so to desktop clients, is taken out of it as raw JSON.
type tap struct {
	*socket.Conn
	link *link
}

// Connect implements [mcp.Transport].
func (t *tap) Connect(context.Context) (mcp.Connection, error) { return t, nil }

// Read implements [mcp.Connection].
func (t *tap) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := t.Conn.Read(ctx)
		if err != nil {
			t.link.end()
			return nil, err
		}
		if !t.link.take(m) {
			return m, nil
		}
	}
}

// take handles a message if it is one for the link. It never waits for a client.
func (l *link) take(m jsonrpc.Message) bool {
	switch m := m.(type) {
	case *jsonrpc.Response:
		id, _ := m.ID.Raw().(string)
		if id == "" {
			return false // one of go-sdk's
		}
		if f := l.flight(id); f != nil {
			select {
			case f.done <- m:
			default: // answered twice
			}
		}
		return true
	case *jsonrpc.Request:
		return l.told(m)
	}
	return false
}

func (l *link) told(m *jsonrpc.Request) bool {
	switch m.Method {
	case "notifications/progress":
		var p progress
		if json.Unmarshal(m.Params, &p) == nil {
			if f := l.flight(p.Token); f != nil {
				f.event(func(ctx context.Context, to caller) { to.progress(ctx, p) })
			}
		}
	case "notifications/message":
		if f := l.flight(tag(m.Params)); f != nil {
			f.event(func(ctx context.Context, to caller) { to.log(ctx, m.Params) })
		}
	case "elicitation/create":
		l.asked(m)
	case "notifications/cancelled":
		var p struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			if id, err := jsonrpc.MakeID(p.RequestID); err == nil {
				l.withdraw(id)
			}
		}
	case "notifications/tools/list_changed":
		l.refresh(context.Background())
	case "notifications/portolan/event":
		l.happened(m.Params)
	case "notifications/portolan/origins":
		var p struct {
			Origins []string `json:"origins"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			l.approve(slices.DeleteFunc(p.Origins, func(o string) bool { return !pageOrigin(o) }))
		}
	default:
		return false
	}
	return true
}

// tag returns the call that a message of the extension belongs to.
func tag(params json.RawMessage) string {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var call string
	if json.Unmarshal(params, &p) == nil {
		_ = json.Unmarshal(p.Meta[verbatim.MetaCall], &call)
	}
	return call
}

// asked passes a question on to the client of the call that it is tagged with, and
// to nobody if it has none: with two clients under way it could be either's.
func (l *link) asked(m *jsonrpc.Request) {
	f := l.flight(tag(m.Params))
	if f == nil {
		l.spawn(func() {
			l.answer(m.ID, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "_meta[\"" + verbatim.MetaCall + "\"] names no call under way"})
		})
		return
	}
	question, withdraw := context.WithCancel(context.Background())
	l.mu.Lock()
	l.questions[m.ID] = withdraw
	full := len(l.questions) > maxQuestions*l.max
	l.mu.Unlock()
	if !full {
		select {
		case f.events <- func(call context.Context, to caller) { l.ask(call, question, m, to) }:
			return
		default:
		}
	}
	l.withdraw(m.ID)
	l.spawn(func() {
		l.answer(m.ID, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many questions are open"})
	})
}

// ask puts the question while the call's other events go on.
func (l *link) ask(call, question context.Context, m *jsonrpc.Request, to caller) {
	l.spawn(func() {
		defer l.withdraw(m.ID)
		ctx, cancel := context.WithCancel(call)
		defer cancel()
		defer context.AfterFunc(question, cancel)()
		result, err := to.elicit(ctx, m.Params)
		if question.Err() == nil || call.Err() != nil { // else the extension withdrew it and expects nothing
			l.answer(m.ID, result, err)
		}
	})
}

func (l *link) withdraw(id jsonrpc.ID) {
	l.mu.Lock()
	cancel := l.questions[id]
	delete(l.questions, id)
	l.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (l *link) answer(id jsonrpc.ID, result json.RawMessage, err error) {
	if !id.IsValid() {
		return
	}
	_ = l.conn.Write(context.Background(), &jsonrpc.Response{ID: id, Result: result, Error: err})
}

// nobody is the caller of the bridge's own requests.
type nobody struct{}

func (nobody) progress(context.Context, progress)   {}
func (nobody) log(context.Context, json.RawMessage) {}
func (nobody) elicit(context.Context, json.RawMessage) (json.RawMessage, error) {
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "nobody is there to be asked"}
}

// approve keeps the pages that the person approved in the extension, for as long
// as it is connected.
func (l *link) approve(origins []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.approved = origins[:min(len(origins), 100)]
}

func (l *link) pages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.approved
}
