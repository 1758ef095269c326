package registrytest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A Net is a network in memory: an [http.RoundTripper] that hands requests to the
// handlers of their origins. Bodies stream in both directions, a handler sees the
// request's context end, and nothing is kept in between: what a handler wrote
// can be read at once.
type Net struct {
	mu       sync.Mutex
	handlers map[string]http.Handler // by origin
	open     int                     // requests whose handler has not returned
	idle     chan struct{}           // closed while open is 0
	requests []*http.Request
}

// ErrUnreachable is what a request to an origin without handler fails with.
var ErrUnreachable = errors.New("connection refused")

// NewNet returns an empty network. When the test ends, it fails if a handler is
// still at work 10 s later: a session left a request open.
func NewNet(t testing.TB) *Net {
	n := &Net{handlers: make(map[string]http.Handler), idle: make(chan struct{})}
	close(n.idle)
	t.Cleanup(func() {
		n.mu.Lock()
		idle := n.idle
		n.mu.Unlock()
		select {
		case <-idle:
		case <-time.After(10 * time.Second):
			t.Error("requests are still open after the test")
		}
	})
	return n
}

// Handle lets h serve an origin such as "https://a.example".
func (n *Net) Handle(origin string, h http.Handler) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.handlers[origin] = h
}

// Requests returns the requests so far, without bodies.
func (n *Net) Requests() []*http.Request {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]*http.Request(nil), n.requests...)
}

// RoundTrip implements [http.RoundTripper].
func (n *Net) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n.mu.Lock()
	h := n.handlers[req.URL.Scheme+"://"+req.URL.Host]
	if h != nil {
		if n.open++; n.open == 1 {
			n.idle = make(chan struct{})
		}
		n.requests = append(n.requests, req.Clone(context.Background()))
	}
	n.mu.Unlock()
	if h == nil {
		return nil, ErrUnreachable
	}

	serverCtx, gone := context.WithCancel(ctx)
	in := req.Clone(serverCtx)
	in.RequestURI = req.URL.RequestURI()
	in.RemoteAddr = "192.0.2.1:1234"
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	w := newResponse(serverCtx)
	go func() {
		defer n.done()
		defer gone()
		defer w.end()
		defer func() {
			if v := recover(); v != nil && v != http.ErrAbortHandler {
				panic(v)
			} else if v != nil {
				w.abort()
			}
		}()
		h.ServeHTTP(w, in)
	}()
	select {
	case <-w.headed:
		return w.response(req, gone), nil
	case <-ctx.Done():
		gone()
		return nil, ctx.Err()
	case <-w.broken:
		return nil, io.ErrUnexpectedEOF
	}
}

func (n *Net) done() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open--; n.open == 0 {
		close(n.idle)
	}
}

// A response is the server's side of an answer under way.
type response struct {
	ctx    context.Context
	header http.Header
	headed chan struct{} // closed when sent and status are set
	broken chan struct{} // closed when the handler aborted before that
	reader *io.PipeReader
	writer *io.PipeWriter

	mu     sync.Mutex
	status int
	sent   http.Header
}

func newResponse(ctx context.Context) *response {
	w := &response{ctx: ctx, header: make(http.Header), headed: make(chan struct{}), broken: make(chan struct{})}
	w.reader, w.writer = io.Pipe()
	context.AfterFunc(ctx, func() { w.writer.CloseWithError(ctx.Err()) })
	return w
}

func (w *response) Header() http.Header { return w.header }

func (w *response) WriteHeader(status int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
		close(w.headed)
	}
}

func (w *response) Write(p []byte) (int, error) {
	if w.header.Get("Content-Type") == "" {
		w.header.Set("Content-Type", http.DetectContentType(p))
	}
	w.WriteHeader(http.StatusOK)
	return w.writer.Write(p)
}

// Flush implements [http.Flusher].
func (w *response) Flush() { w.WriteHeader(http.StatusOK) }

func (w *response) end() {
	w.mu.Lock()
	aborted := w.status < 0
	w.mu.Unlock()
	if !aborted {
		w.WriteHeader(http.StatusOK)
	}
	w.writer.Close()
}

// abort breaks the connection, as a server that dies does.
func (w *response) abort() {
	w.writer.CloseWithError(io.ErrUnexpectedEOF)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.status == 0 {
		w.status = -1
		close(w.broken)
	}
}

func (w *response) response(req *http.Request, gone func()) *http.Response {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: &body{w.reader, gone}, ContentLength: -1, Request: req,
	}
}

// A body is the client's side: closing it ends the handler's context.
type body struct {
	*io.PipeReader
	gone func()
}

func (b *body) Close() error {
	b.gone()
	return b.PipeReader.Close()
}
