package registry

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/portolan-mcp/portolan/registry/wire"
)

// fails ends the call with an error, unless it is sent again.
func (p *Pending) fails(err error) {
	if isRPC(err, CodeHeaderMismatch) && p.listAgain(err) {
		return
	}
	if wait, again := p.mayTryAgain(err); again {
		p.tryAgain(wait, err)
		return
	}
	p.finish(nil, err, false)
}

// listAgain lists the server's tools, whose headers have changed, and sends the call once
// more. It is false if that was done before, or the call is over.
func (p *Pending) listAgain(mismatch error) bool {
	r, s := p.r, p.s
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.over || p.relisted || r.closed {
		return false
	}
	p.relisted = true
	ctx, cancel := context.WithCancelCause(r.ctx)
	p.stop = cancel
	pin := p.tool.Pin
	r.goroutine(func() {
		defer cancel(nil)
		_ = r.Discover(ctx, s.name)
		ask, err := p.admit()
		if err == nil && ask && p.tool.Pin != pin {
			err = mismatch // the user has approved a call of another definition
		}
		if err != nil {
			p.finish(nil, err, true) // the server did answer
			return
		}
		p.attempt()
	})
	return true
}

// The bounds of retries: the longest Retry-After that is waited for, and the first wait
// without one, which doubles.
const (
	maxRetryAfter = 30 * time.Second
	firstWait     = 500 * time.Millisecond
)

// mayTryAgain reports whether the call may be sent again after that error, and when.
func (p *Pending) mayTryAgain(err error) (wait time.Duration, again bool) {
	r := p.r
	r.mu.Lock()
	most := min(p.call.Attempts, wire.MaxAttempts)
	if most == 0 {
		most = p.s.cfg.Attempts
	}
	again = !p.over && p.tries+1 < most && p.s.cfg.Trust == TrustAll && r.reachable(p.s) == nil
	end := p.end
	r.mu.Unlock()
	if !again {
		return 0, false
	}
	wait = firstWait << p.tries
	wait += rand.N(wait / 4)
	status, isStatus := errors.AsType[*StatusError](err)
	switch {
	case isStatus:
		if status.Code != 429 && status.Code != 503 {
			return 0, false
		}
		if said := retryAfter(err); said > 0 {
			wait = said
		}
	case !errors.Is(err, ErrNetwork):
		return 0, false
	}
	return wait, wait <= maxRetryAfter && time.Now().Add(wait).Before(end) && claims(p.tool, "readOnlyHint", "idempotentHint")
}

// tryAgain sends the call again after a while.
func (p *Pending) tryAgain(wait time.Duration, err error) {
	r, now := p.r, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.over {
		return
	}
	p.tries++
	if p.call.OnRetry != nil {
		p.call.OnRetry(p.tries+1, wait, p.named(err))
	}
	p.until, p.inline = now.Add(wait+p.idle), false
	timer := time.AfterFunc(wait, p.attempt)
	p.stop = func(error) { timer.Stop() }
}
