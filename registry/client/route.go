package client

import (
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A route delivers the events of one exchange. Responses and progress go by request id,
// because they may arrive on any stream of the session. All other events concern the
// exchange itself.
type route struct {
	s        *Session
	mail     *mailbox
	exchange uint32
}

// Deliver runs on the platform's callback; a message that breaks it ends the exchange.
func (r *route) Deliver(e *Event) (handled bool) {
	defer func() {
		if recover() != nil {
			r.s.abort(r.exchange)
			r.mail.put(&Event{Kind: End, Last: true, Why: NotMCP, Text: "a message could not be handled"})
		}
	}()
	if e.Last {
		r.s.mu.Lock()
		delete(r.s.live, r.exchange)
		r.s.mu.Unlock()
	}
	switch e.Kind {
	case Tools, Output, Progress:
		return r.s.toCall(e.RPC, e)
	case Changed:
		r.s.changed()
	case Dropped:
		r.s.d.notify(registry.Notice{Dropped: e.Bytes})
	case Message:
		r.s.message(e, r.mail)
	default:
		return r.mail.put(e)
	}
	return false
}

func (s *Session) toCall(id int64, e *Event) (handled bool) {
	s.mu.Lock()
	mail := s.calls[id]
	s.mu.Unlock()
	if mail == nil {
		freeEvent(s.d.c.platform, e)
		return true
	}
	return mail.put(e)
}

func (s *Session) changed() {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if !closed {
		s.d.notify(registry.Notice{ToolsChanged: true})
	}
}

// message sorts a JSON-RPC message that the platform did not take apart. mail
// is whose exchange brought it.
func (s *Session) message(e *Event, mail *mailbox) {
	text := []byte(e.Text)
	method, isCall := rawjson.String(get(text, "method"))
	if !isCall {
		if id, ok := answers(text); ok {
			s.toCall(id, e)
		}
		return
	}
	id := get(text, "id")
	switch {
	case id == nil:
		if method == "notifications/cancelled" {
			s.unask(string(get(text, "params", "requestId")))
		}
	case s.modern:
		// 2026-07-28 has no requests from the server, and no way to answer one.
	case method == "ping":
		s.post(reply(id, []byte("{}")))
	case method == "elicitation/create" && s.d.c.opts.Elicit != nil:
		s.ask(id, get(text, "params"), mail)
	default:
		s.post(replyError(id, codeMethodNotFound, "method not found"))
	}
}
