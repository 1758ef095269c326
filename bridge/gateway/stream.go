package gateway

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A stream is what answers one request of a client, while messages for it may come. Messages wait in its queue. The
// goroutine of an HTTP request writes them.
type stream struct {
	limit int // messages that may wait, beside the answer
	bytes int // in these
	wake  chan struct{}
	seen  func(answer []byte) // gets the last message, before it is written; may be nil
	// id makes the stream resumable: its events have ids, and the last of them are kept (replay.go). Empty if it is not.
	id string

	mu    sync.Mutex
	queue []event
	sent  []event // of a resumable stream: the last events
	last  int     // number of the newest event
	turn  turn    // of the HTTP response that writes the stream
	open  bool    // there is such a response
	begun bool    // of a resumable stream: the client has an id
	ended bool    // no message follows those in the queue
	left  bool    // nobody reads it any more
}

// A turn is that of one HTTP response. It is closed when a newer response takes over.
type turn chan struct{}

// An event is a message of a stream. The numbers begin with 1.
type event struct {
	n    int
	text []byte
}

func newStream(l Limits) *stream {
	return &stream{limit: l.Queue, bytes: l.waiting(), wake: make(chan struct{}, 1)}
}

// waiting is how many bytes of messages may wait for one reader.
func (l Limits) waiting() int { return 2 * l.Message }

// put queues a message. It returns false if the stream has ended or too much waits.
func (s *stream) put(text []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	limit := s.limit
	if !s.open && s.begun {
		limit = min(limit, maxSentEvents) // the client has not come back yet
	}
	size := len(text)
	for _, e := range s.queue {
		size += len(e.text)
	}
	if s.ended || s.left || len(s.queue) >= limit || size > s.bytes {
		return false
	}
	s.add(text)
	wakeUp(s.wake)
	return true
}

// end queues a last message, if it is not nil. Only the first call has an effect.
func (s *stream) end(last []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.ended = true; last != nil && !s.left {
		s.add(last)
	}
	wakeUp(s.wake)
}

// add appends to the queue. The caller holds mu.
func (s *stream) add(text []byte) {
	s.last++
	s.queue = append(s.queue, event{s.last, text})
}

// wakeUp leaves a value for the goroutine that waits for one, unless one is there.
func wakeUp(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// leave drops what waits: the client has gone, and will not resume the stream.
func (s *stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop()
}

// drop does so. The caller holds mu.
func (s *stream) drop() { s.left, s.queue, s.sent = true, nil, nil }

// take returns what waits, and whether that is all. It reports false if another response writes the stream now.
func (s *stream) take(mine turn) (events []event, all, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != mine {
		return nil, false, false
	}
	events, s.queue = s.queue, nil
	s.keep(events)
	return events, s.ended, true
}

const (
	// patience is how long the head of a response waits for the message that decides
	// whether it is one JSON text or a stream.
	patience  = time.Second
	keepAlive = 15 * time.Second // between comments on a silent stream; a write finds out that the client has gone
	writeTime = 30 * time.Second // for a client to take a message
)

// serve writes the stream until it ends or the client leaves. A response that is a single
// message is JSON, if open is false. status chooses its status.
func (s *stream) serve(w http.ResponseWriter, req *http.Request, open bool, status func(message []byte) int) {
	s.respond(s.enter(-1), w, req, open, status)
}

func (s *stream) respond(mine turn, w http.ResponseWriter, req *http.Request, open bool, status func(message []byte) int) {
	defer s.exit(mine)
	control := http.NewResponseController(w)
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }() // the connection goes on
	var buffer bytes.Buffer
	write := func() bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime))
		_, err := w.Write(buffer.Bytes())
		buffer.Reset()
		return err == nil && control.Flush() == nil
	}
	begun := false
	begin := func() {
		begun = true
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store, no-transform")
		w.WriteHeader(http.StatusOK)
		s.begin(&buffer)
	}
	if open {
		if begin(); !write() {
			return
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		events, all, ok := s.take(mine)
		if !ok {
			return
		}
		if all && s.seen != nil && len(events) > 0 {
			s.seen(events[len(events)-1].text)
		}
		if all && !begun && len(events) == 1 {
			text := events[0].text
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(text)))
			_ = control.SetWriteDeadline(time.Now().Add(writeTime))
			w.WriteHeader(status(text))
			_, _ = w.Write(text)
			return
		}
		if len(events) > 0 || all && !begun {
			if !begun {
				begin()
			}
			for _, e := range events {
				s.write(&buffer, e)
			}
			if !write() {
				return
			}
		}
		if all {
			return
		}
		if begun {
			timer.Reset(keepAlive)
		}
		select {
		case <-s.wake:
		case <-mine:
		case <-req.Context().Done():
			return
		case <-timer.C:
			if !begun {
				begin()
			} else {
				buffer.WriteString(":\n\n")
			}
			if !write() {
				return
			}
		}
	}
}

// write adds an event to a response.
func (s *stream) write(to *bytes.Buffer, e event) {
	to.WriteString("event: message\n")
	if s.id != "" {
		to.WriteString("id: " + s.id + "-" + strconv.Itoa(e.n) + "\n")
	}
	to.WriteString("data: ")
	to.Write(e.text)
	to.WriteString("\n\n")
}
