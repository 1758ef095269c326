package registry

import (
	"context"
	"sync"
	"time"
)

// A callDeadline ends a call that takes too long in all, or too long without progress.
type callDeadline struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   time.Duration

	mu     sync.Mutex
	end    time.Time // of the whole call
	timer  *time.Timer
	closed bool
}

// newCallDeadline starts the clock. own, the call's own timeout, replaces the
// total and, if it is shorter or the only one given, the idle time.
func newCallDeadline(parent context.Context, total, idle, own time.Duration) *callDeadline {
	if own > 0 {
		total, idle = own, own
	}
	d := &callDeadline{idle: min(idle, total), end: time.Now().Add(total)}
	d.ctx, d.cancel = context.WithCancelCause(parent)
	d.timer = time.AfterFunc(d.idle, func() { d.cancel(context.DeadlineExceeded) })
	return d
}

// progress wraps fn so that each report gives the call more time.
func (d *callDeadline) progress(fn func(Progress)) func(Progress) {
	return func(p Progress) {
		d.mu.Lock()
		if !d.closed {
			d.timer.Reset(max(0, min(d.idle, time.Until(d.end))))
		}
		d.mu.Unlock()
		if fn != nil {
			fn(p)
		}
	}
}

// explain tells a deadline of ours from a cancellation by the caller.
func (d *callDeadline) explain(err error) error {
	if err != nil && d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	return err
}

func (d *callDeadline) stop() {
	d.mu.Lock()
	d.closed = true
	d.timer.Stop()
	d.mu.Unlock()
	d.cancel(nil)
}
