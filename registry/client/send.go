package client

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// An rpc is one request to the server.
type rpc struct {
	op       int64 // OpOther, OpList, OpCall or OpTask
	call     int   // registry.Call.ID, or 0
	method   string
	params   []byte // members
	meta     []byte // members of _meta that the caller gave
	headers  []string
	progress func(registry.Progress)
	asking   func(open bool) // registry.ToolCall.OnAsk
	// head takes the response's headers, of interest when connecting.
	head func(header string)
	// quiet requests are not cancelled by a notification: those that connect (2025-11-25, basic/utilities/cancellation).
	quiet bool
}

// send makes one request and waits for its answer: a Tools, Output or Message
// event. It returns promptly when ctx ends, after it has notified the server.
func (s *Session) send(ctx context.Context, r *rpc) (*Event, error) {
	w := &wait{s: s, r: r, mail: s.d.c.mailbox(s, r.op)}
	w.mail.rpc, w.mail.request = r, true
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	return w.finish(ctx)
}

// A wait is one request between its sending and its answer.
type wait struct {
	s    *Session
	r    *rpc
	mail *mailbox
	http httpRequest

	lastID string // of the stream that broke off
	stuck  int    // reconnects in a row that brought no new event id
}

// begin sends the request, at once if the session is ready. Unless it fails, end
// has to follow.
func (w *wait) begin(ctx context.Context) error {
	s, r, id := w.s, w.r, int64(w.mail.id)
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended != nil {
		w.end()
		return ended
	}
	meta := r.meta[:len(r.meta):len(r.meta)]
	if r.progress != nil {
		meta = rawjson.AppendMember(meta, "progressToken", strconv.AppendInt(nil, id, 10))
	}
	if s.modern {
		meta = joinMembers(meta, s.d.c.meta)
	}
	x := s.exchange(w.mail, "POST", s.postURL, requestMessage(id, r.method, r.params, meta))
	if s.modern {
		x.add("Mcp-Method", r.method)
	}
	x.Header = append(x.Header, r.headers...)
	x.Head = r.head != nil && !s.sse
	x.Once = r.method == "tools/call"
	if !s.sse {
		x.Awaits = id
	}
	w.http = httpRequest{s: s, url: s.postURL, mail: w.mail, x: x}
	err := w.http.run(ctx)
	if err != nil {
		w.end()
	}
	return err
}

// finish waits for the answer and ends the wait.
func (w *wait) finish(ctx context.Context) (*Event, error) {
	defer w.end()
	e, err := w.answer(ctx)
	if err != nil && ctx.Err() != nil {
		w.giveUp(context.Cause(ctx))
	}
	return e, err
}

// giveUp tells the server, and the platform, that nobody waits any more, and why.
func (w *wait) giveUp(cause error) {
	if !w.r.quiet {
		w.s.cancelled(w.mail.id, cause)
	}
	w.mail.cancel()
}

func (w *wait) end() {
	w.s.unaskDuring(w.mail)
	w.mail.close()
}

func (w *wait) answer(ctx context.Context) (*Event, error) {
	for {
		e, err := w.mail.next(ctx)
		if err != nil {
			return nil, err
		}
		switch e.Kind {
		case Tools, Output:
			return e, nil
		case Message:
			if rpc := rpcError([]byte(e.Text)); rpc != nil {
				return nil, w.s.d.redactRPC(rpc)
			}
			return e, nil
		case Progress:
			if w.r.progress != nil {
				w.r.progress(registry.Progress{Progress: e.Progress, Total: e.Total, Message: w.s.d.shown(e.Text)})
			}
		case Head:
			if w.r.head != nil {
				w.r.head(e.Header)
			}
		case Refused:
			if again, err := w.http.again(ctx, e); again || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
			if w.lastID == "" {
				return nil, w.s.refused(e, true)
			}
			if err := w.refusedAgain(e); err != nil {
				return nil, err
			}
			if err := w.resume(ctx, e); err != nil {
				return nil, err
			}
		case End:
			if w.s.sse && e.Why == EOF {
				continue // the POST was accepted; the answer comes on the stream
			}
			if e.Why != EOF && e.Why != Network || w.s.modern || w.s.sse || e.LastID == "" && w.lastID == "" {
				return nil, w.s.failed(e)
			}
			if err := w.resume(ctx, e); err != nil {
				return nil, err
			}
		}
	}
}

// refusedAgain reads a refusal of the GET that should have resumed the stream.
// The call may have run, so that the session's end is not this call's error.
func (w *wait) refusedAgain(e *Event) error {
	if e.Status >= 500 || e.Status == 429 {
		return nil
	}
	err := w.s.refused(e, false)
	if w.s.sessionID != "" && e.Status == 404 {
		w.s.over(&expiredError{err})
	}
	return registry.Because(registry.ErrNetwork, "the response broke off and could not be resumed: "+err.Error())
}

// maxStuck bounds reconnects that bring nothing new.
const maxStuck = 5

// resume opens the stream again after a while (2025-11-25, basic/transports, resumability).
func (w *wait) resume(ctx context.Context, e *Event) error {
	if e.LastID != "" && e.LastID != w.lastID {
		w.lastID, w.stuck = e.LastID, 0
	} else if w.stuck++; w.stuck > maxStuck {
		return w.s.failed(e)
	}
	if err := await(ctx, reconnectDelay(retryOf(e), w.stuck), w.s.ctx.Done()); err != nil {
		return err
	}
	if w.s.ctx.Err() != nil {
		return errClosed
	}
	x := w.s.exchange(w.mail, "GET", w.s.d.href, nil)
	x.add("Last-Event-ID", w.lastID)
	x.Awaits = int64(w.mail.id)
	w.http = httpRequest{s: w.s, url: w.s.d.href, mail: w.mail, x: x}
	return w.http.run(ctx)
}

// The bounds of a server's retry and of our own backoff.
const (
	minRetry = 500 * time.Millisecond
	maxRetry = 30 * time.Second
)

// reconnectDelay is the server's retry if it gave one, else a second that
// doubles with every attempt that led to nothing.
func reconnectDelay(retry time.Duration, stuck int) time.Duration {
	if retry < 0 {
		retry = time.Second << min(max(stuck, 0), 5)
	}
	return min(max(retry, minRetry), maxRetry)
}

// add adds a header.
func (x *Exchange) add(name, value string) { x.Header = append(x.Header, name, value) }

// exchange fills in what all requests to the server have in common.
func (s *Session) exchange(mail *mailbox, method, href string, body []byte) *Exchange {
	x := &Exchange{ID: mail.id, Group: s.group, Method: method, URL: s.d.via(href), Body: body}
	x.Header = make([]string, 0, len(s.d.headers)+16)
	x.Header = append(x.Header, s.d.headers...)
	switch method {
	case "POST":
		x.add("Content-Type", "application/json")
		x.add("Accept", "application/json, text/event-stream")
	case "GET":
		x.add("Accept", "text/event-stream")
	}
	if s.sse {
		return x
	}
	s.mu.Lock()
	version, id := s.info.ProtocolVersion, s.sessionID
	s.mu.Unlock()
	if version != "" {
		x.add("MCP-Protocol-Version", version)
	}
	if id != "" {
		x.add("Mcp-Session-Id", id)
	}
	return x
}

// cancelled tells the server that nobody waits for a request. From 2026-07-28
// on the end of the exchange itself says so.
func (s *Session) cancelled(id uint32, cause error) {
	if s.modern {
		return
	}
	reason := "the caller gave up"
	if errors.Is(cause, context.DeadlineExceeded) {
		reason = "no answer came in time"
	}
	params := rawjson.AppendMember(nil, "requestId", strconv.AppendInt(nil, int64(id), 10))
	posted := s.post(notificationMessage("notifications/cancelled", member(params, "reason", reason), nil))
	s.mu.Lock()
	s.lastCancelled = posted
	s.mu.Unlock()
}

// The bounds of messages without an answer: how long one may occupy a connection, and how
// many may at once. A flood of pings must not take all connections.
const (
	postTime = 5 * time.Second
	maxPosts = 16
)

// post sends a notification or a response. The channel is closed when the
// server has taken it, or has not within postTime, or when too many are under way.
func (s *Session) post(message []byte) <-chan struct{} {
	done := make(chan struct{})
	mail := s.d.c.mailbox(s, OpOther)
	x := s.exchange(mail, "POST", s.postURL, message)
	if s.modern {
		x.add("Mcp-Method", rawjson.Text(message, "method"))
	}
	r := httpRequest{s: s, url: s.postURL, mail: mail, x: x}
	s.mu.Lock()
	full := s.ended != nil || s.posts >= maxPosts
	if !full {
		s.posts++
		s.running++
	}
	s.mu.Unlock()
	if full {
		mail.close()
		close(done)
		return done
	}
	started := s.d.ready()
	if started {
		_ = r.run(s.ctx)
	}
	go func() {
		defer func() {
			s.mu.Lock()
			s.posts--
			s.mu.Unlock()
			mail.close()
			close(done)
			s.ran()
		}()
		ctx, cancel := context.WithTimeout(s.ctx, postTime)
		defer cancel()
		if !started && r.run(ctx) != nil {
			return
		}
		for {
			e, err := mail.next(ctx)
			if err != nil {
				mail.cancel()
				return
			}
			if again, err := r.again(ctx, e); e.Last && !again || err != nil {
				return
			}
		}
	}()
	return done
}
