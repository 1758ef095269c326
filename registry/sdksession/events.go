package sdksession

import (
	"bytes"
	"errors"
	"io"
)

// An event is one server-sent event with its fields as they came.
type event struct {
	name  string
	id    string // "" if the event has none
	retry string
	data  []byte // lines joined by newlines; valid until the next event is read
}

var errEventTooLarge = errors.New("event too large")

// An eventScanner splits a stream into events as the HTML standard does
// (section 9.2.6): it knows all three line ends, a byte order mark, comments and
// fields without a colon. Events without data are reported too, since MCP primes
// resumption with them. An event may not be larger than max bytes.
type eventScanner struct {
	r       io.Reader
	max     int
	buf     []byte // read and not yet used: buf[start:end]
	start   int
	end     int
	skipLF  bool // the last line ended in CR
	started bool
	line    []byte
	data    []byte
}

func newEventScanner(r io.Reader, max int) *eventScanner {
	return &eventScanner{r: r, max: max, buf: make([]byte, 16<<10)}
}

// next returns the next event, io.EOF at the end of the stream (an event that is
// cut off there is dropped, as the standard says), errEventTooLarge, or the
// reader's error.
func (s *eventScanner) next() (event, error) {
	var e event
	var any, hasData bool
	size := 0
	s.data = s.data[:0]
	for {
		line, err := s.readLine(s.max - size)
		if err != nil {
			return event{}, err
		}
		size += len(line) + 1
		if len(line) == 0 {
			if any {
				e.data = s.data
				return e, nil
			}
			size = 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "data":
			if hasData {
				s.data = append(s.data, '\n')
			}
			s.data, hasData, any = append(s.data, value...), true, true
		case "event":
			e.name, any = string(value), true
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				e.id, any = string(value), true
			}
		case "retry":
			e.retry, any = string(value), true
		}
	}
}

// readLine returns one line without its end, valid until the next call.
func (s *eventScanner) readLine(max int) ([]byte, error) {
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
			if len(s.line) > max {
				return nil, errEventTooLarge
			}
			return s.withoutMark(), nil
		}
		s.line = append(s.line, chunk...)
		if len(s.line) > max {
			return nil, errEventTooLarge
		}
		n, err := s.r.Read(s.buf)
		s.start, s.end = 0, n
		if n == 0 && err != nil {
			return nil, err
		}
	}
}

// withoutMark strips the byte order mark from the first line.
func (s *eventScanner) withoutMark() []byte {
	if s.started {
		return s.line
	}
	s.started = true
	return bytes.TrimPrefix(s.line, []byte("\xef\xbb\xbf"))
}
