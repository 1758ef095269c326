package bridge

import (
	"context"
	"slices"
	"sync"
)

// maxQueued bounds the calls that wait for a browser. A client has a quarter of them at most.
const maxQueued = 1000

// turns bound the calls that are under way in a browser at once. One client has three quarters of them at most. A turn
// that is free goes to the client that has the fewest, so that a client with many calls does not keep others waiting.
type turns struct {
	max int

	mu      sync.Mutex
	used    int
	held    map[string]int // by client
	waiting []*waiter      // in the order in which they came
}

type waiter struct {
	client string
	ready  chan struct{} // closed when it has its turn
}

func newTurns(max int) *turns { return &turns{max: max, held: make(map[string]int)} }

// take waits for a turn of a client. Each take without an error needs one free.
func (t *turns) take(ctx context.Context, gone <-chan struct{}, client string) error {
	w := &waiter{client, make(chan struct{})}
	if !t.queue(w) {
		return errBusy
	}
	var err error
	select {
	case <-w.ready:
		if ctx.Err() == nil { // both may be ready
			return nil
		}
		err = ctx.Err()
	case <-gone:
		err = errGone
	case <-ctx.Done():
		err = ctx.Err()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := slices.Index(t.waiting, w); i >= 0 {
		t.waiting = slices.Delete(t.waiting, i, i+1)
	} else { // the turn came before or at the same time
		t.release(client)
	}
	return err
}

// queue adds a call to those that wait, or reports that there are too many.
func (t *turns) queue(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	own := 0
	for _, other := range t.waiting {
		if other.client == w.client {
			own++
		}
	}
	if len(t.waiting) >= maxQueued || own >= maxQueued/4 {
		return false
	}
	t.waiting = append(t.waiting, w)
	t.hand()
	return true
}

func (t *turns) free(client string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.release(client)
}

// release takes a turn back, and hands it on. The caller holds mu.
func (t *turns) release(client string) {
	t.used--
	if t.held[client]--; t.held[client] == 0 {
		delete(t.held, client)
	}
	t.hand()
}

// hand gives the free turns to calls that wait. The caller holds mu.
func (t *turns) hand() {
	for t.used < t.max {
		next := -1
		for i, w := range t.waiting {
			if held := t.held[w.client]; held < t.max-t.max/4 && (next < 0 || held < t.held[t.waiting[next].client]) {
				next = i
			}
		}
		if next < 0 {
			return
		}
		w := t.waiting[next]
		t.waiting = slices.Delete(t.waiting, next, next+1)
		t.used++
		t.held[w.client]++
		close(w.ready)
	}
}
