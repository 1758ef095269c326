//go:build !js

package proxy

import (
	"sync"
	"time"
)

// maxRated bounds the keys that rates counts one by one in a minute.
const maxRated = 10_000

// rates counts requests by key and minute, as the rate limit binding of Workers
// does for the Worker. A token bucket (golang.org/x/time/rate) would refill within
// the minute, and so differ from that binding.
type rates struct {
	mu     sync.Mutex
	minute time.Time
	counts map[string]int
}

// allow counts a request. It returns false if the key had limit requests in this
// minute. Keys beyond maxRated share one count. It may be called from several
// goroutines at once.
func (r *rates) allow(key string, limit int, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if minute := now.Truncate(time.Minute); !minute.Equal(r.minute) {
		r.minute, r.counts = minute, map[string]int{}
	}
	if _, known := r.counts[key]; !known && len(r.counts) >= maxRated {
		key = "" // no request has this key
	}
	r.counts[key]++
	return r.counts[key] <= limit
}
