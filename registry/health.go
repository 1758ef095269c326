package registry

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/portolan-mcp/portolan/registry/wire"
)

// Cooldowns of a suspended server grow from the first to the last value.
const (
	defaultThreshold = wire.FailureThreshold
	defaultCooldown  = wire.CooldownMs * time.Millisecond
	maxCooldown      = 5 * time.Minute
)

// A breaker is the health of one server as a pure state machine: time is passed
// in, nothing is started, and the caller holds a lock.
//
//	closed → (threshold failures in a row) → suspended → (cooldown) → half-open probe → closed
//
// Every change of state begins a new generation. An outcome counts only for the
// generation in which its attempt began, so a slow failure from before a
// recovery cannot suspend the server again.
type breaker struct {
	threshold int
	cooldown  time.Duration
	jitter    func() float64 // uniform in [0,1)

	generation  uint64
	failures    int // in a row
	suspensions int // in a row, without a success between
	suspended   bool
	probing     bool
	retryAt     time.Time
}

func newBreaker(threshold int, cooldown time.Duration) breaker {
	if threshold <= 0 {
		threshold = defaultThreshold
	}
	if cooldown <= 0 {
		cooldown = defaultCooldown
	}
	return breaker{threshold: threshold, cooldown: cooldown, jitter: rand.Float64}
}

// begin asks to start an attempt and returns the generation to report it under.
// A suspended server lets one attempt through once its cooldown is over.
func (b *breaker) begin(now time.Time) (generation uint64, ok bool) {
	if !b.suspended {
		return b.generation, true
	}
	if b.probing || now.Before(b.retryAt) {
		return 0, false
	}
	b.probing = true
	b.generation++
	return b.generation, true
}

// end reports how an attempt went.
func (b *breaker) end(generation uint64, o outcome, now time.Time) {
	if generation != b.generation {
		return
	}
	switch o {
	case succeeded:
		if b.suspended {
			b.generation++
		}
		b.failures, b.suspensions, b.suspended, b.probing = 0, 0, false, false
		b.retryAt = time.Time{}
	case failed, postponed:
		b.failures++
		if b.suspended || o == postponed || b.failures >= b.threshold {
			b.suspend(now)
		}
	case undecided:
		// A probe that proved nothing gives its place to a later one.
		if b.probing {
			b.probing = false
			b.retryAt = now.Add(b.cooldown)
		}
	}
}

func (b *breaker) suspend(now time.Time) {
	longest := b.cooldown << min(b.suspensions, 10)
	if longest > maxCooldown || longest <= 0 {
		longest = max(maxCooldown, b.cooldown)
	}
	wait := b.cooldown + time.Duration(b.jitter()*float64(longest-b.cooldown))
	b.suspended, b.probing = true, false
	b.suspensions++
	b.retryAt = now.Add(wait)
	b.generation++
}

// wake allows a probe at once: the network is back, or the user returned to the page.
func (b *breaker) wake(now time.Time) {
	if b.suspended && !b.probing {
		b.retryAt = now
	}
}

// reset forgets all failures, for a manual retry.
func (b *breaker) reset() {
	b.generation++
	b.failures, b.suspensions, b.suspended, b.probing = 0, 0, false, false
	b.retryAt = time.Time{}
}

// An outcome is the result of one attempt for a server's health.
type outcome int

const (
	succeeded outcome = iota
	failed
	undecided
	postponed // the server says when to try again
)

// outcomeOf returns what an error means for the health of its server.
func outcomeOf(err error) outcome {
	kind, _ := errors.AsType[*sentinel](err)
	status, _ := errors.AsType[*StatusError](err)
	rpc, _ := errors.AsType[*RPCError](err)
	proxy, _ := errors.AsType[*ProxyError](err)
	switch {
	case err == nil:
		return succeeded
	case kind != nil && kind.blameless, errors.Is(err, ErrInvalidArguments), errors.Is(err, context.Canceled):
		return undecided
	case proxy != nil:
		if !proxy.Refused {
			return failed
		}
		return undecided // nobody has asked the server
	case status != nil:
		if status.Code >= 500 {
			return failed
		}
		return undecided // it answers, if not as we would like
	case rpc != nil:
		return succeeded
	}
	return failed
}
