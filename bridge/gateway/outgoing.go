package gateway

import (
	"encoding/json"
	"slices"
	"time"
)

// receive handles a line of the program's stdout.
func (p *program) receive(line []byte) {
	if line[0] == '[' { // a batch, which 2025-03-26 allows
		var all []json.RawMessage
		_ = json.Unmarshal(line, &all)
		for _, one := range all {
			p.message(one)
		}
		return
	}
	p.message(line)
}

func (p *program) message(line []byte) {
	m, err := parse(line)
	if err != nil {
		p.entry.note("stdout: " + printable(line[:min(len(line), longestRead)]))
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spoke, p.used = true, time.Now()
	switch {
	case m.isResponse():
		p.deliver(m)
	case m.method == "notifications/progress":
		p.progress(m)
	case m.method == "notifications/cancelled":
		id := questionID(m.cancels.in(m.text))
		if to := p.asked[id]; to != nil {
			delete(p.asked, id)
			p.tell(to, m.edited(), true)
		}
	case m.subscription.there():
		if c := p.byID(m.subscription.in(m.text)); c != nil {
			c.out.put(m.edited(edit{m.subscription, c.id}))
		}
	case m.isRequest():
		p.ask(m)
	default:
		p.spread(m)
	}
}

func (p *program) byID(raw []byte) *call {
	return p.calls[callID(raw)]
}

// deliver passes on the answer to a client's request.
func (p *program) deliver(m *message) {
	id := callID(m.id.in(m.text))
	c := p.calls[id]
	if c == nil || c.answered {
		return // it was cancelled, or was never asked
	}
	if c.result != nil {
		delete(p.calls, id)
		c.result(m)
		return
	}
	c.answered = true
	if c.token == nil {
		delete(p.calls, id)
	} else if p.late = append(p.late, id); len(p.late) > maxLate {
		delete(p.calls, p.late[0])
		p.late = p.late[1:]
	}
	if c.method == "resources/subscribe" && m.result.there() && len(c.peer.watches) < 1000 {
		c.peer.watches[c.uri] = true
	}
	switch c.method {
	case "initialize":
		p.greeted(m)
		if asked := p.probe != nil || p.entry.era.Load() == eraEnded; asked && m.result.there() {
			p.entry.learn(eraLegacy) // unless its answer to server/discover still comes
		}
	case "tools/list":
		p.learnTools(m)
	}
	c.out.end(m.edited(edit{m.id, c.id}, edit{m.subscription, c.id}))
}

// progress goes to the request whose token it names.
func (p *program) progress(m *message) {
	c := p.byID(m.token.in(m.text))
	if c == nil || c.token == nil {
		return
	}
	text := m.edited(edit{m.token, c.token})
	if c.answered || !c.out.put(text) {
		p.tell(c.peer, text, true)
	}
}

// ask passes a question of the program on to the client that has a request under way. A ping that the client cannot get
// now is answered here. From 2026-07-28 on, clients get no requests: there a question is part of a result.
func (p *program) ask(m *message) {
	id := questionID(m.id.in(m.text))
	to := p.caller()
	switch {
	case m.method == "ping" && (to == nil || to.session == "" || to.alone == nil && len(p.callsOf(to)) == 0):
		_ = p.proc.send(success(m.id.in(m.text), []byte("{}")))
	case to != nil && to.session == "":
		_ = p.proc.send(failure(m.id.in(m.text), &fault{Code: codeMethodNotFound, Message: "from " + modern + " on, clients " +
			"answer no requests: a result of the type input_required asks them"}))
	case to == nil:
		_ = p.proc.send(failure(m.id.in(m.text), internalFault("it is not clear which client this is for: "+
			"the program has several, or none that could answer")))
	case len(p.asked) >= maxWaiting || p.asked[id] != nil || !p.tell(to, m.edited(), false):
		_ = p.proc.send(failure(m.id.in(m.text), internalFault("the client cannot take more questions")))
	default:
		p.asked[id] = to
	}
}

// questionID returns an id as the key of program.asked. It is one text for all ways to write a string.
func questionID(raw []byte) string {
	var id string
	if json.Unmarshal(raw, &id) != nil {
		return string(raw)
	}
	text, _ := json.Marshal(id) // a string has a JSON text
	return string(text)
}

// caller returns the only client that has a request under way, or the only client.
func (p *program) caller() *peer {
	var found *peer
	for _, c := range p.calls {
		if c.answered || c.peer == nil || c.method == "subscriptions/listen" || c.peer == found {
			continue
		}
		if found != nil {
			return nil
		}
		found = c.peer
	}
	if found == nil && len(p.peers) == 1 {
		for only := range p.peers {
			found = only
		}
	}
	return found
}

// spread passes a notification on to the clients that it may be for.
func (p *program) spread(m *message) {
	text := m.edited()
	late := m.method != "notifications/message"
	if m.method == "notifications/resources/updated" {
		uri := m.param("uri")
		for client := range p.peers {
			if client.watches[uri] || len(p.peers) == 1 {
				p.tell(client, text, late)
			}
		}
		return
	}
	if m.method == "notifications/message" {
		if to := p.caller(); to != nil {
			p.tell(to, text, late)
			return
		}
	}
	for client := range p.peers {
		p.tell(client, text, late)
	}
}

// tell sends a message to a client: on the response of its request if there is only one
// under way, else on its standalone stream. With late, the message belongs to no request,
// and the standalone stream comes first.
func (p *program) tell(to *peer, text []byte, late bool) bool {
	calls := slices.DeleteFunc(p.callsOf(to), func(c *call) bool {
		return c.method == "subscriptions/listen" || c.method == "initialize"
	})
	if len(calls) == 1 && !late && calls[0].out.put(text) {
		return true
	}
	if to.alone != nil {
		return to.alone.put(text)
	}
	for _, c := range calls {
		if c.out.put(text) {
			return true
		}
	}
	size := len(text)
	for _, other := range to.waiting {
		size += len(other)
	}
	if to.session == "" || len(to.waiting) >= maxWaiting || size > p.entry.g.opts.Limits.waiting() {
		return false
	}
	to.waiting = append(to.waiting, text)
	return true
}

// listen makes out the standalone stream of a client. An older one ends.
func (p *program) listen(to *peer, out *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to.alone != nil {
		to.alone.end(nil)
	}
	to.alone = out
	for _, text := range to.waiting {
		out.put(text)
	}
	to.waiting = nil
	if p.ended {
		out.end(nil)
	}
}

func (p *program) unlisten(to *peer, out *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to.alone == out {
		to.alone = nil
	}
	p.used = time.Now()
}
