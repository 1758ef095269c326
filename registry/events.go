package registry

import (
	"context"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

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

// A LogEntry is one notifications/message of a server (until 2025-11-25). Its texts are the
// server's words, untrusted.
type LogEntry struct {
	Server string
	At     time.Time
	Level  string // one of [wire.LogLevels]
	Logger string // may be ""
	Text   string // of the data, at most Limits.MessageBytes
	// Dropped, if not 0, says that so many messages came too fast, in place of a text.
	Dropped int
}

// maxLogs bounds the entries that are kept of one server.
const maxLogs = 500

// Logs returns the last entries of the named servers, or of all, oldest first. They have at
// least that level; "" is the least.
func (r *Registry) Logs(level string, servers ...string) []LogEntry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var logs [][]LogEntry // of each server, oldest first
	for name, s := range r.servers {
		if len(servers) == 0 || slices.Contains(servers, name) {
			logs = append(logs, s.logs)
		}
	}
	var all []LogEntry
	least := slices.Index(wire.LogLevels, level)
	for {
		var oldest *[]LogEntry
		for i := range logs {
			if l := &logs[i]; len(*l) > 0 && (oldest == nil || (*l)[0].At.Before((*oldest)[0].At)) {
				oldest = l
			}
		}
		if oldest == nil {
			return all
		}
		if e := (*oldest)[0]; slices.Index(wire.LogLevels, e.Level) >= least {
			all = append(all, e)
		}
		*oldest = (*oldest)[1:]
	}
}

// SubscribeLogs calls fn with each further entry until the returned function is called. It
// holds no lock, and several goroutines may call fn at once. fn must not block. From then on
// servers may write at any time, not only during calls.
func (r *Registry) SubscribeLogs(fn func(LogEntry)) (cancel func()) {
	r.mu.Lock()
	r.lastSubscriber++
	id := r.lastSubscriber
	r.logListeners[id] = fn
	for _, s := range r.servers {
		if s.conn != nil {
			r.followLater(s)
		}
	}
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		delete(r.logListeners, id)
		r.mu.Unlock()
	}
}

// logged keeps an entry and returns a function that reports it to subscribers. The caller holds r.mu.
func (r *Registry) logged(s *server, e LogEntry) (report func()) {
	e.Server, e.At = s.name, r.opts.Clock()
	if !slices.Contains(wire.LogLevels, e.Level) {
		e.Level = "info"
	}
	e.Text, e.Logger = r.shown(s, e.Text), r.shown(s, e.Logger)
	if last := len(s.logs) - 1; e.Dropped > 0 && last >= 0 && s.logs[last].Dropped > 0 {
		e.Dropped += s.logs[last].Dropped
		s.logs = s.logs[:last]
	}
	if len(s.logs) >= maxLogs {
		s.logs = append(s.logs[:0], s.logs[len(s.logs)-maxLogs+1:]...)
	}
	s.logs = append(s.logs, e)
	var fns []func(LogEntry)
	for _, fn := range r.logListeners {
		fns = append(fns, fn)
	}
	return func() {
		for _, fn := range fns {
			_ = safely(func() { fn(e) })
		}
	}
}

// setLogLevel tells a session the level of the configuration, in the background, and has it
// report messages. The caller holds r.mu.
func (r *Registry) setLogLevel(s *server) {
	level := s.cfg.LogLevel
	if level == "" || s.conn == nil {
		return
	}
	r.followLater(s)
	c := s.conn
	r.background(s, func(ctx context.Context) {
		o, err := offerer(ctx, c, "logging")
		if err == nil {
			params := append(rawjson.AppendString([]byte(`{"level":`), level), '}')
			_, err = readAll(o.Ask(ctx, Request{Method: "logging/setLevel", Params: params}))
		}
		if err != nil {
			r.log("no log level", "server", s.name, "error", err)
		}
	})
}
