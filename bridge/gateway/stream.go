package gateway

import (
	"bytes"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A stream is the response to one HTTP request, while messages for it may come. Messages
// wait in its queue. The goroutine of the request writes them.
type stream struct {
	limit int // messages that may wait, beside the answer
	wake  chan struct{}
	seen  func(answer []byte) // gets the last message, before it is written; may be nil

	mu    sync.Mutex
	queue [][]byte
	ended bool // no message follows those in the queue
	left  bool // nobody reads it any more
}

func newStream(limit int) *stream { return &stream{limit: limit, wake: make(chan struct{}, 1)} }

// put queues a message. It returns false if the stream has ended or too many wait.
func (s *stream) put(text []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.left || len(s.queue) >= s.limit {
		return false
	}
	s.queue = append(s.queue, text)
	s.wakeUp()
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
		s.queue = append(s.queue, last)
	}
	s.wakeUp()
}

func (s *stream) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// leave drops what waits: the client has gone.
func (s *stream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.queue = true, nil
}

// take returns what waits, and whether that is all.
func (s *stream) take() (messages [][]byte, all bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	messages, s.queue = s.queue, nil
	return messages, s.ended
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
	defer s.leave()
	control := http.NewResponseController(w)
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }() // the connection goes on
	var buffer bytes.Buffer
	write := func() bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime))
		_, err := w.Write(buffer.Bytes())
		buffer.Reset()
		return err == nil && control.Flush() == nil
	}
	begin := func() {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store, no-transform")
		w.WriteHeader(http.StatusOK)
		buffer.WriteString(": ok\n\n")
	}
	begun := open
	if begun {
		if begin(); !write() {
			return
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		messages, all := s.take()
		if all && s.seen != nil && len(messages) > 0 {
			s.seen(messages[len(messages)-1])
		}
		if all && !begun && len(messages) == 1 {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(messages[0])))
			_ = control.SetWriteDeadline(time.Now().Add(writeTime))
			w.WriteHeader(status(messages[0]))
			_, _ = w.Write(messages[0])
			return
		}
		if len(messages) > 0 || all && !begun {
			if !begun {
				begin()
			}
			begun = true
			for _, m := range messages {
				buffer.WriteString("event: message\ndata: ")
				buffer.Write(m)
				buffer.WriteString("\n\n")
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
		case <-req.Context().Done():
			return
		case <-timer.C:
			if !begun {
				begin()
				begun = true
			} else {
				buffer.WriteString(":\n\n")
			}
			if !write() {
				return
			}
		}
	}
}
