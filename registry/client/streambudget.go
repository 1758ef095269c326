package client

import (
	"context"
	"sync"
)

// Browsers open six connections to an origin over HTTP/1.1, and a stream keeps
// one: the seventh request would wait for ever, without an error. So streams
// that a server can do without stop at two, and those of HTTP+SSE, without
// which there is no session, at four.
const (
	optionalStreams = 2
	neededStreams   = 4
)

// A budget counts open streams by the origin that requests go to, which is the
// proxy's for proxied servers.
type budget struct {
	mu    sync.Mutex
	open  map[string]int
	freed chan struct{} // closed and replaced whenever a stream ends
}

func newBudget() *budget { return &budget{open: map[string]int{}, freed: make(chan struct{})} }

// try takes a place if fewer than limit are taken. It returns what to wait for if not.
func (b *budget) try(origin string, limit int) (ok bool, freed <-chan struct{}) {
	b.mu.Lock()
	if ok = b.open[origin] < limit; ok {
		b.open[origin]++
	}
	freed = b.freed
	b.mu.Unlock()
	return ok, freed
}

// wait takes a place as soon as one is free; false if ctx ended first. It calls waits if none is free now.
func (b *budget) wait(ctx context.Context, origin string, limit int, waits func()) bool {
	for {
		ok, freed := b.try(origin, limit)
		if ok {
			return true
		}
		waits()
		select {
		case <-freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (b *budget) release(origin string) {
	b.mu.Lock()
	if b.open[origin]--; b.open[origin] <= 0 {
		delete(b.open, origin)
	}
	close(b.freed)
	b.freed = make(chan struct{})
	b.mu.Unlock()
}
