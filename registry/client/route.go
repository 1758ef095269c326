package client

import (
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Deliver is the platform's callback. Responses and progress go by request id, because
// they may arrive on any stream of the session. All other events concern the exchange
// itself. A message that breaks Deliver ends the exchange.
func (c *Client) Deliver(exchange uint32, e *Event) (handled bool) {
	mail := c.waits(nil, int64(exchange))
	if mail == nil {
		c.free(e)
		return true
	}
	if e.Last {
		c.mu.Lock()
		mail.underway = false
		c.release(mail)
		c.mu.Unlock()
		mail.leave()
	}
	s := mail.s
	if s == nil {
		return mail.put(e)
	}
	defer func() {
		if recover() != nil {
			mail.cancel()
			mail.put(&Event{Kind: End, Last: true, Why: NotMCP, Text: "a message could not be handled"})
		}
	}()
	switch e.Kind {
	case Tools, Output, Progress:
		return s.toCall(e.RPC, e)
	case Changed:
		s.changed()
	case Dropped:
		s.d.notify(registry.Notice{Dropped: e.Bytes})
	case Message:
		s.message(e, mail)
	default:
		return mail.put(e)
	}
	return false
}

// waits returns the mailbox of that id, or nil. One of another session than s is none: a
// server names the ids of its own requests only.
func (c *Client) waits(s *Session, id int64) *mailbox {
	c.mu.Lock()
	mail := c.waiting[id]
	c.mu.Unlock()
	if mail == nil || s != nil && mail.s != s {
		return nil
	}
	return mail
}

// waitingOf returns the mailboxes of a session, without the mailbox except.
func (c *Client) waitingOf(s *Session, except *mailbox) (all []*mailbox) {
	c.mu.Lock()
	for _, mail := range c.waiting {
		if mail.s == s && mail != except {
			all = append(all, mail)
		}
	}
	c.mu.Unlock()
	return all
}

func (s *Session) toCall(id int64, e *Event) (handled bool) {
	mail := s.d.c.waits(s, id)
	if mail == nil {
		s.d.c.free(e)
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

// message sorts a JSON-RPC message that the platform did not take apart. mail is that of
// the exchange that brought it.
func (s *Session) message(e *Event, mail *mailbox) {
	text := []byte(e.Text)
	method, isCall := rawjson.String(rawjson.Get(text, "method"))
	if !isCall {
		if id, ok := rawjson.Int(rawjson.Get(text, "id")); ok {
			s.toCall(id, e)
		}
		return
	}
	id, params := rawjson.Get(text, "id"), rawjson.Get(text, "params")
	switch {
	case id == nil:
		s.notified(method, params, mail)
	case s.modern:
		// 2026-07-28 has no requests from the server, and no way to answer one.
	case method == "ping":
		s.post(reply(id, []byte("{}")))
	case method == "elicitation/create" && (s.d.c.opts.Elicit != nil || s.d.c.opts.ElicitURL != nil):
		s.ask(id, params, mail, nil, s.question)
	case method == "sampling/createMessage" && s.d.c.opts.Sample != nil:
		s.ask(id, params, mail, errManySamples, s.sample)
	case method == "roots/list" && s.d.c.rootsNow() != nil:
		s.post(reply(id, object(rawjson.AppendMember(nil, "roots", s.d.c.rootsNow()))))
	default:
		s.post(replyError(id, registry.CodeMethodNotFound, "method not found"))
	}
}

// notified handles a notification.
func (s *Session) notified(method string, params []byte, mail *mailbox) {
	var n registry.Notice
	switch method {
	case "notifications/cancelled":
		reason := s.d.word(params, "reason", maxServerWord)
		if !s.unask(string(rawjson.Get(params, "requestId"))) || reason == "" {
			return
		}
		n.Log = &registry.LogEntry{Level: "info", Text: "The server withdrew its question: " + reason}
	case "notifications/message":
		n.Log = s.logged(params)
	case "notifications/prompts/list_changed":
		n.PromptsChanged = true
	case "notifications/resources/list_changed":
		n.ResourcesChanged = true
	case "notifications/resources/updated":
		n.Updated = rawjson.Text(params, "uri")
	case "notifications/elicitation/complete":
		s.visited(rawjson.Text(params, "elicitationId"))
		return
	case "notifications/tasks", "notifications/tasks/status":
		s.wake(rawjson.Text(params, "taskId"))
		return
	case "notifications/subscriptions/acknowledged":
		s.acknowledged(mail.follow, rawjson.Get(params, "notifications"))
		return
	default:
		return
	}
	s.d.notify(n)
}

// logged reads a message of the server's log. Data that is no text is its JSON text.
func (s *Session) logged(params []byte) *registry.LogEntry {
	data := rawjson.Get(params, "data")
	words, ok := rawjson.String(data)
	if !ok {
		words = string(data)
	}
	return &registry.LogEntry{
		Level: rawjson.Text(params, "level"), Logger: s.d.word(params, "logger", maxServerWord), Text: s.d.shown(words),
	}
}
