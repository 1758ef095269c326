package api

// maxIdle bounds the goroutines that wait for work.
const maxIdle = 32

// workers run requests on goroutines that are kept: a fresh one has a small
// stack, and growing it costs more than a call does otherwise.
type workers struct {
	work chan func()
	idle chan struct{} // holds a token for each that may wait
}

func newWorkers() workers {
	return workers{work: make(chan func()), idle: make(chan struct{}, maxIdle)}
}

// run runs fn soon, on another goroutine.
func (w *workers) run(fn func()) {
	select {
	case w.work <- fn:
	default:
		go w.serve(fn)
	}
}

func (w *workers) serve(fn func()) {
	for {
		fn()
		select {
		case w.idle <- struct{}{}:
		default:
			return
		}
		next, ok := <-w.work
		<-w.idle
		if !ok {
			return
		}
		fn = next
	}
}

// end lets the idle ones go; nothing may be run after it.
func (w *workers) end() { close(w.work) }
