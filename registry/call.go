package registry

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"time"

	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// A Pending is a call that was started and may still be under way.
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
	until, end  time.Time   // the deadlines without progress and in all
	reconnected bool        // a session had expired
	sends       int         // how often a session got it
	tries       int         // attempts that failed and were made again, for the headers too
	relisted    bool        // the tools were listed again for it
	stop        func(error) // ends the work under way for it
	inline      bool        // no goroutine goes on with it
	over        bool
	dropped     error     // why its server was dropped, which counts for more than how its session ended
	waits       bool      // for its turn
	placed      bool      // counts as one that runs
	questions   int       // open ones: the deadlines stand still
	askedAt     time.Time // when the first of them was put
}

// Start begins a call as [Registry.Dispatch] does and returns at once. done gets the
// outcome, once, with no lock held, from any goroutine, perhaps before Start returns.
// Where the session is a [Starter] no goroutine waits.
func (r *Registry) Start(call Call, done func(*Result, error)) *Pending {
	if len(call.Arguments) == 0 {
		call.Arguments = []byte("{}")
	}
	p := &Pending{r: r, call: call, done: done}
	ask, err := p.admit()
	switch {
	case err == nil && ask && runtime.GOOS != "js":
		err = p.awaitApproval()
	case err == nil:
		err = p.line()
	}
	if err != nil {
		p.over = true
		done(nil, err)
	}
	return p
}

// line starts the call, or has it wait for its turn: first in, first out. The error is for a
// call that did not start.
func (p *Pending) line() error {
	r := p.r
	r.mu.Lock()
	if p.over {
		r.mu.Unlock()
		return nil
	}
	if !r.hasPlace(p.s) {
		defer r.mu.Unlock()
		if r.closed {
			return ErrClosed
		}
		p.waits = true
		r.calls[p] = struct{}{}
		r.queue = append(r.queue, p)
		if p.call.OnQueue != nil {
			p.call.OnQueue(true)
		}
		return nil
	}
	p.takePlace()
	r.mu.Unlock()
	err := p.begin()
	if err != nil {
		p.leavePlace()
		return err
	}
	p.attempt()
	return nil
}

// hasPlace reports whether a call of the server may start. The caller holds r.mu.
func (r *Registry) hasPlace(s *server) bool {
	most := s.cfg.Concurrency
	if most <= 0 {
		most = r.opts.Limits.CallsPerServer
	}
	return s.running < most && r.running < r.opts.Limits.Calls
}

func (p *Pending) takePlace() {
	p.placed = true
	p.s.running++
	p.r.running++
}

// leavePlace gives the call's place to those that wait for one.
func (p *Pending) leavePlace() {
	r := p.r
	r.mu.Lock()
	if !p.placed {
		r.mu.Unlock()
		return
	}
	p.placed = false
	p.s.running--
	r.running--
	r.mu.Unlock()
	r.advance()
}

// advance sends the calls that have waited and now have a place, the first ones first.
func (r *Registry) advance() {
	for {
		r.mu.Lock()
		i := 0
		for i < len(r.queue) && !r.hasPlace(r.queue[i].s) {
			i++
		}
		if i == len(r.queue) {
			r.mu.Unlock()
			return
		}
		next := r.queue[i]
		r.unqueue(next)
		next.takePlace()
		r.mu.Unlock()
		if next.call.OnQueue != nil {
			next.call.OnQueue(false)
		}
		if err := next.begin(); err != nil {
			next.finish(nil, err, true)
			continue
		}
		next.attempt()
	}
}

// unqueue takes a call out of those that wait. The caller holds r.mu.
func (r *Registry) unqueue(p *Pending) {
	left := r.queue[:0]
	for _, waits := range r.queue {
		if waits != p {
			left = append(left, waits)
		}
	}
	clear(r.queue[len(left):])
	r.queue = left
}

// Stop ends the call, on the server as well, with cause as its error. It does
// nothing once the call is over.
func (p *Pending) Stop(cause error) { p.giveUp(cause, true) }

// CancelCalls ends the calls under way whose ID matches, as [Pending.Stop] does.
func (r *Registry) CancelCalls(matches func(id int) bool) {
	var found []*Pending
	r.mu.Lock()
	for p := range r.calls {
		if matches(p.call.ID) {
			found = append(found, p)
		}
	}
	r.mu.Unlock()
	for _, p := range found {
		p.Stop(context.Canceled)
	}
}

// Inline reports that no goroutine goes on with the call, now that Start has returned.
func (p *Pending) Inline() bool {
	p.r.mu.Lock()
	inline := p.inline
	p.r.mu.Unlock()
	return inline
}

// admit looks the tool up. It returns why the tool cannot be called, or whether the
// user is asked first.
func (p *Pending) admit() (ask bool, err error) {
	r := p.r
	s, tool, override, err := r.find(p.call.Name, p.call.App)
	if err != nil {
		return false, err
	}
	p.s, p.tool = s, tool
	p.call.Arguments = overrideArguments(override, p.call.Arguments)
	if err := r.checkArguments(p.tool, p.call.Arguments); err != nil {
		r.mu.Lock()
		if s.breaker.suspended { // no arguments would do
			err = Because(ErrSuspended, s.lastError)
		}
		r.mu.Unlock()
		return false, p.named(err)
	}
	if ask, err = r.asksUser(p.s, p.tool); err != nil {
		err = p.named(err)
	}
	return ask, err
}

// awaitApproval asks the user in the background and then goes on with the call.
func (p *Pending) awaitApproval() error {
	r := p.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	ctx, cancel := context.WithCancelCause(WithCall(r.ctx, p.call.ID))
	p.stop = cancel
	r.goroutine(func() {
		defer cancel(nil)
		err := p.approve(ctx)
		r.mu.Lock()
		over := p.over
		p.stop = nil
		r.mu.Unlock()
		if over {
			return
		}
		if err == nil {
			err = p.line()
		}
		if err != nil {
			p.finish(nil, err, true)
		}
	})
	return nil
}

// approve asks until the answer concerns the tool as it is.
func (p *Pending) approve(ctx context.Context) error {
	for ask := true; ask; {
		asked := p.tool.Pin
		if err := p.r.askUser(ctx, p.s, p.tool, p.call.Arguments); err != nil {
			return err
		}
		var err error
		if ask, err = p.admit(); err != nil {
			return err
		}
		ask = ask && p.tool.Pin != asked
	}
	return nil
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
	switch {
	case r.closed:
		return ErrClosed
	case p.over:
		return nil // attempt sends nothing
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
	p.until, p.end, p.waits = now.Add(p.idle), now.Add(total), false
	r.calls[p] = struct{}{}
	r.checkDeadlinesBy(now, p.until)
	return nil
}

// named adds the server and the tool to err.
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
		p.finish(nil, onServer(s.name, "connect", err), false)
		return
	}
	if c := s.conn; c != nil {
		n := p.take(c)
		r.mu.Unlock()
		p.send(c, n)
		return
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	p.stop = cancel
	r.goroutine(func() {
		defer cancel(nil)
		p.connectAndSend(ctx)
	})
	r.mu.Unlock()
}

func (p *Pending) connectAndSend(ctx context.Context) {
	r, s := p.r, p.s
	c, err := r.connected(ctx, s)
	if err != nil {
		p.fails(onServer(s.name, "connect", err))
		return
	}
	r.mu.Lock()
	if p.over {
		r.mu.Unlock()
		return
	}
	if !r.conns[c] { // it was closed before this use
		r.mu.Unlock()
		p.attempt()
		return
	}
	n := p.take(c)
	r.mu.Unlock()
	p.send(c, n)
}

// take counts the call as a use of the session, and returns how often a session got
// the call. The caller holds r.mu.
func (p *Pending) take(c *conn) (n int) {
	c.calls++
	p.sends++
	return p.sends
}

// send hands the call to a session that take has counted. The caller holds no lock.
func (p *Pending) send(c *conn, n int) {
	r := p.r
	out := ToolCall{
		ID: p.call.ID, Tool: p.tool.RawName, Def: p.tool.Def, Arguments: p.call.Arguments, Meta: p.call.Meta,
		Detach: p.call.Detach, Long: p.call.Timeout > wire.CallTimeoutMs*time.Millisecond,
		OnProgress: p.progress, OnAsk: p.asking,
	}
	var stop func(error)
	inline := false
	err := safely(func() {
		stop, inline = r.startTool(c.session, out, func(o *ToolOutput, err error) { p.answered(c, o, err) })
	})
	if err != nil {
		p.answered(c, nil, err)
		return
	}
	r.mu.Lock()
	over := p.over
	if !over && p.sends == n {
		p.stop, p.inline = stop, inline
	}
	r.mu.Unlock()
	if over {
		stop(context.Canceled)
	}
}

// startTool runs a call on a session. A goroutine waits where the session blocks.
func (r *Registry) startTool(session Session, call ToolCall, done func(*ToolOutput, error)) (stop func(error), inline bool) {
	if s, ok := session.(Starter); ok {
		return s.StartTool(call, done)
	}
	ctx, cancel := context.WithCancelCause(r.ctx)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		cancel(ErrClosed)
		done(nil, ErrClosed)
		return cancel, false
	}
	r.goroutine(func() {
		defer cancel(nil)
		var output *ToolOutput
		err := guarded(func() (err error) {
			output, err = session.CallTool(ctx, call)
			return err
		})
		done(output, err)
	})
	r.mu.Unlock()
	return cancel, false
}

// answered takes a session's answer to the call, which may be over already.
func (p *Pending) answered(c *conn, output *ToolOutput, err error) {
	r := p.r
	r.mu.Lock()
	expired := r.leave(p.s, c, err)
	again := expired && !p.over && !p.reconnected
	p.reconnected = p.reconnected || expired
	p.stop = nil
	r.mu.Unlock()
	if again {
		r.deliver()
		p.attempt()
		return
	}
	if err != nil {
		p.fails(err)
		return
	}
	p.finish(output, nil, false)
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
		x.Message = text.Visible(x.Message)
		p.call.OnProgress(x)
	}
}

// asking stops the call's clock while a person is asked.
func (p *Pending) asking(open bool) {
	r, now := p.r, time.Now()
	r.mu.Lock()
	if open {
		if p.questions++; p.questions == 1 {
			p.askedAt = now
		}
	} else if p.questions--; p.questions == 0 && !p.over {
		p.until, p.end = now.Add(p.idle), p.end.Add(now.Sub(p.askedAt))
		r.checkDeadlinesBy(now, p.until)
	}
	r.mu.Unlock()
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
		_ = safely(func() { stop(cause) })
	}
}

// finish ends the call, once. It records the outcome in the server's health and calls done.
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
	if err != nil && p.dropped != nil {
		err, byCaller = p.dropped, true
	}
	delete(r.calls, p)
	if p.waits {
		p.waits = false
		r.unqueue(p)
		p.started = r.opts.Clock()
	}
	now := r.opts.Clock()
	took := now.Sub(p.started)
	origin := endpoint.Origin(s.cfg.URL)
	if r.servers[s.name] == s {
		o := undecided
		if !byCaller {
			o = outcomeOf(err)
		}
		if err == nil {
			s.latency = took
		}
		// The caller's own abort and the refusal of one call stay out of the
		// server's health.
		blame := err
		if o != failed {
			blame = nil
		}
		r.attempted(s, p.generation, o, blame, now)
	}
	r.mu.Unlock()
	r.deliver()
	p.leavePlace()
	if err != nil {
		p.done(nil, p.named(err))
		return
	}
	p.done(&Result{
		Server: s.name, Tool: p.tool.RawName, IsError: output.IsError, Duration: took, Payload: output.Result,
		Task: output.Task, Origin: origin, r: r,
	}, nil)
}

// longestWait bounds the time between two checks of the deadlines of calls, so that
// the timer soon ends after the last call.
const longestWait = time.Second

// frozenAfter is the delay of a check after which the program counts as frozen meanwhile.
const frozenAfter = 2 * longestWait

// checkDeadlinesBy has the deadlines of calls checked at then at the latest. One timer
// serves all calls: a call that ends in time never touches it. The caller holds r.mu.
func (r *Registry) checkDeadlinesBy(now, then time.Time) {
	if latest := now.Add(longestWait); latest.Before(then) {
		then = latest
	}
	if !r.deadlineAt.IsZero() && !then.Before(r.deadlineAt) {
		return
	}
	r.deadlineAt = then
	if r.deadlineTimer == nil {
		r.deadlineTimer = time.AfterFunc(then.Sub(now), r.checkDeadlines)
	} else {
		r.deadlineTimer.Reset(then.Sub(now))
	}
}

// checkDeadlines ends the calls that have taken too long.
func (r *Registry) checkDeadlines() {
	var late []*Pending
	now := time.Now()
	r.mu.Lock()
	// The page was in the back/forward cache, or the computer slept. That is not the server's fault.
	frozen := now.Sub(r.deadlineAt) > frozenAfter
	r.deadlineAt = time.Time{}
	var next time.Time
	for p := range r.calls {
		if p.questions > 0 || p.waits {
			continue
		}
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
		r.checkDeadlinesBy(now, next)
	}
	r.mu.Unlock()
	for _, p := range late {
		p.giveUp(errLate, frozen)
	}
}

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
	p.tries++
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
	wait += time.Duration(rand.Float64() * float64(wait/4))
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
