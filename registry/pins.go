package registry

import (
	"context"
	"time"
)

// manyTools is the length above which the first list of a server is offered before
// its pins are made. Nothing depends on them yet.
const manyTools = 100

// pinSlice bounds how long the registry makes pins without a pause: a browser has
// one thread.
const pinSlice = 8 * time.Millisecond

// pin fills in the missing pins of a list and returns the list's fingerprint. If the
// fingerprint is that of the approved list, the approved pins are reused, because
// hashing costs more than listing. later reports that pinLater must make them.
func (r *Registry) pin(ctx context.Context, s *server, l *listing, tools []Tool) (print string, later bool) {
	r.mu.Lock()
	a := r.approvedFor(s)
	for a.pinning != nil { // the pins of the list before this one
		pinning := a.pinning
		r.mu.Unlock()
		<-pinning
		r.mu.Lock()
	}
	first := !a.Known() && s.cfg.Trust != AskAlways && s.cfg.Trust != TrustAll
	r.mu.Unlock()
	missing := withoutPin(tools)
	if missing == nil || first && len(tools) > manyTools {
		return "", missing != nil
	}
	print = l.fingerprint(ctx)
	r.mu.Lock()
	if a.IsApprovedList(print) {
		for i := range tools {
			if missing[i] != nil {
				tools[i].Pin = a.Pin(tools[i].RawName)
			}
		}
	}
	r.mu.Unlock()
	makePins(tools, withoutPin(tools))
	return print, false
}

// pinLater makes the pins of a list that is offered already, and then reviews it.
// The caller holds r.mu.
func (r *Registry) pinLater(s *server, l *listing, tools []Tool) {
	a, missing := r.approvedFor(s), withoutPin(tools)
	done := make(chan struct{})
	a.pinning = done
	r.goroutine(func() {
		made := make([]Tool, len(tools)) // tools itself is guarded by r.mu
		print := ""
		defer r.deliver()
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			a.pinning = nil
			close(done)
			if len(s.listed) == 0 || &s.listed[0] != &tools[0] {
				return // the list was replaced or removed
			}
			for i, def := range missing {
				if def != nil {
					tools[i].Pin = made[i].Pin
				}
			}
			s.print = print
			held := r.review(s, tools)
			if held {
				r.offer(s, tools)
			}
			r.changed(Event{Server: s.name, Tools: held})
		}()
		print = l.fingerprint(r.ctx)
		makePins(made, missing)
	})
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

// makePins sets the pins of tools from the definitions of withoutPin.
func makePins(tools []Tool, missing []Pinner) {
	began := time.Now()
	for i, def := range missing {
		if def == nil {
			continue
		}
		tools[i].Pin = def.Pin()
		if time.Since(began) > pinSlice {
			time.Sleep(time.Millisecond)
			began = time.Now()
		}
	}
}
