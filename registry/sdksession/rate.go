package sdksession

import (
	"sync"
	"time"
)

// A rate admits so many messages of a server each second; the rest is dropped
// before it is decoded. A flood from one server must not starve the others.
type rate struct {
	perSecond int

	mu     sync.Mutex
	second time.Time
	used   int
}

func newRate(perSecond int) *rate { return &rate{perSecond: perSecond} }

// admit says whether a message may pass that weighs so much.
func (r *rate) admit(now time.Time, weight int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.second) >= time.Second {
		r.second, r.used = now, 0
	}
	r.used += weight
	return r.used <= r.perSecond
}
