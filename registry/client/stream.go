package client

import (
	"context"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// streamDelay is how long the first request after connecting has the
// connection to itself.
const streamDelay = 250 * time.Millisecond

// maxQuiet bounds the attempts in a row that brought nothing.
const maxQuiet = 8

// watchIfUseful opens the optional stream where the server announces list
// changes, or may ask the client something on it.
func (s *Session) watchIfUseful() {
	o := &s.d.c.opts
	asks := (o.Elicit != nil || o.ElicitURL != nil || o.Sample != nil || s.d.c.rootsNow() != nil) && !s.modern
	if !s.info.ListChanged && !asks {
		return
	}
	if asks {
		s.listening = make(chan struct{})
	}
	s.watching = true
	s.goroutine(s.watch)
}

// listens lets calls go on that wait for the optional stream: it is open, or will not be.
func (s *Session) listens() {
	s.mu.Lock()
	if !isDone(s.listening) {
		close(s.listening)
	}
	s.mu.Unlock()
}

// watch keeps the stream open on which the server announces list changes: the
// standalone GET stream, or subscriptions/listen from 2026-07-28 on. It is
// optional: nothing waits for it, and where the server or the budget refuses
// it, the list is as fresh as the last discover.
func (s *Session) watch() {
	defer s.listens()
	defer s.replaced()
	lost := false
	defer func() {
		s.mu.Lock()
		s.watching, s.lost = false, lost
		asked := s.follow
		s.mu.Unlock()
		if asked != nil {
			asked.tell(registry.Because(registry.ErrUnsupported, "the server refuses subscriptions/listen"))
		}
	}()
	if await(s.ctx, streamDelay, s.works) != nil {
		return
	}
	budget, origin := s.d.c.budget, s.d.origin
	var st optionalStream
	failures, brief, worked := 0, 0, false
	for failures < maxQuiet {
		counted := !s.d.c.platform.Multiplexed(origin)
		if counted && !budget.wait(s.ctx, origin, optionalStreams, s.misses) {
			return
		}
		ctx, again := context.WithCancel(s.ctx)
		s.mu.Lock()
		s.relisten = again
		s.mu.Unlock()
		e := s.stream(ctx, &st, !counted)
		s.listens()
		if counted {
			budget.release(origin)
		}
		if s.modern && s.ctx.Err() == nil && ctx.Err() != nil {
			continue
		}
		s.misses()
		if e.Kind == Refused && s.replaced() { // the server may allow one stream
			pause(ctx, minRetry)
			again()
			continue
		}
		// A stream that reached its limit after a long time is opened again.
		if s.ctx.Err() != nil || e.Kind == End && e.Why > Network && !(e.Why == TooLarge && st.lasted) {
			return
		}
		if e.Kind == Refused && e.Status < 500 && e.Status != 429 {
			if e.Status == 400 && s.narrow() {
				again()
				continue
			}
			if st.opened && e.Status == 404 && s.sessionID != "" {
				s.over(s.refused(e, true)) // it worked before: not the stream is unknown, but the session
			}
			return
		}
		if st.lasted {
			failures, brief, worked = 0, 0, true
		} else {
			brief++
			if !st.progress {
				failures++
			}
		}
		// A server may ask to be polled (SEP-1699), but not faster and faster.
		if !pause(ctx, max(reconnectDelay(retryOf(e), brief), reconnectDelay(-1, brief-1))) {
			failures = 0 // something else is asked for
		}
		again()
	}
	lost = worked
}

// keep leaves a stream open until the next one is. It is false if an earlier one still is.
func (s *Session) keep(stream *mailbox) (kept bool) {
	s.mu.Lock()
	if kept = s.older == nil; kept {
		s.older = stream
	}
	s.mu.Unlock()
	return kept
}

// replaced ends the stream that was kept. It is false if there is none.
func (s *Session) replaced() bool {
	s.mu.Lock()
	older := s.older
	s.older = nil
	s.mu.Unlock()
	if older != nil {
		older.cancel()
		older.close()
	}
	return older != nil
}

// misses notes that changes may be missed until a stream is open.
func (s *Session) misses() {
	s.mu.Lock()
	s.missed = true
	s.mu.Unlock()
}

func retryOf(e *Event) time.Duration {
	if e.Kind != End {
		return -1
	}
	return e.Retry
}

// longLived is how long a stream must have lasted to count as one that works.
const longLived = 10 * time.Second

// An optionalStream is what watch knows from one attempt to the next.
type optionalStream struct {
	lastID   string
	opened   bool // some attempt was accepted
	lasted   bool // the last attempt worked for a while
	progress bool // the last attempt brought a new event id
}

// stream runs one exchange of the optional stream to its end. From 2026-07-28 on it ends with ctx, to ask for something
// else. With overlaps it then stays open until the next one is, so that no change is missed.
func (s *Session) stream(ctx context.Context, st *optionalStream, overlaps bool) *Event {
	mail, kept := s.d.c.mailbox(s, OpOther), false
	defer func() {
		if !kept {
			mail.close()
		}
	}()
	r := httpRequest{s: s, url: s.d.href, mail: mail}
	if s.modern {
		id := int64(mail.id)
		var filter []byte
		filter, mail.follow = s.filter()
		params := rawjson.AppendMember(nil, "notifications", object(filter))
		r.url = s.postURL
		r.x = s.exchange(mail, "POST", s.postURL, requestMessage(id, "subscriptions/listen", params, s.d.c.meta))
		r.x.add("Mcp-Method", "subscriptions/listen")
		r.x.Awaits = id
	} else {
		ctx = s.ctx
		r.x = s.exchange(mail, "GET", s.d.href, nil)
		r.x.Head = true
		if st.lastID != "" {
			r.x.add("Last-Event-ID", st.lastID)
		}
	}
	began := time.Now()
	if r.run(s.ctx) != nil {
		return &Event{Kind: End, Why: Gone}
	}
	for {
		e, err := mail.next(ctx)
		if err != nil {
			if kept = overlaps && s.ctx.Err() == nil && s.keep(mail); !kept {
				mail.cancel()
			}
			return &Event{Kind: End, Why: Gone}
		}
		st.lasted = time.Since(began) > longLived
		switch e.Kind {
		case Head:
			st.opened = true
			s.listens()
			s.mu.Lock()
			asked := s.follow
			s.mu.Unlock()
			s.opens(asked, st.lastID != "")
		case Message: // listen was answered: refused, or ended in good order
			if rpcError([]byte(e.Text)) != nil {
				return &Event{Kind: Refused, Status: 400}
			}
			return &Event{Kind: End, Retry: -1}
		case Refused, End:
			if again, err := r.again(s.ctx, e); again || err != nil {
				if err != nil {
					return &Event{Kind: End, Why: Gone}
				}
				continue
			}
			if mail.follow != nil && e.Why == Network {
				mail.follow.tell(s.failed(e))
			}
			st.progress = e.LastID != "" && e.LastID != st.lastID
			if st.progress {
				st.lastID = e.LastID
			}
			return e
		}
	}
}

// pause waits, and reports false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	return await(ctx, d, nil) == nil
}
