package nethttp

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// readEvents reads an event stream to its end, or to the response that x awaits.
func (x *exchange) readEvents(body io.Reader) {
	limits := &x.p.limits
	rates := x.p.ratesOf(x.Group)
	counted := &counter{r: body}
	read := func() int { return max(counted.n, x.raw.n) } // a compressed stream may hold nothing
	paid := 0
	// pause waits after too many messages or bytes. It reports whether it did.
	pause := func(messages int) bool {
		n := read()
		d := rates.excess(messages, n-paid)
		paid = n
		if d > 0 {
			sleep(x.ctx, d)
		}
		return d > 0
	}
	counted.before = func() error { // comments are no events, so each read is checked
		switch {
		case x.Awaits != 0 && read() > limits.ResponseBytes:
			return errLong
		case x.Awaits == 0 && pause(0) && x.Head:
			return io.EOF
		}
		return nil
	}
	x.raw.before = counted.before
	events := newScanner(counted, limits.EventBytes)
	notJSON := false
	end := func(why client.Reason, text string) {
		x.reportDropped(rates, true)
		x.emit(&client.Event{
			Kind: client.End, Last: true, Why: why, Text: text, LastID: sendable(events.lastID), Retry: events.retry,
		})
	}
	for !x.over {
		e, err := events.next()
		switch {
		case err == io.EOF && notJSON && x.Awaits != 0:
			end(client.NotMCP, "the stream has events that are not JSON")
			return
		case err == io.EOF:
			end(client.EOF, "")
			return
		case errors.Is(err, errTooLarge):
			end(client.TooLarge, "event over "+strconv.Itoa(limits.EventBytes)+" bytes")
			return
		case err == errLong:
			end(client.TooLarge, "response over "+strconv.Itoa(limits.ResponseBytes)+" bytes")
			return
		case err != nil:
			end(client.Network, "the stream broke off")
			return
		}
		switch {
		case e.name == "endpoint":
			if x.Awaits == 0 && rates.admit(false) {
				x.emit(&client.Event{Kind: client.Endpoint, Text: string(e.data[:min(len(e.data), 4096)])})
			}
		case len(e.data) > 0 && (e.name == "" || e.name == "message"):
			notJSON = x.messages(e.data) != nil || notJSON
		}
		if x.Awaits != 0 {
			if read() > limits.ResponseBytes && !x.over {
				end(client.TooLarge, "response over "+strconv.Itoa(limits.ResponseBytes)+" bytes")
			}
			continue
		}
		x.reportDropped(rates, false)
		if pause(1) && x.Head { // an optional stream ends, and the client opens it again
			end(client.EOF, "")
		}
	}
}

func (x *exchange) reportDropped(r *rates, ends bool) {
	if n := r.report(ends); n > 0 {
		x.emit(&client.Event{Kind: client.Dropped, Bytes: n})
	}
}

// longestID bounds the event id that is sent back, in bytes.
const longestID = 4096

// sendable returns an event id, or "" if a header cannot carry it.
func sendable(id string) string {
	if len(id) > longestID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return id
}

// errLong ends the reading of a stream that is longer than a response may be.
var errLong = errors.New("the stream is too long")

// A counter counts the bytes that were read. An error of before, if that is not nil, ends the reading.
type counter struct {
	r      io.Reader
	n      int
	before func() error
}

// Read implements [io.Reader].
func (c *counter) Read(p []byte) (int, error) {
	if c.before != nil {
		if err := c.before(); err != nil {
			return 0, err
		}
	}
	n, err := c.r.Read(p)
	c.n += n
	return n, err
}

// An event is one server-sent event. Its data is valid until the next one is read.
type event struct {
	name string
	data []byte // lines joined by line feeds
}

// A scanner splits a stream into events as the HTML standard does (section 9.2.6): with
// three kinds of line end, a byte order mark, comments and fields without a colon. It
// reports events without data too, because MCP primes resumption with them.
type scanner struct {
	lastID string        // of the last event that has an id
	retry  time.Duration // the last one of the stream; negative if there is none

	r       io.Reader
	most    int    // bytes of one event
	buf     []byte // buf[start:end] is read and not used yet
	start   int
	end     int
	skipLF  bool // the last line ended in CR
	started bool
	line    []byte
	data    []byte
}

func newScanner(r io.Reader, most int) *scanner {
	return &scanner{r: r, most: most, retry: -1, buf: make([]byte, 16<<10)}
}

// next returns the next event. Its errors are io.EOF, errTooLarge and those of the
// reader. At the stream's end it returns an event without its empty line, or without any
// end of its last line, if the data is whole JSON: some servers leave these out.
func (s *scanner) next() (event, error) {
	var e event
	id := s.lastID
	started, hasData := false, false
	size := 0
	s.data = s.data[:0]
	for {
		line, err := s.readLine(s.most - size)
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		if string(field) == "data" {
			if hasData {
				s.data = append(s.data, '\n')
			}
			s.data, hasData = append(s.data, value...), true
		}
		if err == io.EOF && hasData && rawjson.Valid(s.data, 0) == nil {
			s.lastID, e.data = id, s.data
			return e, nil
		}
		if err != nil {
			return event{}, err
		}
		if size += len(line) + 1; len(line) == 0 {
			if started {
				s.lastID, e.data = id, s.data
				return e, nil
			}
			size = 0
			continue
		}
		switch string(field) {
		case "data": // was taken above, also from a last line without an end
		case "event":
			e.name = string(value)
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				id = string(value)
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 32); err == nil {
				s.retry = min(time.Duration(ms)*time.Millisecond, maxRetry)
			}
		default:
			continue
		}
		started = true
	}
}

// maxRetry bounds the retry time of a stream; the client clamps it further.
const maxRetry = 24 * time.Hour

// readLine returns one line without its end, valid until the next call. With io.EOF it
// returns the last line, which has no end.
func (s *scanner) readLine(most int) ([]byte, error) {
	s.line = s.line[:0]
	for {
		chunk := s.buf[s.start:s.end]
		if s.skipLF && len(chunk) > 0 {
			s.skipLF = false
			if chunk[0] == '\n' {
				s.start++
				continue
			}
		}
		i := bytes.IndexAny(chunk, "\r\n")
		if i >= 0 {
			s.line = append(s.line, chunk[:i]...)
			s.skipLF = chunk[i] == '\r'
			s.start += i + 1
		} else {
			s.line = append(s.line, chunk...)
		}
		switch {
		case len(s.line) > most:
			return nil, errTooLarge
		case i >= 0:
			return s.withoutMark(), nil
		}
		n, err := s.r.Read(s.buf)
		s.start, s.end = 0, n
		switch {
		case n == 0 && err == io.EOF:
			return s.withoutMark(), err
		case n == 0 && err != nil:
			return nil, err
		}
	}
}

// withoutMark strips the byte order mark from the first line.
func (s *scanner) withoutMark() []byte {
	if s.started {
		return s.line
	}
	s.started = true
	return bytes.TrimPrefix(s.line, []byte("\xef\xbb\xbf"))
}
