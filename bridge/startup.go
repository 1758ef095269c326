package bridge

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// startupWait is the default of Options.Settle. An extension looks for the bridge every
// 2 s. MCP clients list tools as soon as the bridge has started, and some list them
// only once.
const startupWait = 10 * time.Second

// await returns the link of a profile, as choose does. During the startup time it waits for
// the profile to connect, unless the person stopped the extension. It waits for as long after
// a browser has left, or has come without its list, also if that was while it waited.
func (b *Bridge) await(ctx context.Context, profile, page string) (*link, error) {
	var over <-chan time.Time
	for waits := 0; ; {
		b.mu.Lock()
		arrival := b.arrival
		b.mu.Unlock()
		l, err := b.choose(profile, page)
		none, ok := errors.AsType[notConnectedError](err)
		if !ok || none == errStopped {
			return l, err
		}
		if over == nil {
			b.mu.Lock()
			wait := b.opts.Settle - time.Since(b.moved)
			b.mu.Unlock()
			if waits++; wait <= 0 || waits > 2 || !b.mayConnect() {
				return nil, err
			}
			over = time.After(wait)
		}
		select {
		case <-arrival:
		case <-over:
			over = nil // a browser may have come meanwhile, and its list follows
		case <-ctx.Done():
			return nil, err
		}
	}
}

// mayConnect reports whether any browser could connect. Pairings that cannot be read may be there.
func (b *Bridge) mayConnect() bool {
	if b.opts.Ephemeral {
		return true
	}
	s, err := b.store.load()
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return len(s.Clients) > 0
}

// arrived wakes the requests that wait for a profile.
func (b *Bridge) arrived() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.arrival)
	b.arrival = make(chan struct{})
}
