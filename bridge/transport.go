package bridge

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/rawmsg"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// A linkTransport is the transport of the go-sdk client. It takes out the messages
// that belong to the link's own requests, as raw JSON.
type linkTransport struct {
	*socket.Conn
	link *link
}

// Connect implements [mcp.Transport].
func (t *linkTransport) Connect(context.Context) (mcp.Connection, error) { return t, nil }

// Read implements [mcp.Connection].
func (t *linkTransport) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := t.Conn.Read(ctx)
		if err != nil {
			t.link.end()
			return nil, err
		}
		if !t.link.handle(m) {
			return m, nil
		}
	}
}

// handle handles a message of the link's own, and returns false for the others. It
// never waits for a client.
func (l *link) handle(m jsonrpc.Message) bool {
	switch m := m.(type) {
	case *jsonrpc.Response:
		id, _ := m.ID.Raw().(string)
		if id == "" {
			return false // one of go-sdk's
		}
		if f := l.pendingRequest(id); f != nil {
			offer(f.done, m) // unless it is answered twice
		}
		return true
	case *jsonrpc.Request:
		return l.handleRequest(m)
	}
	return false
}

// handleRequest handles a request or notification of the extension. It returns false
// if go-sdk is to handle it.
func (l *link) handleRequest(m *jsonrpc.Request) bool {
	switch m.Method {
	case "notifications/progress":
		var p progress
		if json.Unmarshal(m.Params, &p) == nil {
			if f := l.pendingRequest(p.Token); f != nil {
				offer(f.events, func(ctx context.Context, to caller) { to.progress(ctx, p) })
			}
		}
	case "notifications/message":
		if f := l.pendingRequest(callTag(m.Params)); f != nil {
			offer(f.events, func(ctx context.Context, to caller) { to.log(ctx, m.Params) })
		} else if p := logParams(m.Params); p != nil {
			offer(l.events, event{p, nil}) // it belongs to no call
		}
	case "elicitation/create", "sampling/createMessage":
		l.handleQuestion(m)
	case "notifications/cancelled":
		var p struct {
			RequestID any `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			if id, err := jsonrpc.MakeID(p.RequestID); err == nil {
				l.cancelQuestion(id)
			}
		}
	case "notifications/tools/list_changed":
		l.refresh(context.Background())
	case "notifications/portolan/event":
		l.mu.Lock()
		denied := l.denied
		l.mu.Unlock()
		offer(l.events, event{&mcp.LoggingMessageParams{Logger: eventLogger, Level: "info", Data: m.Params}, denied})
	case "notifications/resources/list_changed", "notifications/prompts/list_changed":
		l.bridge.offersChanged(l)
	case "notifications/resources/updated":
		var p struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			l.queueUpdate(p.URI)
		}
	case "notifications/portolan/trouble":
		l.spawn(func() {
			if err := l.bridge.troubles.keep(m.Params); err != nil {
				l.bridge.opts.Logger.Warn("a bundle about a chat was not written", "error", err)
			}
		})
	case "notifications/portolan/origins":
		var p struct {
			Origins []string `json:"origins"`
			Label   string   `json:"label"`
			Denied  []string `json:"denied"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			if l.rename(handshake.Label(p.Label)) { // in the order of the messages
				l.spawn(func() { l.bridge.renamed(l) })
			}
			origins := slices.DeleteFunc(p.Origins, func(o string) bool { return !loopback.PageOrigin(o) })
			l.mu.Lock()
			l.denied = p.Denied
			l.mu.Unlock()
			l.bridge.pagesChanged(l.setApproved(origins))
		}
	default:
		return false
	}
	return true
}

// logParams reads a log message. It returns nil if it cannot be read.
func logParams(raw json.RawMessage) *mcp.LoggingMessageParams {
	var p mcp.LoggingMessageParams
	var data struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &p) != nil || json.Unmarshal(raw, &data) != nil {
		return nil
	}
	p.Data = data.Data // with its digits
	delete(p.Meta, rawmsg.MetaCall)
	return &p
}

// callTag returns the call that a message of the extension belongs to.
func callTag(params json.RawMessage) string {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var call string
	if json.Unmarshal(params, &p) == nil {
		_ = json.Unmarshal(p.Meta[rawmsg.MetaCall], &call)
	}
	return call
}

// handleQuestion queues a question for the client of the call that its tag names. A
// question without a tag is refused: it could belong to any of several clients.
func (l *link) handleQuestion(m *jsonrpc.Request) {
	f := l.pendingRequest(callTag(m.Params))
	if f == nil {
		l.spawn(func() {
			l.answer(m.ID, nil, &jsonrpc.Error{
				Code: jsonrpc.CodeInvalidParams, Message: `_meta["` + rawmsg.MetaCall + `"] names no call under way`,
			})
		})
		return
	}
	question, withdraw := context.WithCancel(context.Background())
	l.mu.Lock()
	l.questions[m.ID] = withdraw
	full := len(l.questions) > maxQuestions*l.turns.max
	l.mu.Unlock()
	ask := func(call context.Context, to caller) { l.forwardQuestion(call, question, m, to) }
	if !full && offer(f.events, ask) {
		return
	}
	l.cancelQuestion(m.ID)
	l.spawn(func() {
		l.answer(m.ID, nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many questions are open"})
	})
}

// forwardQuestion asks the client, while the call's other events go on.
func (l *link) forwardQuestion(call, question context.Context, m *jsonrpc.Request, to caller) {
	l.spawn(func() {
		defer l.cancelQuestion(m.ID)
		ctx, cancel := context.WithCancel(call)
		defer cancel()
		defer context.AfterFunc(question, cancel)()
		result, err := to.ask(ctx, m.Method, m.Params)
		if question.Err() == nil || call.Err() != nil { // else the extension cancelled it and expects no response
			l.answer(m.ID, result, err)
		}
	})
}

// cancelQuestion cancels a question that is open, if there is one with this id.
func (l *link) cancelQuestion(id jsonrpc.ID) {
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

// noCaller is the caller of the bridge's own requests, which have no desktop client.
type noCaller struct{}

func (noCaller) progress(context.Context, progress)   {}
func (noCaller) log(context.Context, json.RawMessage) {}
func (noCaller) ask(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no client is there to answer"}
}

// name returns the profile's name. The person may change it at any time.
func (l *link) name() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Label
}

// rename reports whether the name is another one.
func (l *link) rename(label string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := label != "" && label != l.Label
	if changed {
		l.Label = label
	}
	return changed
}

// setApproved sets the origins of the pages that the person approved in the extension. They count while the extension
// is connected. It returns those before and now. Before the first list of a connection they are nil.
func (l *link) setApproved(origins []string) (before, now []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, l.approved = l.approved, origins[:min(len(origins), 100)]
	return before, l.approved
}

func (l *link) approvedPages() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.approved
}
