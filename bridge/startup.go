package bridge

import (
	"context"
	"errors"
	"time"
)

// startupWait is how long a bridge that has just begun waits for paired browsers to
// find it: an extension looks every 2 s. MCP clients list tools as soon as they
// have started their server, and some do so once.
const startupWait = 10 * time.Second

// await is choose, but while the bridge settles it waits for a profile to arrive,
// unless the person wants none to.
func (b *Bridge) await(ctx context.Context, profile string) (*link, error) {
	var over <-chan time.Time
	for {
		b.mu.Lock()
		arrival := b.arrival
		b.mu.Unlock()
		l, err := b.choose(profile)
		var none notConnectedError
		if !errors.As(err, &none) || none == errStopped {
			return l, err
		}
		if over == nil {
			left := b.opts.Settle - time.Since(b.started)
			if left <= 0 || !b.mayConnect() {
				return nil, err
			}
			timer := time.NewTimer(left)
			defer timer.Stop()
			over = timer.C
		}
		select {
		case <-arrival:
		case <-over:
			return nil, err
		case <-ctx.Done():
			return nil, err
		}
	}
}

// mayConnect reports whether a browser could come.
func (b *Bridge) mayConnect() bool {
	if b.opts.Ephemeral {
		return true
	}
	s, err := b.store.load()
	return err == nil && len(s.Clients) > 0
}

// arrived wakes those who wait for a profile.
func (b *Bridge) arrived() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.arrival)
	b.arrival = make(chan struct{})
}
