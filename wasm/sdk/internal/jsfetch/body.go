//go:build js

package jsfetch

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/hack-pad/safejs"
)

var errClosed = errors.New("read on a closed body")

// A body streams a response. Closing it, or the end of the request's context,
// aborts the request: a body that is only dropped keeps its connection.
type body struct {
	ctx    context.Context
	reader safejs.Value
	abort  *aborter
	stop   func() bool
	closed chan struct{}
	once   sync.Once

	pending []byte // read by the one goroutine that calls Read
	err     error
}

// newBody starts to stream the body of a fetch Response.
func newBody(ctx context.Context, response safejs.Value, abort *aborter) (io.ReadCloser, error) {
	stream, err := response.Get("body")
	if err != nil {
		return nil, err
	}
	if stream.IsNull() || stream.IsUndefined() {
		return io.NopCloser(eof{}), nil
	}
	reader, err := stream.Call("getReader")
	if err != nil {
		return nil, err
	}
	b := &body{ctx: ctx, reader: reader, abort: abort, closed: make(chan struct{})}
	b.stop = context.AfterFunc(ctx, func() { b.Close() })
	return b, nil
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(b.pending) == 0 {
		if b.err == nil {
			b.fill()
		}
		if b.err != nil {
			return 0, b.err
		}
	}
	n := copy(p, b.pending)
	b.pending = b.pending[n:]
	return n, nil
}

// fill reads the next chunk, or sets err for good.
func (b *body) fill() {
	select {
	case <-b.closed:
		b.err = b.ended()
		return
	default:
	}
	promise, err := b.reader.Call("read")
	if err != nil {
		b.err = err
		return
	}
	select {
	case <-b.closed:
		b.err = b.ended()
	case s := <-await(promise):
		if s.err == nil {
			b.pending, s.err = chunk(s.value)
		}
		if b.err = s.err; s.err != nil && b.isClosed() {
			b.err = b.ended()
		} else if s.err == io.EOF {
			b.stop()
		}
	}
}

// chunk copies what a reader's read resolved to; io.EOF if that was the end.
func chunk(result safejs.Value) ([]byte, error) {
	done, err := result.Get("done")
	if err != nil {
		return nil, err
	}
	if isDone, err := done.Bool(); err != nil || isDone {
		return nil, io.EOF
	}
	value, err := result.Get("value")
	if err != nil {
		return nil, err
	}
	n, err := value.Length()
	if err != nil {
		return nil, err
	}
	p := make([]byte, n)
	_, err = safejs.CopyBytesToGo(p, value)
	return p, err
}

func (b *body) isClosed() bool {
	select {
	case <-b.closed:
		return true
	default:
		return false
	}
}

func (b *body) ended() error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	return errClosed
}

// Close implements [io.Closer]. It may be called while another goroutine reads.
func (b *body) Close() error {
	b.once.Do(func() {
		b.stop()
		close(b.closed)
		if promise, err := b.reader.Call("cancel"); err == nil {
			await(promise) // a rejection that nobody handles ends a Node process
		}
		b.abort.abort()
	})
	return nil
}
