package client

import (
	"context"
	"sync"
)

// mailboxSize bounds the events that wait for one reader. Progress beyond it is
// dropped. The first answer and ends always fit. Of more answers nobody reads any.
const mailboxSize = 1000

// A mailbox carries the events of one exchange, or of one request with all its exchanges.
// The platform's callbacks fill it without blocking. One goroutine waits for them. The id is
// that of the exchange and of the request.
type mailbox struct {
	c   *Client
	s   *Session // nil for an exchange that belongs to no session
	id  uint32
	rpc *rpc // the request that waits, or nil
	// follow is what an exchange of subscriptions/listen asked for, or nil.
	follow *follow

	request bool // its exchanges take places of the session
	placed  bool // guarded by s.mu

	// Guarded by c.mu. The client holds a mailbox as long as it is read or its exchange is
	// under way: over HTTP+SSE the response may come before the end of the POST.
	unread, underway bool

	mu       sync.Mutex
	take     func(*Event) (handled bool) // if not nil, gets the events instead
	wake     chan struct{}               // made when somebody waits
	events   []*Event
	answered bool // an answer was among them
	closed   bool
}

// mailbox returns a mailbox with a fresh id for a request of that kind. Its reader closes it.
func (c *Client) mailbox(s *Session, op int64) *mailbox {
	m := &mailbox{c: c, s: s, wake: make(chan struct{}, 1)}
	c.open(m, op)
	return m
}

// open gives the mailbox its id and the events that have it.
func (c *Client) open(m *mailbox, op int64) {
	c.mu.Lock()
	if m.s != nil && op == OpOther {
		m.id = c.early[m.s.d.href]
		delete(c.early, m.s.d.href)
	}
	if m.id == 0 {
		c.lastID += opStep
		m.id = c.lastID | uint32(op)
	}
	c.waiting[int64(m.id)] = m
	c.mu.Unlock()
}

// put hands an event to its reader. It reports whether that is all there is to do: it is
// not if a goroutine waits for the event.
func (m *mailbox) put(e *Event) (handled bool) {
	m.mu.Lock()
	if take := m.take; take != nil && !m.closed {
		m.mu.Unlock()
		return take(e)
	}
	defer m.mu.Unlock()
	m.keep(e)
	return false
}

// putFirst lets the mailbox keep events from e on. It is true for the first that
// asks for it. That caller has next called.
func (m *mailbox) putFirst(e *Event) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.take != nil
	if first {
		m.take, m.wake = nil, make(chan struct{}, 1)
	}
	m.keep(e)
	return first
}

// keep is called with m.mu held.
func (m *mailbox) keep(e *Event) {
	answer := e.Kind == Tools || e.Kind == Output || e.Kind == Message
	if m.closed || e.Kind == Progress && len(m.events) >= mailboxSize || answer && m.answered && !e.Last {
		m.c.free(e)
		return
	}
	m.answered = m.answered || answer
	m.events = append(m.events, e)
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// next returns the oldest event once there is one. The error is ctx's.
func (m *mailbox) next(ctx context.Context) (*Event, error) {
	for {
		m.mu.Lock()
		if len(m.events) > 0 {
			e := m.events[0]
			m.events = m.events[1:]
			m.mu.Unlock()
			return e, nil
		}
		m.mu.Unlock()
		select {
		case <-m.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// close frees what nobody took and whatever still comes.
func (m *mailbox) close() {
	m.c.mu.Lock()
	m.unread = true
	m.c.release(m)
	m.c.mu.Unlock()
	m.mu.Lock()
	events := m.events
	m.events, m.closed = nil, true
	m.mu.Unlock()
	for _, e := range events {
		m.c.free(e)
	}
}

// start hands an exchange of the mailbox to the platform.
func (m *mailbox) start(x *Exchange) {
	m.c.mu.Lock()
	m.underway = true
	m.c.mu.Unlock()
	m.c.platform.Start(x)
}

// cancel ends the exchange under way, if there is one.
func (m *mailbox) cancel() {
	m.c.mu.Lock()
	underway := m.underway
	m.underway = false
	m.c.release(m)
	m.c.mu.Unlock()
	if underway {
		m.c.platform.Cancel(m.id)
	}
	m.leave()
}

// leave is called when the exchange of the mailbox is over.
func (m *mailbox) leave() {
	if m.request {
		m.s.leave(m)
	}
}

// release forgets a mailbox that nobody needs. The caller holds c.mu.
func (c *Client) release(m *mailbox) {
	if m.unread && !m.underway {
		delete(c.waiting, int64(m.id))
	}
}

func (c *Client) free(e *Event) {
	if e.Kind == Tools || e.Kind == Output {
		c.platform.Free(e.Table)
	}
}
