package registry

import (
	"context"
	"time"
)

// A Pending is a call that was started and has perhaps not ended yet.
type Pending struct {
	r    *Registry
	s    *server
	tool *Tool
	call Call
	done func(*Result, error)

	generation uint64    // of the server's breaker
	started    time.Time // by the registry's clock
	idle       time.Duration

	// Guarded by the registry's lock.
	until, end time.Time   // when it has gone without progress for too long, and has taken too long in all
	sends      int         // how often it was handed to a session
	stop       func(error) // ends what is under way for it
	over       bool
}

// Start begins what [Registry.Dispatch] does and returns at once. done hears
// how it went, once, with no lock held, from any goroutine, perhaps before
// Start has returned. Where the session is a [Starter] no goroutine waits.
func (r *Registry) Start(call Call, done func(*Result, error)) *Pending {
	if len(call.Arguments) == 0 {
		call.Arguments = []byte("{}")
	}
	p := &Pending{r: r, call: call, done: done}
	ask, err := p.admit()
	switch {
	case err == nil && ask:
		err = p.await()
	case err == nil:
		err = p.begin()
		if err == nil {
			p.attempt()
		}
	}
	if err != nil {
		p.over = true
		done(nil, err)
	}
	return p
}

// Stop ends the call, on the server as well, with cause as its error. It does
// nothing once the call is over.
func (p *Pending) Stop(cause error) { p.giveUp(cause, true) }

// admit looks the tool up, says why it cannot be called, if so, and whether the user is to be asked.
func (p *Pending) admit() (ask bool, err error) {
	r := p.r
	s, tool, err := r.find(p.call.Name)
	if err != nil {
		return false, err
	}
	p.s, p.tool = s, tool
	if err := r.checkArguments(p.tool, p.call.Arguments); err != nil {
		return false, p.named(err)
	}
	if ask, err = r.asks(p.s, p.tool); err != nil {
		err = p.named(err)
	}
	return ask, err
}

// begin starts the call's clock, unless its server is suspended.
func (p *Pending) begin() error {
	r := p.r
	total := r.opts.CallTimeout
	p.idle = min(r.opts.IdleTimeout, total)
	if own := p.call.Timeout; own > 0 {
		total, p.idle = own, own
	}
	now := time.Now()

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	s := p.s
	p.started = r.opts.Clock()
	var ok bool
	if p.generation, ok = s.breaker.begin(p.started); !ok {
		return p.named(Because(ErrSuspended, s.lastError))
	}
	if stale := s.staleAt; !stale.IsZero() && p.started.After(stale) {
		s.staleAt = time.Time{}
		r.refreshSoon(s)
	}
	p.until, p.end = now.Add(p.idle), now.Add(total)
	r.calls[p] = struct{}{}
	r.watch(now, p.until)
	return nil
}

// named says in err which call it was.
func (p *Pending) named(err error) error { return onServer(p.s.name, "call "+p.tool.RawName, err) }

// attempt sends the call on the server's session, connecting first if need be.
func (p *Pending) attempt() {
	r, s := p.r, p.s
	r.mu.Lock()
	if p.over {
		r.mu.Unlock()
		return
	}
	if err := r.reachable(s); err != nil {
		r.mu.Unlock()
		p.finish(nil, &ServerError{s.name, "connect", err}, false)
		return
	}
	if c := s.conn; c != nil {
		p.send(c)
		return
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	p.stop = cancel
	r.goroutine(func() {
		defer cancel(nil)
		c, err := r.connected(ctx, s)
		if err != nil {
			p.finish(nil, &ServerError{s.name, "connect", err}, false)
			return
		}
		r.mu.Lock()
		if p.over {
			r.mu.Unlock()
			return
		}
		p.send(c)
	})
	r.mu.Unlock()
}

// send hands the call to a session. The caller holds r.mu, which is unlocked.
func (p *Pending) send(c *conn) {
	r := p.r
	c.calls++
	p.sends++
	n := p.sends
	r.mu.Unlock()
	out := ToolCall{ID: p.call.ID, Tool: p.tool.RawName, Def: p.tool.Def, Arguments: p.call.Arguments, OnProgress: p.progress}
	stop, err := guarded(func() (func(error), error) {
		return r.startTool(c.session, out, func(o *ToolOutput, err error) { p.answered(c, o, err) }), nil
	})
	if err != nil {
		p.answered(c, nil, err)
		return
	}
	r.mu.Lock()
	over := p.over
	if !over && p.sends == n {
		p.stop = stop
	}
	r.mu.Unlock()
	if over {
		stop(context.Canceled)
	}
}

// startTool runs a call on any session: a goroutine waits for those that block.
func (r *Registry) startTool(session Session, call ToolCall, done func(*ToolOutput, error)) (stop func(error)) {
	if s, ok := session.(Starter); ok {
		return s.StartTool(call, done)
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		cancel(ErrClosed)
		done(nil, ErrClosed)
		return cancel
	}
	r.goroutine(func() {
		defer cancel(nil)
		done(guarded(func() (*ToolOutput, error) { return session.CallTool(ctx, call) }))
	})
	r.mu.Unlock()
	return cancel
}

// answered takes what a session says of the call, be it over or not.
func (p *Pending) answered(c *conn, output *ToolOutput, err error) {
	r := p.r
	r.mu.Lock()
	expired := r.leave(p.s, c, err)
	again := expired && !p.over && p.sends == 1
	p.stop = nil
	r.mu.Unlock()
	if again {
		r.deliver()
		p.attempt()
		return
	}
	p.finish(output, err, false)
}

// progress gives the call more time.
func (p *Pending) progress(x Progress) {
	r := p.r
	r.mu.Lock()
	over := p.over
	if !over {
		p.until = time.Now().Add(p.idle)
	}
	r.mu.Unlock()
	if !over && p.call.OnProgress != nil {
		x.Message = visible(x.Message)
		p.call.OnProgress(x)
	}
}

// giveUp ends the call without waiting for its session.
func (p *Pending) giveUp(cause error, byCaller bool) {
	r := p.r
	r.mu.Lock()
	stop := p.stop
	p.stop = nil
	over := p.over
	r.mu.Unlock()
	if over {
		return
	}
	p.finish(nil, cause, byCaller)
	if stop != nil {
		_, _ = guarded(func() (struct{}, error) { stop(cause); return struct{}{}, nil })
	}
}

// finish ends the call, once: for the server's health, and for whoever started it.
func (p *Pending) finish(output *ToolOutput, err error, byCaller bool) {
	if err == nil && output == nil {
		err = Because(ErrProtocol, "the session returned no result")
	}
	r, s := p.r, p.s
	r.mu.Lock()
	if p.over {
		r.mu.Unlock()
		return
	}
	p.over = true
	delete(r.calls, p)
	now := r.opts.Clock()
	took := now.Sub(p.started)
	origin := originOf(s.cfg.URL)
	if r.servers[s.name] == s {
		o := undecided
		if !byCaller {
			o = judge(err)
		}
		if err == nil {
			s.latency = took
		}
		// What is not about the server stays out of its health: the caller's own
		// abort, and refusals of one call.
		blame := err
		if o != failed {
			blame = nil
		}
		r.attempted(s, p.generation, o, blame, now)
	}
	r.mu.Unlock()
	r.deliver()
	if err != nil {
		p.done(nil, p.named(err))
		return
	}
	p.done(&Result{Server: s.name, Tool: p.tool.RawName, IsError: output.IsError, Duration: took, Payload: output.Result, Origin: origin, r: r}, nil)
}

// longestLook is how long the registry goes at most without looking at the
// calls under way, so that no timer outlives them for long.
const longestLook = time.Second

// watch has the calls looked at by then at the latest. One timer serves all of
// them: a call that ends in time never touches it. The caller holds r.mu.
func (r *Registry) watch(now, then time.Time) {
	if latest := now.Add(longestLook); latest.Before(then) {
		then = latest
	}
	if !r.lookAt.IsZero() && !then.Before(r.lookAt) {
		return
	}
	r.lookAt = then
	if r.lookTimer == nil {
		r.lookTimer = time.AfterFunc(then.Sub(now), r.look)
	} else {
		r.lookTimer.Reset(then.Sub(now))
	}
}

// look ends the calls that have taken too long.
func (r *Registry) look() {
	var late []*Pending
	now := time.Now()
	r.mu.Lock()
	r.lookAt = time.Time{}
	var next time.Time
	for p := range r.calls {
		then := p.until
		if p.end.Before(then) {
			then = p.end
		}
		if !now.Before(then) {
			late = append(late, p)
		} else if next.IsZero() || then.Before(next) {
			next = then
		}
	}
	if !next.IsZero() {
		r.watch(now, next)
	}
	r.mu.Unlock()
	for _, p := range late {
		p.giveUp(context.DeadlineExceeded, false)
	}
}
