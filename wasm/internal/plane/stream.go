package plane

import (
	"context"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// streamDelay is how long the first request after connecting has the
// connection to itself.
const streamDelay = 250 * time.Millisecond

// maxQuiet bounds the attempts in a row to open the optional stream that failed.
const maxQuiet = 8

// watchIfUseful opens the optional stream where the server announces list
// changes, or may put a question to the user on it.
func (s *Session) watchIfUseful() {
	if s.info.ListChanged || s.d.c.opts.Elicit != nil && !s.modern() {
		s.goroutine(s.watch)
	}
}

// watch keeps the stream open on which the server announces list changes: the
// standalone GET stream, or subscriptions/listen from 2026-07-28 on. It is
// optional: nothing waits for it, and where the server or the budget refuses
// it, the list is as fresh as the last discover.
func (s *Session) watch() {
	timer := time.NewTimer(streamDelay)
	defer timer.Stop()
	select {
	case <-s.works:
	case <-timer.C:
	case <-s.ctx.Done():
		return
	}
	budget, origin := s.d.c.budget, s.d.origin
	lastID := ""
	for failures := 0; failures < maxQuiet; {
		counted := !s.d.c.platform.Multiplexed(origin)
		if counted && !budget.wait(s.ctx, origin, optionalStreams) {
			return
		}
		e, opened := s.stream(lastID)
		if counted {
			budget.release(origin)
		}
		if s.ctx.Err() != nil || e.Kind == Refused && !s.retriable(e) || e.Kind == End && e.Why > Network {
			return
		}
		if opened {
			failures = 0
		} else {
			failures++
		}
		if e.LastID != "" {
			lastID = e.LastID
		}
		if !pause(s.ctx, reconnectDelay(retryOf(e), failures)) {
			return
		}
	}
}

// retriable reports whether a refused stream is worth another attempt.
func (s *Session) retriable(e Event) bool {
	if e.Status == 404 && s.sessionID != "" {
		s.over(&expiredError{&registry.StatusError{Code: e.Status}})
	}
	return e.Status >= 500 || e.Status == 429
}

func retryOf(e Event) time.Duration {
	if e.Kind != End {
		return -1
	}
	return e.Retry
}

// longLived is how long a stream must have lasted to count as one that works.
const longLived = 10 * time.Second

// stream runs one exchange of the optional stream to its end. opened says that
// it worked for a while.
func (s *Session) stream(lastID string) (e Event, opened bool) {
	mail := newMailbox(s.d.c.platform)
	defer mail.close()
	var x Exchange
	if s.modern() {
		s.mu.Lock()
		s.lastID += opStep
		id := s.lastID
		s.calls[id] = mail
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			delete(s.calls, id)
			s.mu.Unlock()
		}()
		params := rawMember(nil, "notifications", []byte(`{"toolsListChanged":true}`))
		x = s.exchange("POST", s.postURL, request(id, "subscriptions/listen", params, s.d.c.meta))
		x.Header = append(x.Header, "Mcp-Method", "subscriptions/listen")
		x.Awaits = id
	} else {
		x = s.exchange("GET", s.d.href, nil)
		if lastID != "" {
			x.Header = append(x.Header, "Last-Event-ID", lastID)
		}
	}
	began := time.Now()
	s.start(x, mail)
	for {
		e, _, err := mail.next(s.ctx, nil)
		if err != nil {
			s.abort(x.ID)
			return Event{Kind: End, Why: Gone}, false
		}
		switch e.Kind {
		case Message: // listen was answered: refused, or ended in good order
			if rpcError([]byte(e.Text)) != nil {
				return Event{Kind: End, Why: NotMCP}, false
			}
			return Event{Kind: End, Retry: -1}, time.Since(began) > longLived
		case Refused, End:
			return e, time.Since(began) > longLived
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
