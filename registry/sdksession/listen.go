package sdksession

import (
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
	longLived        = time.Minute // a stream that lasted so long has done well
)

// listen opens, off the critical path, the stream on which the server tells that
// its list changed: subscriptions/listen from 2026-07-28 on, before that the
// optional GET stream. Legacy SSE has one anyway.
func (s *session) listen() {
	if !s.info.ListChanged || s.wire != nil && s.wire.sse || s.wire == nil && !s.isModern() {
		return
	}
	if s.wire != nil && !s.wire.streams.take(s.wire.endpoint) {
		return
	}
	s.background.Add(1)
	go func() {
		defer s.background.Done()
		if s.wire != nil {
			defer s.wire.streams.give(s.wire.endpoint)
		}
		open := s.openGet
		if s.isModern() {
			open = s.openSubscription
		}
		s.keepOpen(open)
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
// is a refusal, which the specification allows.
func (s *session) openGet(lastID *string, retry *time.Duration) (again bool) {
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
