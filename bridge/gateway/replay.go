package gateway

import (
	"bytes"
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// A client of 2025-11-25 whose response breaks off asks for the rest: GET with the id of the last event that it got
// (basic/transports, resumability and redelivery). Only responses to requests can be resumed. The messages of the
// standalone stream wait for the next one.

// Bounds on what is kept for clients that resume.
const (
	maxSentEvents = 100     // of a stream that have been written
	maxSentBytes  = 1 << 20 // likewise; the last event is kept at any size
	maxStreams    = 32      // of a session that have ended; the oldest goes first
	maxBytes      = 4 << 20 // likewise, beside the newest
	replayTime    = 5 * time.Minute
)

// firstResumable is the version whose clients expect an event without data, and resume.
const firstResumable = "2025-11-25"

// A replay has the streams of a session that its client may resume, the oldest first. The program's mutex guards it.
type replay []*replayed

type replayed struct {
	*stream
	over time.Time // when its response ended; zero while it is written
}

// enter makes the caller the one that writes the stream, and returns its turn. Events after a number are sent again. The
// client has those before, so they are dropped. If after is negative, nothing changes.
func (s *stream) enter(after int) turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	if after >= 0 {
		all := append(s.sent, s.queue...)
		s.sent, s.queue = nil, slices.DeleteFunc(all, func(e event) bool { return e.n <= after })
	}
	if s.turn != nil {
		close(s.turn)
	}
	s.turn, s.open = make(turn), true
	return s.turn
}

// exit ends a response. Waiting events are kept if the client can ask for them.
func (s *stream) exit(mine turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != mine {
		wakeUp(s.wake) // this response may have taken the other's wake
		return
	}
	if s.open = false; !s.begun {
		s.drop()
	}
}

// begin writes the head of a stream. An event without data gives the client an id before the first message.
func (s *stream) begin(to *bytes.Buffer) {
	if s.id == "" {
		to.WriteString(": ok\n\n")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		to.WriteString("id: " + s.id + "-0\ndata:\n\n")
	}
	s.begun = true
}

// keep remembers events that are being written. The caller holds mu.
func (s *stream) keep(events []event) {
	if s.id == "" {
		return
	}
	s.sent = append(s.sent, events...)
	size := 0
	for i := len(s.sent) - 1; i >= 0; i-- {
		size += len(s.sent[i].text)
		if kept := len(s.sent) - i; kept > maxSentEvents || kept > 1 && size > maxSentBytes {
			s.sent = slices.Clone(s.sent[i+1:])
			return
		}
	}
}

// size returns the bytes that a stream holds.
func (s *stream) size() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range append(s.sent[:len(s.sent):len(s.sent)], s.queue...) {
		n += len(e.text)
	}
	return n
}

// resumable gives a stream an id, and keeps it for its client.
func (p *program) resumable(to *peer, s *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s.id = rand.Text()[:10]
	to.replay = append(to.replay, &replayed{stream: s})
}

// written is called when a response to a client has ended. It forgets streams beyond the bounds.
func (p *program) written(to *peer, s *stream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	var kept replay
	count, bytes := 0, 0
	for i := len(to.replay) - 1; i >= 0; i-- { // the newest first
		r := to.replay[i]
		open, left := r.state()
		if r.stream == s && !open {
			r.over = now
		}
		if !r.over.IsZero() {
			count++
			bytes += r.size()
			if left || now.Sub(r.over) > replayTime || count > maxStreams || count > 1 && bytes > maxBytes {
				r.leave()
				continue
			}
		}
		kept = append(kept, r)
	}
	slices.Reverse(kept)
	to.replay = kept
}

// state reports whether a response writes the stream, and whether the stream was left for good.
func (s *stream) state() (open, left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open, s.left
}

// resume writes the rest of a stream, after the event that the client got last.
func (p *program) resume(w http.ResponseWriter, req *http.Request, to *peer, lastEvent string) {
	id, number, _ := strings.Cut(lastEvent, "-")
	after, err := strconv.Atoi(number)
	var found *stream
	p.mu.Lock()
	for _, r := range to.replay {
		if r.id == id && err == nil && after >= 0 {
			found, r.over = r.stream, time.Time{}
		}
	}
	p.mu.Unlock()
	if found == nil {
		loopback.Deny(http.StatusBadRequest, "the rest of this response is not kept any more: the request may have run").Write(w)
		return
	}
	found.respond(found.enter(after), w, req, true, nil)
	p.written(to, found)
}
