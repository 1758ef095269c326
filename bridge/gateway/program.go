package gateway

import (
	"iter"
	"maps"
	"slices"
	"sync"
	"time"
)

// A program is a running process and the clients that use it. It relays between them. Its
// methods may be called from several goroutines.
type program struct {
	entry *entry
	proc  *process

	mu    sync.Mutex
	calls map[int64]*call  // requests of clients, by the id that the program knows
	late  []int64          // answered requests of calls, whose progress may still come (tasks)
	asked map[string]*peer // who got a question of the program; by its questionID
	peers map[*peer]bool
	next  int64
	used  time.Time
	since time.Time // it was asked for the first time
	ended bool
	spoke bool          // it has sent a message
	greet *greeting     // of a shared program
	probe chan struct{} // closed when the question whether it speaks 2026-07-28 is over; nil before it was asked
	// Arguments of its tools that headers repeat, by tool.
	params map[string][]paramHeader
}

// A peer is a client of a program: a session up to 2025-11-25, or all requests of an
// origin from 2026-07-28 on. Its fields are guarded by the program's mutex.
type peer struct {
	program *program
	session string // the id; empty from 2026-07-28 on
	owner   string // the origin
	alone   *stream
	waiting [][]byte // for the standalone stream, while it is not open
	open    int      // standalone streams and requests that are being served
	used    time.Time
	watches map[string]bool
	replay  replay
}

// A call is a client's request on its way.
type call struct {
	peer      *peer
	id, token []byte // as the client wrote them; token may be nil
	method    string
	out       *stream
	answered  bool
	result    func(m *message) // of a request that the gateway itself sends; nil otherwise
	uri       string           // of resources/subscribe
}

// A greeting is the handshake with a shared program, which has one for all sessions.
type greeting struct {
	done   chan struct{} // closed when result or fail is set
	result []byte
	fail   []byte // the error object
	ready  bool   // notifications/initialized was sent
}

const (
	maxLate    = 256
	maxWaiting = 256
)

func newProgram(e *entry) *program {
	return &program{
		entry: e, calls: map[int64]*call{}, asked: map[string]*peer{}, peers: map[*peer]bool{}, used: time.Now(),
	}
}

// begin sends a client's request on. Its answer ends the stream out.
func (p *program) begin(c *call, m *message) (f *fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() {
		if f != nil && c.method == "initialize" && c.peer.session != "" {
			p.greetFailed(f)
		}
	}()
	if p.ended {
		return p.entry.gone()
	}
	all, own := p.underWay(c.peer)
	if most := p.entry.g.opts.Limits.Calls; all >= most || p.entry.Shared && own >= (most+1)/2 {
		return internalFault("too many requests are under way in the program " + p.entry.Name)
	}
	if c.peer != nil && c.peer.session != "" && p.find(c.peer, c.id) != 0 {
		return &fault{Code: codeInvalidRequest, Message: "a request with this id is under way"}
	}
	if m.method == "resources/unsubscribe" && p.watchedByOthers(c.peer, c.uri) {
		c.out.end(success(c.id, []byte("{}")))
		return nil
	}
	p.next++
	id := p.next
	edits := []edit{{m.id, number(id)}}
	if m.token.there() {
		c.token = m.token.in(m.text)
		edits = append(edits, edit{m.token, number(id)})
	}
	if err := p.proc.send(m.edited(edits...)); err != nil {
		return internalFault("the program " + p.entry.Name + " did not take the request: " + err.Error())
	}
	p.calls[id] = c
	p.used = time.Now()
	if p.since.IsZero() {
		p.since = p.used
	}
	return nil
}

// underWay returns the number of requests under way, and how many of them are of a client's origin.
func (p *program) underWay(client *peer) (all, own int) {
	for _, c := range p.calls {
		if c.answered {
			continue
		}
		if all++; client != nil && c.peer != nil && c.peer.owner == client.owner {
			own++
		}
	}
	return all, own
}

// callsOf returns a client's requests that are under way, the oldest first. p.mu is held.
func (p *program) callsOf(client *peer) (calls []*call) {
	for _, id := range slices.Sorted(maps.Keys(p.calls)) {
		if c := p.calls[id]; c.peer == client && !c.answered {
			calls = append(calls, c)
		}
	}
	return calls
}

// find returns the program's id of a client's request that is under way, or 0. Pages of one origin without sessions may
// use the same id: then it is not clear which request is meant.
func (p *program) find(from *peer, id []byte) (found int64) {
	for own, c := range p.calls {
		switch {
		case c.peer != from || c.answered || string(c.id) != string(id):
		case found != 0:
			return 0
		default:
			found = own
		}
	}
	return found
}

// abandon tells the program that nobody waits for a request any more.
func (p *program) abandon(c *call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, other := range p.calls {
		if other == c && !c.answered {
			if c.method == "initialize" && p.greet != nil { // its answer is that of the next sessions, too
				c.peer, c.token = nil, nil
				return
			}
			delete(p.calls, id)
			p.used = time.Now()
			_ = p.proc.send(append(append([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`),
				number(id)...), `,"reason":"the client closed the request"}}`...))
		}
	}
}

// notify sends a client's notification on.
func (p *program) notify(from *peer, m *message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = time.Now()
	switch m.method {
	case "notifications/cancelled":
		id := p.find(from, m.cancels.in(m.text))
		if id == 0 || p.calls[id].method == "initialize" {
			return
		}
		c := p.calls[id]
		delete(p.calls, id)
		_ = p.proc.send(m.edited(edit{m.cancels, number(id)}))
		c.out.end(nil) // no answer follows (2025-11-25, cancellation)
		return
	case "notifications/initialized":
		if g := p.greet; g != nil {
			if g.ready {
				return
			}
			g.ready = true
		}
	}
	_ = p.proc.send(m.edited())
}

// answer sends a client's answer to a question on. Others cannot answer it.
func (p *program) answer(from *peer, m *message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := questionID(m.id.in(m.text))
	if p.asked[id] != from {
		return
	}
	delete(p.asked, id)
	p.used = time.Now()
	_ = p.proc.send(m.edited())
}

// hold counts an HTTP request of a client for as long as it is served.
func (p *program) hold(to *peer) (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to.open++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		to.open--
		p.used = time.Now()
		to.used = p.used
	}
}

// watchedByOthers reports whether another client has subscribed to a resource, or is about to, and forgets the
// subscription of from. p.mu is held.
func (p *program) watchedByOthers(from *peer, uri string) bool {
	delete(from.watches, uri)
	return some(maps.Values(p.calls), func(c *call) bool {
		return c.method == "resources/subscribe" && c.uri == uri && c.peer != from && !c.answered
	}) || some(maps.Keys(p.peers), func(other *peer) bool { return other.watches[uri] })
}

func some[V any](values iter.Seq[V], is func(V) bool) bool {
	for v := range values {
		if is(v) {
			return true
		}
	}
	return false
}

func (p *program) join(to *peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to.program, to.watches = p, map[string]bool{}
	p.peers[to] = true
	p.used = time.Now()
	to.used = p.used
}

// part removes a client. Its requests are cancelled, and its questions are refused. It
// returns how many clients are left.
func (p *program) part(from *peer) int {
	p.mu.Lock()
	calls := p.callsOf(from)
	delete(p.peers, from)
	for id, to := range p.asked {
		if to == from {
			delete(p.asked, id)
			_ = p.proc.send(failure([]byte(id), internalFault("the client has left")))
		}
	}
	if from.alone != nil {
		from.alone.end(nil)
	}
	left := len(p.peers)
	p.mu.Unlock()
	for _, c := range calls {
		p.abandon(c)
		c.out.end(failure(c.id, internalFault("the session was ended")))
	}
	return left
}

// unused reports whether no HTTP request of a client is being served, and since when; nil
// stands for all clients. Nobody waits for the requests that are under way then.
func (p *program) unused(client *peer) (since time.Time, free bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if client != nil {
		return client.used, client.open == 0
	}
	used := some(maps.Keys(p.peers), func(client *peer) bool { return client.open > 0 }) ||
		some(maps.Values(p.calls), func(c *call) bool { return c.result != nil }) // the gateway's own request
	return p.used, !used && !p.ended
}

// isOnlyOf reports whether the program has no client of another owner.
func (p *program) isOnlyOf(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !some(maps.Keys(p.peers), func(client *peer) bool { return client.owner != owner })
}

// stuck reports whether the program was first asked before a time, and has sent nothing.
func (p *program) stuck(before time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.spoke && !p.since.IsZero() && p.since.Before(before)
}

// close answers all that is under way with f.
func (p *program) close(f *fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, c := range p.calls {
		switch {
		case c.answered:
		case c.result != nil:
			c.result(nil)
		default:
			if c.method == "initialize" {
				p.greetFailed(f)
			}
			c.out.end(failure(c.id, f))
		}
	}
	clear(p.calls)
	for client := range p.peers {
		if client.alone != nil {
			client.alone.end(nil)
		}
	}
}
