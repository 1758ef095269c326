package registry

import "context"

// A flight is one piece of work that several callers wait for. It ends early when
// the last of them has left. The registry's lock guards its fields; val and err are
// written once, before done is closed.
type flight[T any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	val     T
	err     error
}

// startFlight starts work on a goroutine of r. The caller holds r.mu and is the first
// waiter. land runs under r.mu with the outcome.
func startFlight[T any](r *Registry, work func(context.Context) (T, error), land func(*flight[T])) *flight[T] {
	ctx, cancel := context.WithCancel(r.ctx)
	f := &flight[T]{done: make(chan struct{}), cancel: cancel}
	r.goroutine(func() {
		defer cancel()
		val, err := guarded(func() (T, error) { return work(ctx) })
		r.mu.Lock()
		f.val, f.err = val, err
		land(f)
		r.mu.Unlock()
		close(f.done)
		r.deliver()
	})
	return f
}

// wait returns the outcome of f, or the cause of ctx if that ends first. The caller
// has counted itself as a waiter and does not hold r.mu.
func (f *flight[T]) wait(ctx context.Context, r *Registry) (T, error) {
	select {
	case <-f.done:
		return f.val, f.err
	case <-ctx.Done():
	}
	r.mu.Lock()
	f.waiters--
	if f.waiters == 0 {
		f.cancel()
	}
	r.mu.Unlock()
	var zero T
	return zero, context.Cause(ctx)
}

// guarded turns a panic of foreign code into an error, so that one server cannot end
// the program.
func guarded[T any](work func() (T, error)) (val T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Because(ErrProtocol, "a fault of Portolan while it handled an answer: "+panicText(p))
		}
	}()
	return work()
}

// safely is guarded for work without a result.
func safely(work func()) error {
	_, err := guarded(func() (struct{}, error) { work(); return struct{}{}, nil })
	return err
}

func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "panic"
}
