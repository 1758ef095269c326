package registry

import (
	"context"
	"time"
)

// pinSlice bounds how long the registry makes pins without a pause: a browser has
// one thread.
const pinSlice = 8 * time.Millisecond

// Pins are made pinDelay after a list, when the host has taken it: both need the
// processor. While Discover lists other servers, they wait for its end, but not longer
// than maxPinDelay.
const (
	pinDelay    = 300 * time.Millisecond
	maxPinDelay = 2 * time.Second
)

// An unpinned is a list that is offered before its pins are made: the first list of an
// endpoint, on whose pins nothing depends yet.
type unpinned struct {
	server  *server
	of      *approved
	list    *listing
	tools   []Tool
	missing []Pinner
	done    chan struct{}
}

// pin fills in the missing pins of a list and returns the list's fingerprint. If the
// fingerprint is that of the approved list, the approved pins are reused, because
// hashing costs more than listing. later reports that pinLater must make them.
func (r *Registry) pin(ctx context.Context, s *server, l *listing, tools []Tool) (print string, later bool) {
	r.mu.Lock()
	a := r.approvedFor(s)
	r.awaitPins(a) // of the list before this one
	later = s.cfg.Trust == TrustAll || !a.Known() && !r.holdsFirst(s)
	r.mu.Unlock()
	missing := withoutPin(tools)
	if later {
		return "", missing != nil
	}
	if missing != nil {
		print = l.fingerprint(ctx)
	}
	r.mu.Lock()
	same, known := a.IsApprovedList(print), a.Known()
	if same {
		for i := range tools {
			if missing[i] != nil {
				tools[i].Pin = a.Pin(tools[i].RawName)
			}
		}
	}
	r.mu.Unlock()
	setPins(tools, makePins(withoutPin(tools)))
	if known && !same {
		r.screen(ctx, a, tools)
	}
	return print, false
}

// screen looks for risks in the tools that are not approved.
func (r *Registry) screen(ctx context.Context, a *approved, tools []Tool) {
	for i := range tools {
		t := &tools[i]
		r.mu.Lock()
		fresh := a.Pin(t.RawName) == ""
		r.mu.Unlock()
		if def, ok := t.Def.(Risky); ok && fresh {
			t.harmless = !def.Risky(ctx)
		}
	}
}

// awaitPins waits until the pins of an endpoint's list are made. The caller holds r.mu,
// which is free meanwhile.
func (r *Registry) awaitPins(a *approved) {
	for a.pinning != nil {
		pinning := a.pinning
		r.pinSoon(0)
		r.mu.Unlock()
		<-pinning
		r.mu.Lock()
	}
}

// awaitAllPins waits until no list of any endpoint is without its pins. The caller holds
// r.mu, which is free meanwhile: lists may arrive.
func (r *Registry) awaitAllPins() {
	for waits := true; waits; {
		waits = false
		for _, a := range r.approved {
			waits = waits || a.pinning != nil
			r.awaitPins(a)
		}
	}
}

// pinLater has the pins of a list made that is offered already. The caller holds r.mu.
func (r *Registry) pinLater(s *server, l *listing, tools []Tool) {
	u := &unpinned{s, r.approvedFor(s), l, tools, withoutPin(tools), make(chan struct{})}
	u.of.pinning = u.done
	r.unpinned = append(r.unpinned, u)
	if len(r.unpinned) == 1 {
		r.pinSoon(maxPinDelay)
	}
	r.pinIfIdle()
}

// pinIfIdle makes the pins of unpinned lists unless Discover goes on. The caller holds r.mu.
func (r *Registry) pinIfIdle() {
	if r.discovering == 0 && len(r.unpinned) > 0 {
		r.pinSoon(pinDelay)
	}
}

// pinSoon makes the pins of all unpinned lists after a while, or when they were wanted
// before if that is sooner. The caller holds r.mu.
func (r *Registry) pinSoon(delay time.Duration) {
	at := time.Now().Add(delay)
	if !r.pinAt.IsZero() && r.pinAt.Before(at) {
		return
	}
	r.pinAt = at
	if r.pinTimer == nil {
		r.pinTimer = time.AfterFunc(delay, r.pinAll)
	} else {
		r.pinTimer.Reset(delay)
	}
}

// pinAll is called by pinTimer.
func (r *Registry) pinAll() {
	r.mu.Lock()
	r.pinAt = time.Time{}
	if lists := r.unpinned; len(lists) > 0 && !r.closed {
		r.unpinned = nil
		r.goroutine(func() { r.pinLists(lists) })
	}
	r.mu.Unlock()
}

// fewTools is the number of tools whose pins Discover makes before it returns.
const fewTools = 100

// takeFew takes the unpinned lists if they have few tools and Discover has ended. The
// caller holds r.mu and calls pinLists.
func (r *Registry) takeFew() []*unpinned {
	lists, tools := r.unpinned, 0
	for _, u := range lists {
		tools += len(u.tools)
	}
	if r.discovering > 0 || tools > fewTools {
		return nil
	}
	r.unpinned = nil
	return lists
}

// pinLists makes the pins of lists, one list after the other, and reviews them. All are
// saved at once.
func (r *Registry) pinLists(lists []*unpinned) {
	defer r.deliver()
	for _, u := range lists {
		_ = safely(func() { r.pinList(u) })
	}
}

func (r *Registry) pinList(u *unpinned) {
	s, pins, print := u.server, []string(nil), "" // u.tools is guarded by r.mu
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		u.of.pinning = nil
		close(u.done)
		if !s.lists(u.tools) {
			return
		}
		setPins(u.tools, pins)
		s.print = print
		held := r.review(s, u.tools)
		if held {
			r.offer(s, u.tools)
		}
		r.changed(Event{Server: s.name, Tools: held || s.cfg.Trust == TrustAll}) // SavePins tells of the others
	}()
	r.mu.Lock()
	current := s.lists(u.tools)
	r.mu.Unlock()
	if current {
		print = u.list.fingerprint(r.ctx)
		pins = makePins(u.missing)
	}
}

// lists reports whether the list is the server's latest and has tools. The registry's lock is held.
func (s *server) lists(tools []Tool) bool {
	return len(s.listed) > 0 && len(tools) > 0 && &s.listed[0] == &tools[0]
}

// withoutPin returns the definitions that have to make the pins of their tools, and
// nil for each other tool. It returns nil if there are none.
func withoutPin(tools []Tool) (missing []Pinner) {
	for i := range tools {
		if def, ok := tools[i].Def.(Pinner); ok && tools[i].Pin == "" {
			if missing == nil {
				missing = make([]Pinner, len(tools))
			}
			missing[i] = def
		}
	}
	return missing
}

// makePins returns the pins of the definitions of withoutPin, and "" for each nil.
func makePins(missing []Pinner) []string {
	pins, began := make([]string, len(missing)), time.Now()
	for i, def := range missing {
		if def == nil {
			continue
		}
		pins[i] = def.Pin()
		if time.Since(began) > pinSlice {
			time.Sleep(time.Millisecond)
			began = time.Now()
		}
	}
	return pins
}

// setPins gives tools the pins of makePins.
func setPins(tools []Tool, pins []string) {
	for i, pin := range pins {
		if pin != "" {
			tools[i].Pin = pin
		}
	}
}
