package sdksession

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/portolan-mcp/portolan/registry"
)

const (
	// streamsPerOrigin leaves most of a browser's six connections to an HTTP/1.1
	// origin to requests: a seventh stalls without a word.
	streamsPerOrigin = 2
	maxReconnects    = 8
	listenerTime     = 500 * time.Millisecond
	longLived        = time.Minute // a stream that lasted so long has done well
)

// listen opens, off the critical path, the stream on which the server tells that
// its list changed: subscriptions/listen from 2026-07-28 on, before that the
// optional GET stream, on which some servers ask the user too. Legacy SSE has one
// anyway.
func (s *session) listen() {
	wanted := s.info.ListChanged || s.elicit != nil && !s.isModern()
	if !wanted || s.wire != nil && s.wire.sse || s.wire == nil && !s.isModern() ||
		s.wire != nil && !s.wire.streams.take(s.wire.endpoint) {
		close(s.listening)
		return
	}
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		if s.wire != nil {
			defer s.wire.streams.give(s.wire.endpoint)
		}
		started := sync.OnceFunc(func() { close(s.listening) })
		defer started()
		_ = survived(func() error { // without it the list is as fresh as the last discovery
			if s.isModern() {
				started()
				s.keepOpen(s.openSubscription)
			} else {
				s.keepOpen(func(lastID *string, retry *time.Duration) bool { return s.openGet(lastID, retry, started) })
			}
			return nil
		})
	}()
}

// keepOpen reconnects, with growing pauses and a bounded number of times.
func (s *session) keepOpen(open func(lastID *string, retry *time.Duration) (again bool)) {
	var lastID string
	for failures := 0; failures < maxReconnects; failures++ {
		var retry time.Duration
		began := time.Now()
		if !open(&lastID, &retry) || s.calls.Err() != nil {
			return
		}
		if time.Since(began) > longLived {
			failures = 0
		}
		pause := min(time.Second<<failures, 30*time.Second)
		pause = max(retry, pause/2+rand.N(pause/2))
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-s.calls.Done():
			timer.Stop()
			return
		}
	}
}

// openSubscription holds one subscriptions/listen request open until it ends.
func (s *session) openSubscription(*string, *time.Duration) (again bool) {
	_, err := s.request(s.calls, methodListen, []byte(`"notifications":{"toolsListChanged":true}`), &outcome{endless: true}, nil)
	var rpc *registry.RPCError
	return !errors.As(err, &rpc) && !isStatus(err, 400, 401, 403, 404, 405)
}

// openGet reads one GET stream until it ends. Whatever is not a stream of events
// is a refusal, which the specification allows. It calls started when the server
// has answered.
func (s *session) openGet(lastID *string, retry *time.Duration, started func()) (again bool) {
	req, err := http.NewRequestWithContext(s.calls, http.MethodGet, s.wire.endpoint.String(), nil)
	if err != nil {
		return false
	}
	req.Header.Set("Accept", "text/event-stream")
	if id := s.wire.sessionID.Load(); id != nil {
		req.Header.Set(sessionHeader, *id)
	}
	if *lastID != "" {
		req.Header.Set("Last-Event-Id", *lastID)
	}
	res, err := s.wire.chain().RoundTrip(req)
	started()
	if err != nil {
		return errors.Is(err, registry.ErrNetwork) || isStatus(err, 500, 502, 503, 504, 429)
	}
	defer res.Body.Close()
	s.readMessages(res.Body, lastID, retry)
	return true
}

func (s *session) readMessages(body io.Reader, lastID *string, retry *time.Duration) {
	events := newEventScanner(body, s.limits.EventBytes+1024)
	for {
		e, err := events.next()
		if err != nil {
			return
		}
		if e.id != "" {
			*lastID = e.id
		}
		if ms, err := strconv.Atoi(e.retry); err == nil {
			*retry = clampRetry(ms)
		}
		if len(e.data) == 0 {
			continue
		}
		msg, err := jsonrpc.DecodeMessage(append([]byte(nil), e.data...))
		if err != nil {
			continue
		}
		if _, isRequest := msg.(*jsonrpc.Request); isRequest && !s.tap.inject(msg) {
			return
		}
	}
}

// awaitListener gives the stream a moment to open before a call that may make the
// server ask the user on it: what is sent before is lost.
func (s *session) awaitListener(ctx context.Context) {
	if s.elicit == nil {
		return
	}
	timer := time.NewTimer(listenerTime)
	defer timer.Stop()
	select {
	case <-s.listening:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// A streamBudget counts the streams that are open for each origin.
type streamBudget struct {
	mu   sync.Mutex
	open map[string]int
}

func (b *streamBudget) take(u *url.URL) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[u.Host] >= streamsPerOrigin {
		return false
	}
	if b.open == nil {
		b.open = make(map[string]int)
	}
	b.open[u.Host]++
	return true
}

func (b *streamBudget) give(u *url.URL) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open[u.Host]--; b.open[u.Host] == 0 {
		delete(b.open, u.Host)
	}
}
