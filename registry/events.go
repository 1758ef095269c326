package registry

// An Event says that the state of the registry has changed. A Snapshot has the new state.
type Event struct {
	// Server is the one that changed, or "" for the registry's own status.
	Server string
	// Tools says that the list of tools offered from Server may have changed,
	// and not only its health.
	Tools bool
	// Minor says that only the time and the latency of the last success changed, as
	// after every call. A user interface may debounce it.
	Minor bool
}

// Subscribe calls fn after every change, one call at a time and in order, with
// no lock held: fn may use the registry. The returned function ends it.
func (r *Registry) Subscribe(fn func(Event)) (cancel func()) {
	r.mu.Lock()
	r.lastSubscriber++
	id := r.lastSubscriber
	r.subscribers[id] = fn
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		delete(r.subscribers, id)
		r.mu.Unlock()
	}
}

// changed notes an event. The caller holds r.mu and calls deliver after unlocking.
func (r *Registry) changed(e Event) {
	r.version++
	r.snapshot = nil
	if n := len(r.pending); n > 0 && r.pending[n-1].Server == e.Server {
		last := &r.pending[n-1]
		last.Tools, last.Minor = last.Tools || e.Tools, last.Minor && e.Minor
		return
	}
	r.pending = append(r.pending, e)
}

// deliver hands pending events to the subscribers, with no lock held. A delivery under
// way takes the events of later calls, which keeps their order.
func (r *Registry) deliver() {
	r.mu.Lock()
	if r.delivering {
		r.mu.Unlock()
		return
	}
	r.delivering = true
	for len(r.pending) > 0 || len(r.saves) > 0 {
		saves := r.saves
		r.saves = nil
		events := r.pending
		r.pending = nil
		ids := make([]int, 0, len(r.subscribers))
		for id := range r.subscribers {
			ids = append(ids, id)
		}
		for _, save := range saves {
			r.mu.Unlock()
			_ = safely(save)
			r.mu.Lock()
		}
		for _, e := range events {
			for _, id := range ids {
				fn := r.subscribers[id]
				if fn == nil {
					continue
				}
				r.mu.Unlock()
				err := safely(func() { fn(e) })
				r.mu.Lock()
				if err != nil {
					r.log("subscriber panicked", "error", err)
				}
			}
		}
	}
	r.delivering = false
	r.mu.Unlock()
}
