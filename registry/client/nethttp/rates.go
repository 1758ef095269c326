package nethttp

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/portolan-mcp/portolan/registry"
)

// rates are the rate limits of one session for messages that are no responses, on all its
// streams together.
type rates struct {
	messages *rate.Limiter
	requests *rate.Limiter // those messages that want a response
	work     *rate.Limiter // all messages, also dropped ones: ten times as many
	bytes    *rate.Limiter

	mu       sync.Mutex
	dropped  int       // since the last report
	reported time.Time // when the last report was made
}

// maxRates bounds the sessions whose rates are remembered.
const maxRates = 1000

func (p *Platform) ratesOf(session uint32) *rates {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.rates[session]
	if r == nil {
		if len(p.rates) >= maxRates {
			clear(p.rates)
		}
		r = newRates(&p.limits)
		p.rates[session] = r
	}
	return r
}

func newRates(l *registry.Limits) *rates {
	each := func(perSecond int) *rate.Limiter { return rate.NewLimiter(rate.Limit(perSecond), perSecond) }
	return &rates{
		messages: each(l.EventsPerSecond), requests: each(l.PingsPerSecond),
		work: each(10 * l.EventsPerSecond), bytes: each(l.ResponseBytes),
	}
}

// admit reports whether a message may be read; asks says that it wants a response.
func (r *rates) admit(asks bool) bool {
	if r.messages.Allow() && (!asks || r.requests.Allow()) {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dropped++
	return false
}

// report returns how many messages were dropped since the last report, at most once a
// second or, if ends, at once.
func (r *rates) report(ends bool) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.dropped == 0 || !ends && now.Sub(r.reported) < time.Second {
		return 0
	}
	n := r.dropped
	r.dropped, r.reported = 0, now
	return n
}

// excess returns the time to pause reading after so many messages and bytes.
func (r *rates) excess(messages, bytes int) time.Duration {
	now := time.Now()
	wait := time.Duration(0)
	for limiter, n := range map[*rate.Limiter]int{r.work: messages, r.bytes: bytes} {
		if n = min(n, limiter.Burst()); n > 0 {
			wait = max(wait, limiter.ReserveN(now, n).DelayFrom(now))
		}
	}
	return wait
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
