package loopback

import (
	"sync"
	"time"
)

// A Backoff delays clients whose proofs failed several times in a row. The zero value
// is ready.
type Backoff struct {
	mu     sync.Mutex
	failed map[string]failures
}

type failures struct {
	count int
	until time.Time
}

const (
	freeFailures = 5
	maxWait      = time.Minute
	maxKept      = 1000 // names; further names share one count
)

// Wait returns how long name has to wait.
func (b *Backoff) Wait(name string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return max(0, b.failed[b.bucket(name)].until.Sub(now))
}

// bucket returns the key under which the failures of name are counted.
func (b *Backoff) bucket(name string) string {
	if _, known := b.failed[name]; !known && len(b.failed) >= maxKept {
		return ""
	}
	return name
}

// Fail counts a failure of name.
func (b *Backoff) Fail(name string, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed == nil {
		b.failed = make(map[string]failures)
	}
	for n, f := range b.failed {
		if now.Sub(f.until) > 10*maxWait {
			delete(b.failed, n)
		}
	}
	name = b.bucket(name)
	f := b.failed[name]
	f.count++
	f.until = now
	if over := f.count - freeFailures; over >= 0 {
		f.until = now.Add(min(maxWait, time.Second<<min(over, 6)))
	}
	b.failed[name] = f
}

// Reset forgets the failures of name.
func (b *Backoff) Reset(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.failed, name)
}
