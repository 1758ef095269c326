package client

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A Session is a [registry.Session] of one server.
type Session struct {
	d      *dial
	origin string // that of the dial when the session began
	group  uint32
	modern bool          // 2026-07-28: no session, no initialize
	tasks  bool          // tools may run as tasks (2025-11-25)
	sse    bool          // HTTP+SSE: answers come on the one stream
	works  chan struct{} // closed by the first response after connecting

	// Written while connecting only, and info when the server has said more. Others may
	// read info and sessionID meanwhile, under mu.
	info        registry.SessionInfo
	sessionID   string
	initialized <-chan struct{} // closed when notifications/initialized was answered
	postURL     string          // the endpoint, or what HTTP+SSE named
	listening   chan struct{}   // closed when the stream is open on which the server may ask

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	idle   chan struct{} // closed when the session is closed and running is 0

	mu       sync.Mutex
	running  int                      // goroutines of this session
	asked    map[string]question      // elicitations of the server, by raw request id
	open     int                      // questions that are put to the user now
	visits   map[string]func()        // end the questions about addresses, by elicitationId
	assumed  bool                     // the era is a hint that no answer has confirmed
	settled  bool                     // an answer came; the optional stream may open
	bound    map[string][]binding     // of the listed tools that have some
	follow   *follow                  // what the optional stream reports
	woken    map[string]chan struct{} // tasks under way whose changes the server reports
	missed   bool                     // the optional stream has ended, and is not open again
	watching bool                     // the optional stream is open, or will be again
	lost     bool                     // an outage has ended the optional stream; the next answer opens it
	older    *mailbox                 // of the stream that the next one replaces
	relisten context.CancelFunc       // ends the stream under way or the wait for the next one
	posts    int
	places   int       // taken by exchanges of requests
	line     []waiting // requests that wait for a place
	// Closed when the server has taken the last notifications/cancelled.
	lastCancelled <-chan struct{}
	ended         error // set when the session is over, by Close or by itself
	closed        bool
	expired       bool // the server has forgotten the session
}

func (d *dial) session(info registry.SessionInfo) *Session {
	ctx, cancel := context.WithCancel(context.Background())
	ready := make(chan struct{})
	close(ready)
	s := &Session{
		d: d, origin: d.origin, group: d.c.groups.Add(1), modern: info.ProtocolVersion == modern, sse: info.Transport == "sse",
		info: info, postURL: d.href, initialized: ready, listening: ready, works: make(chan struct{}), idle: make(chan struct{}),
		ctx: ctx, cancel: cancel, asked: map[string]question{},
		visits: map[string]func(){}, woken: map[string]chan struct{}{},
	}
	d.c.mu.Lock()
	d.c.live[s] = struct{}{}
	d.c.mu.Unlock()
	return s
}

// maxPlaces bounds the requests of a session that are under way at once, if other sessions
// use the same origin. Browsers open six connections to an origin over HTTP/1.1. More
// requests wait in line.
const maxPlaces = 4

// isShared reports whether several sessions take connections of the origin.
func (c *Client) isShared(origin string) bool {
	sessions := 0
	c.mu.Lock()
	for s := range c.live {
		if s.origin == origin {
			sessions++
		}
	}
	c.mu.Unlock()
	return sessions > 1 && !c.platform.Multiplexed(origin)
}

// A waiting is a request in line.
type waiting struct {
	x    *Exchange
	mail *mailbox
}

// start hands an exchange to the platform, unless the session is over. The exchange of a
// request may have to wait in line.
func (s *Session) start(x *Exchange, mail *mailbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if mail.request && s.ended == nil {
		if s.places >= maxPlaces && runtime.GOOS == "js" && s.d.c.isShared(s.origin) {
			s.line = append(s.line, waiting{x, mail})
			return
		}
		mail.placed = true
		s.places++
	}
	s.begin(x, mail)
}

// begin is called with s.mu held.
func (s *Session) begin(x *Exchange, mail *mailbox) {
	if s.ended != nil {
		mail.put(&Event{Kind: End, Last: true, Why: Gone})
		return
	}
	mail.start(x)
}

// leave takes the request of a mailbox out of the line, or gives its place to the next one.
func (s *Session) leave(mail *mailbox) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !mail.placed {
		for i, w := range s.line {
			if w.mail == mail {
				s.line = append(s.line[:i], s.line[i+1:]...)
				return
			}
		}
		return
	}
	mail.placed = false
	if len(s.line) == 0 {
		s.places--
		return
	}
	next := s.line[0]
	s.line = s.line[1:]
	next.mail.placed = true
	s.begin(next.x, next.mail)
}

// Info implements [registry.Session].
func (s *Session) Info() registry.SessionInfo {
	s.mu.Lock()
	info := s.info
	s.mu.Unlock()
	return info
}

// goroutine runs f until the session's end; Close waits for it.
func (s *Session) goroutine(f func()) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.running++
	s.mu.Unlock()
	go func() {
		defer s.ran()
		defer func() {
			if recover() != nil {
				s.over(registry.Because(registry.ErrProtocol, "a message could not be handled"))
			}
		}()
		f()
	}()
}

// ran is called at the end of each goroutine.
func (s *Session) ran() {
	s.mu.Lock()
	if s.running--; s.closed && s.running == 0 {
		close(s.idle)
	}
	s.mu.Unlock()
}

// over reports to the registry, once, that the session has ended by itself.
func (s *Session) over(err error) {
	s.mu.Lock()
	reported := s.ended != nil
	if !reported {
		s.ended = err
	}
	s.mu.Unlock()
	if !reported {
		s.d.notify(registry.Notice{Err: err})
	}
}

// settle runs after an answer: the session works, so that what was assumed holds.
func (s *Session) settle() {
	s.mu.Lock()
	first, assumed, lost := !s.settled, s.assumed, s.lost
	s.settled, s.assumed, s.lost = true, false, false
	s.mu.Unlock()
	if assumed {
		s.remember()
	}
	if first {
		close(s.works)
	}
	if lost {
		s.listenAgain()
	}
}

// doubt reads the error of a request on a session whose era was only assumed. A
// refusal then means that the server is of another era by now, and has run nothing.
func (s *Session) doubt(err error, op int64) error {
	s.mu.Lock()
	assumed := s.assumed
	s.mu.Unlock()
	if !assumed {
		return err
	}
	again := isRefusal(err)
	if rpc, ok := errors.AsType[*registry.RPCError](err); ok && op == OpCall {
		// Other errors may come from a tool that ran.
		again = rpc.Code == registry.CodeMethodNotFound || rpc.Code == codeInvalidRequest || rpc.Code == codeUnsupportedVersion
	}
	if op == OpList && (errors.Is(err, registry.ErrNetwork) || errors.Is(err, registry.ErrProtocol)) {
		again = true // a preflight refused, a page of HTML
	}
	if !again {
		return err
	}
	s.d.forget()
	return &expiredError{err}
}

// closeTime bounds how long Close waits for the answer to DELETE. The request itself has
// left by then, most often on an open connection.
const closeTime = 150 * time.Millisecond

// cancelledTime bounds how long Close waits until the last notifications/cancelled was sent.
// A server without sessions learns of the cancellation in no other way.
const cancelledTime = 300 * time.Millisecond

// Close ends the session. Calls under way fail. A DELETE ends a session with an id; Close
// waits for its answer for 150 ms at most.
func (s *Session) Close(ctx context.Context) error {
	s.mu.Lock()
	taken := s.lastCancelled
	s.mu.Unlock()
	if taken != nil {
		await(context.Background(), cancelledTime, taken)
	}
	if !s.shut() {
		return nil
	}
	s.mu.Lock()
	known := s.sessionID != "" && !s.sse && !s.expired
	s.mu.Unlock()
	if known {
		s.delete(ctx)
	}
	select {
	case <-s.idle:
	case <-ctx.Done():
	}
	return nil
}

// shut ends the session on this side. It is false if that was done before.
func (s *Session) shut() bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	s.closed = true
	if s.running == 0 {
		close(s.idle)
	}
	if s.ended == nil {
		s.ended = errClosed
	}
	s.mu.Unlock()
	s.cancel()
	s.d.c.mu.Lock()
	delete(s.d.c.live, s)
	s.d.c.mu.Unlock()
	for _, mail := range s.d.c.waitingOf(s, nil) {
		mail.put(&Event{Kind: End, Last: true, Why: Gone})
		mail.cancel()
	}
	return true
}

// delete tells the server that the session is over.
func (s *Session) delete(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	mail := s.d.c.mailbox(s, OpOther)
	defer mail.close()
	x := s.exchange(mail, "DELETE", s.d.href, nil)
	if _, err := s.d.authorize(ctx, x, s.d.href); err != nil {
		return
	}
	mail.start(x)
	if _, err := mail.next(ctx); err != nil {
		mail.cancel()
	}
}
