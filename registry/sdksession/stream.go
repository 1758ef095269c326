package sdksession

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A stream reads a server's events and writes them for the SDK in the plainest
// form. It leaves out what is no JSON, what comes too fast, and all that follows
// the answer; it answers in the server's place when no answer can come any more.
type stream struct {
	wire     *wire
	req      *http.Request
	body     io.ReadCloser
	x        *exchange // whose answer ends the stream; without id for a GET
	events   *eventScanner
	out      bytes.Buffer
	read     int  // bytes of events so far
	resuming bool // the server gave an id to resume from
	garbage  bool // an event was no JSON
	answered bool
	err      error
}

func (w *wire) newStream(req *http.Request, body io.ReadCloser, x *exchange) *stream {
	s := &stream{wire: w, req: req, body: body, x: x}
	if x.isCall() && (x.out == nil || !x.out.endless) {
		s.events = newEventScanner(body, w.limits.EventBytes)
	} else {
		s.events = newEventScanner(calmed{body, req.Context(), w.rate}, w.limits.EventBytes)
	}
	return s
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	for s.out.Len() == 0 {
		if s.err != nil {
			return 0, s.err
		}
		if fault := survived(func() error { s.step(); return nil }); fault != nil {
			s.finish(fault)
		}
	}
	return s.out.Read(p)
}

// Close implements [io.Closer]. It is called by the goroutine that reads.
func (s *stream) Close() error {
	if s.answered {
		return nil // being drained
	}
	return s.body.Close()
}

func (s *stream) step() {
	e, err := s.events.next()
	if err != nil {
		s.finish(err)
		return
	}
	if !s.wire.sse && e.name != "" && e.name != "message" {
		e.data = nil
	}
	s.read += len(e.data)
	switch {
	case e.id != "":
		s.resuming = true
	case s.wire.sse && e.name == "endpoint":
		s.endpoint(e)
		return
	}
	if s.x.isCall() && s.x.out != nil && !s.x.out.endless && s.read > s.wire.limits.ResponseBytes {
		s.finish(errEventTooLarge)
		return
	}
	if len(e.data) > 0 {
		e.data = s.message(e.data)
	}
	s.write(e)
}

// message returns what the SDK is to see of a message; nil means nothing.
func (s *stream) message(text []byte) []byte {
	m, err := open(text)
	if err != nil {
		s.garbage = true
		return nil
	}
	if m.method != nil {
		if !s.wire.rate.admit(time.Now(), m.id != nil) {
			return nil
		}
		return m.request(s.wire.limits.Depth)
	}
	x := s.x
	if s.wire.sse {
		x = s.wire.waiting(m.id)
	}
	if x == nil || !x.isCall() || !m.answers(x.id) {
		return nil
	}
	if !s.wire.sse {
		s.err, s.answered = io.EOF, true
		if body, ok := s.body.(*boundBody); ok {
			body.drain()
		} else {
			s.body.Close()
		}
	}
	// What is kept must outlive the scanner's buffer.
	m.result = bytes.Clone(m.result)
	return x.settle(&m, s.wire.limits.Depth)
}

// endpoint passes on where a legacy server wants messages sent, if that is the
// same origin: they carry the configured headers.
func (s *stream) endpoint(e event) {
	to, err := s.req.URL.Parse(string(e.data))
	if err != nil || !sameOrigin(to, s.wire.endpoint) {
		s.err = s.x.fail(registry.Because(registry.ErrProtocol, "the server's endpoint is on another origin"))
		s.body.Close()
		return
	}
	to.User = (*url.Userinfo)(nil)
	s.out.WriteString("event: endpoint\ndata: " + to.String() + "\n\n")
}

func (s *stream) write(e event) {
	if e.id != "" && isASCII(e.id) {
		s.out.WriteString("id: " + e.id + "\n")
	}
	if ms, err := strconv.Atoi(e.retry); err == nil {
		s.out.WriteString("retry: " + strconv.FormatInt(clampRetry(ms).Milliseconds(), 10) + "\n")
	}
	if len(e.data) > 0 {
		// A newline in JSON is space between tokens.
		s.out.WriteString("data: ")
		s.out.Write(bytes.ReplaceAll(e.data, []byte{'\n'}, []byte{' '}))
		s.out.WriteString("\n")
	}
	if s.out.Len() > 0 {
		s.out.WriteString("\n")
	}
}

// clampRetry bounds the wait that a server asks for between two connections.
func clampRetry(ms int) time.Duration {
	return min(max(time.Duration(ms)*time.Millisecond, 500*time.Millisecond), 30*time.Second)
}

// finish ends the stream. A call that the SDK cannot resume gets its failure as
// the answer, for the SDK would leave it waiting or end the session.
func (s *stream) finish(err error) {
	s.err = io.EOF
	s.wire.rate.report(true)
	s.body.Close()
	if s.req.Context().Err() != nil {
		s.err = s.req.Context().Err()
		return
	}
	var lost error
	switch {
	case errors.Is(err, errEventTooLarge):
		lost = registry.Because(registry.ErrTooLarge, "the event stream is over the limit")
	case s.resuming && s.x.isCall():
		return
	case s.garbage:
		lost = registry.Because(registry.ErrProtocol, "the event stream ended without a valid answer")
	case errors.Is(err, io.EOF):
		lost = registry.Because(registry.ErrNetwork, "the event stream ended before the answer")
	default:
		lost = registry.Because(registry.ErrNetwork, err.Error())
	}
	s.x.fail(lost)
	switch {
	case s.x.isCall():
		s.write(event{data: failure(s.x.id, lost)})
	case s.wire.sse:
		s.wire.lost(lost)
	}
}
