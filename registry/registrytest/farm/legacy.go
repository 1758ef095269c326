package farm

import (
	"io"
	"net/http"
	"strings"
	"sync"
)

// A legacy is the server of a case that speaks HTTP+SSE (2024-11-05): answers come on
// the stream that a GET of /sse opens, whose first event names where to post. In on,
// "stream" is the GET and gets the chance to write before; "endpoint" is what the first
// event says.
type legacy struct {
	s   server
	run *Run

	mu     sync.Mutex
	stream *asked
}

// ServeHTTP implements [http.Handler].
func (l *legacy) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a, ok := read(w, req, l.run)
	switch {
	case !ok:
		return
	case req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/sse"):
		l.open(a)
	case req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/post"):
		l.post(a)
	case req.Method == http.MethodGet && strings.HasSuffix(req.URL.Path, "/mcp"):
		l.open(a) // found out by a POST that was refused
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

func (l *legacy) open(a *asked) {
	w := &shared{ResponseWriter: a.w}
	defer w.end()
	a.w = w
	if step := l.s.on["stream"]; step != nil {
		step(a)
		return
	}
	l.mu.Lock() // a client that knows the endpoint may post at once
	l.stream = a
	l.mu.Unlock()
	a.events()
	io.WriteString(a.w, "event: endpoint\ndata: "+a.run.here("/post")+"\n\n")
	a.flush()
	if step := l.s.on["opened"]; step != nil {
		step(a)
		return
	}
	a.wait()
}

// post answers on the stream, unless the case has a step for the method.
func (l *legacy) post(a *asked) {
	l.mu.Lock()
	a.stream = l.stream
	l.mu.Unlock()
	if step := l.s.on[a.method]; step != nil {
		step(a)
		return
	}
	into := &captured{header: make(http.Header)}
	b := *a
	b.w = into
	l.s.usual(&b)
	a.w.WriteHeader(http.StatusAccepted)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream != nil && into.body.Len() > 0 {
		l.stream.event(into.body.String())
	}
}

// A shared response is written to by several requests, until its own has ended.
type shared struct {
	http.ResponseWriter
	mu    sync.Mutex
	ended bool
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return 0, io.ErrClosedPipe
	}
	return s.ResponseWriter.Write(p)
}

// Flush implements [http.Flusher].
func (s *shared) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ResponseWriter.(http.Flusher).Flush()
	}
}

func (s *shared) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

// captured takes an answer that goes another way.
type captured struct {
	header http.Header
	body   strings.Builder
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) WriteHeader(int)             {}
func (c *captured) Write(p []byte) (int, error) { return c.body.Write(p) }
