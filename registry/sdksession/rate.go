package sdksession

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A rate admits so many messages of a server each second; the rest is dropped
// before it is decoded, and counted. A flood from one server must not starve the others.
type rate struct {
	limits registry.Limits
	tell   func(dropped int) // once a second, if any were

	mu     sync.Mutex
	second time.Time
	used   int // messages
	asked  int // of those, requests
	bytes  int
	lost   int // dropped and not told yet
	told   bool
}

func newRate(limits registry.Limits, tell func(dropped int)) *rate {
	return &rate{limits: limits, tell: tell}
}

// begin starts a new second if it is time. The caller holds r.mu.
func (r *rate) begin(now time.Time) {
	if now.Sub(r.second) >= time.Second {
		r.second, r.used, r.asked, r.bytes, r.told = now, 0, 0, 0, false
	}
}

// admit says whether a message may pass; asks says that it wants an answer, which
// costs a POST.
func (r *rate) admit(now time.Time, asks bool) bool {
	r.mu.Lock()
	r.begin(now)
	r.used++
	if asks {
		r.asked++
	}
	fits := r.used <= r.limits.EventsPerSecond && (!asks || r.asked <= r.limits.PingsPerSecond)
	if !fits {
		r.lost++
	}
	r.mu.Unlock()
	if !fits {
		r.report(false)
	}
	return fits
}

// report tells what was dropped, if that is due, or else when a stream ends.
func (r *rate) report(ends bool) {
	r.mu.Lock()
	lost := r.lost
	if lost == 0 || r.told && !ends {
		r.mu.Unlock()
		return
	}
	r.lost, r.told = 0, true
	r.mu.Unlock()
	r.tell(lost)
}

// rest is how long to read nothing, after n more bytes, so that the server cannot send.
func (r *rate) rest(now time.Time, n int) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(now)
	r.bytes += n
	if r.used <= 10*r.limits.EventsPerSecond && r.bytes <= r.limits.ResponseBytes {
		return 0
	}
	return r.second.Add(time.Second).Sub(now)
}

// A calmed reader rests where a server floods it.
type calmed struct {
	io.Reader
	ctx  context.Context
	rate *rate
}

// Read implements [io.Reader].
func (c calmed) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if d := c.rate.rest(time.Now(), n); d > 0 && err == nil {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.ctx.Done():
		}
	}
	return n, err
}
