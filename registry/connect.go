package registry

import (
	"context"
	"errors"
	"strconv"
	"time"
)

// A conn is one session in use. The registry's lock guards its fields.
type conn struct {
	session Session
	calls   int  // under way
	retired bool // closes when calls is 0; or it has ended while it opened
	over    bool // Retry has replaced it, or its server has forgotten it: a list of it is read again
	pings   *time.Timer
}

// connected returns the server's live session, or connects: one attempt at a
// time, shared by all who wait for it.
func (r *Registry) connected(ctx context.Context, s *server) (*conn, error) {
	r.mu.Lock()
	if err := r.reachable(s); err != nil {
		r.mu.Unlock()
		return nil, err
	}
	if c := s.conn; c != nil {
		r.mu.Unlock()
		return c, nil
	}
	f := s.connecting
	if f == nil || f.waiters == 0 {
		if err := r.tryOnce(s); err != nil {
			r.mu.Unlock()
			return nil, err
		}
		f = r.connect(s)
	}
	f.waiters++
	r.mu.Unlock()
	r.deliver()
	return f.wait(ctx, r)
}

// triesTime is how long a try to connect counts for Limits.Connects.
const triesTime = 10 * time.Second

// tryOnce counts a try to connect, or says that there were too many. The caller holds r.mu.
func (r *Registry) tryOnce(s *server) error {
	now, most := r.opts.Clock(), r.opts.Limits.Connects
	for len(s.tries) > 0 && now.Sub(s.tries[0]) >= triesTime {
		s.tries = s.tries[1:]
	}
	if len(s.tries) >= most {
		return Because(ErrSuspended, "it was connected to "+strconv.Itoa(most)+" times in 10 s")
	}
	s.tries = append(s.tries, now)
	return nil
}

// reachable says why a server cannot be contacted now, or nil.
func (r *Registry) reachable(s *server) error {
	switch {
	case r.closed:
		return ErrClosed
	case r.servers[s.name] != s:
		return ErrUnknownServer
	case s.cfg.Disabled:
		return ErrDisabled
	}
	return nil
}

// connect starts the one attempt. The caller holds r.mu and waits for the flight.
func (r *Registry) connect(s *server) *flight {
	cfg, timeout := s.cfg.clone(), r.timeout(s)
	c := &conn{}
	s.connecting = r.startFlight(func(ctx context.Context) (*conn, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, timeout, errLate)
		defer cancel()
		if err := r.loadPins(s); err != nil {
			return nil, err
		}
		session, err := r.opts.Connect(ctx, s.name, cfg, func(n Notice) { r.notified(s, c, n) })
		if err == nil && session == nil {
			err = Because(ErrProtocol, "Connect returned no session")
		}
		c.session = session
		return c, err
	}, func(f *flight) {
		if f.err == nil {
			r.conns[c] = true
		}
		if s.connecting != f {
			r.hangUp(c)
			f.err = s.dropCause
			return
		}
		s.connecting = nil
		if c.retired {
			r.hangUp(c) // those who wait connect again
		} else if f.err == nil {
			s.conn = c
			r.informed(s)
			r.pingLater(s, c)
			s.lastConnected = r.opts.Clock()
			if !r.follows(s).equal(Following{}) {
				r.followLater(s)
			}
			r.setLogLevel(s)
			r.log("connected", "server", s.name, "version", s.info.ProtocolVersion)
			if s.refreshing == nil && !r.opts.Clock().Before(s.staleAt) {
				r.refreshSoon(s) // the list of an earlier session may be outdated
			}
		}
		r.changed(Event{Server: s.name})
	})
	r.changed(Event{Server: s.name})
	return s.connecting
}

// timeout is how long connecting and listing may take, each. The caller holds r.mu.
func (r *Registry) timeout(s *server) time.Duration {
	if s.cfg.Timeout > 0 {
		return s.cfg.Timeout
	}
	return r.opts.Timeout
}

// retire replaces the session c: later calls connect again, and calls under way may
// end on c. The caller holds r.mu.
func (r *Registry) retire(s *server, c *conn) {
	if c == nil || s.conn != c {
		return
	}
	s.conn = nil
	c.retired = true
	if c.calls == 0 {
		r.hangUp(c)
	}
	r.changed(Event{Server: s.name})
	r.watchAgain(s)
}

// hangUp closes a session, once, in the background: closing takes a round trip. The
// caller holds r.mu.
func (r *Registry) hangUp(c *conn) {
	if !r.conns[c] {
		return
	}
	delete(r.conns, c)
	c.stopPings()
	r.goroutine(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		_ = safely(func() { _ = c.session.Close(ctx) })
	})
}

// withSession runs work on a live session of s. If the session has expired, it runs
// work once more on a new one, or each time after a while: a task outlives sessions.
// A session that [Registry.Retry] has replaced does not count.
func (r *Registry) withSession(ctx context.Context, s *server, work func(*conn) error) error {
	for retried := false; ; {
		began := r.opts.Clock()
		c, err := r.connected(ctx, s)
		if err != nil {
			return onServer(s.name, "connect", err)
		}
		r.mu.Lock()
		if !r.conns[c] { // it was closed before this use
			r.mu.Unlock()
			continue
		}
		c.calls++
		r.mu.Unlock()
		err = guarded(func() error { return work(c) })
		r.mu.Lock()
		replaced := c.over
		expired := r.leave(s, c, err)
		r.mu.Unlock()
		r.deliver()
		if !expired || retried && r.opts.Clock().Sub(began) < triesTime {
			return err
		}
		retried = !replaced
	}
}

// leave ends one use of a session. It reports whether err says that the session has
// expired, and then retires it. The caller holds r.mu.
func (r *Registry) leave(s *server, c *conn, err error) (expired bool) {
	c.calls--
	if c.retired && c.calls == 0 {
		r.hangUp(c)
	}
	expired = errors.Is(err, ErrSessionExpired)
	if expired && !r.closed {
		c.over = true
		r.retire(s, c)
	}
	return expired
}

// notified handles a notice of a session.
func (r *Registry) notified(s *server, c *conn, n Notice) {
	var tell func()
	r.mu.Lock()
	if !r.closed && s.conn == c {
		if n.Err != nil {
			s.lastError = r.shown(s, n.Err.Error())
			c.over = errors.Is(n.Err, ErrSessionExpired)
			r.retire(s, c)
		} else if n.ToolsChanged {
			r.refreshSoon(s)
		} else if n.PromptsChanged {
			r.outdate(s, promptList)
		} else if n.ResourcesChanged {
			r.outdate(s, resourceList, templateList)
		} else if n.Informed {
			r.informed(s)
			r.changed(Event{Server: s.name})
		} else if n.Updated != "" {
			r.updated(s, n.Updated)
		} else if n.Log != nil {
			tell = r.logged(s, *n.Log)
		} else if n.Dropped > 0 {
			s.dropped += n.Dropped
			tell = r.logged(s, LogEntry{Level: "warning", Dropped: n.Dropped})
			r.changed(Event{Server: s.name, Minor: true})
		}
	} else if n.Err != nil {
		c.retired = true
	}
	r.mu.Unlock()
	r.deliver()
	if tell != nil {
		tell()
	}
}

// refreshInterval is the shortest time between two lists that the registry starts itself.
const refreshInterval = time.Second

// refreshSoon lists the server's tools in the background, at most once per
// refreshInterval. The caller holds r.mu.
func (r *Registry) refreshSoon(s *server) {
	if s.refreshing != nil {
		s.again = true // the list under way may be from before the change
		return
	}
	if s.refreshTimer != nil {
		return
	}
	wait := s.refreshedAt.Add(refreshInterval).Sub(r.opts.Clock())
	s.refreshTimer = time.AfterFunc(max(wait, 0), func() {
		r.mu.Lock()
		r.refreshNow(s)
		r.mu.Unlock()
		r.deliver()
	})
}

// refreshNow runs when the timer of refreshSoon fires. The attempt begins at once, so
// that a notice of the same moment finds it under way. The caller holds r.mu.
func (r *Registry) refreshNow(s *server) {
	if s.refreshTimer == nil || r.reachable(s) != nil {
		return
	}
	s.refreshTimer = nil
	_, _ = r.refreshing(s) // the waiter that it counts never leaves, so that the attempt runs to its end
}

// autoRefresh contacts a server that was just added, changed or switched on,
// once the host has begun to discover, or if its resources are watched. The caller holds r.mu.
func (r *Registry) autoRefresh(s *server) {
	if (r.discovered || len(s.watched) > 0) && !s.cfg.Disabled {
		r.refreshSoon(s)
	}
}

// pingLater pings a session that has been idle for [ServerConfig.Ping], again and again
// (basic/utilities/ping). Versions from 2026-07-28 on have no sessions. The caller holds r.mu.
func (r *Registry) pingLater(s *server, c *conn) {
	every := s.cfg.Ping
	if _, ok := c.session.(Offerer); !ok || every <= 0 || s.info.ProtocolVersion >= "2026" {
		return
	}
	c.pings = time.AfterFunc(every, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed || s.conn != c || c.pings == nil {
			return
		}
		if c.calls > 0 || r.offline {
			c.pings.Reset(every)
			return
		}
		r.background(s, func(ctx context.Context) { r.ping(ctx, s, c, every) })
	})
}

// ping asks for a sign of life, such as an error of JSON-RPC. A session that gives none is replaced by the next call.
func (r *Registry) ping(ctx context.Context, s *server, c *conn, every time.Duration) {
	_, err := readAll(c.session.(Offerer).Ask(ctx, Request{Method: "ping", Params: []byte("{}")}))
	r.mu.Lock()
	if s.conn == c && !r.closed && c.pings != nil {
		if outcomeOf(err) != succeeded && r.ctx.Err() == nil {
			r.log("no answer to a ping", "server", s.name, "error", err)
			r.retire(s, c)
		} else {
			c.pings.Reset(every)
		}
	}
	r.mu.Unlock()
	r.deliver()
}

// stopPings ends the pings of a session. The caller holds r.mu.
func (c *conn) stopPings() {
	if c.pings != nil {
		c.pings.Stop()
		c.pings = nil
	}
}

// A flight is one piece of work that several callers wait for. It ends early when
// the last of them has left. The registry's lock guards its fields; conn and err are
// written once, before done is closed.
type flight struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiters int
	began   time.Time
	conn    *conn // of a flight that connects
	err     error
}

// startFlight starts work on a goroutine of r. The caller holds r.mu and is the first
// waiter. land runs under r.mu with the outcome.
func (r *Registry) startFlight(work func(context.Context) (*conn, error), land func(*flight)) *flight {
	ctx, cancel := context.WithCancel(r.ctx)
	f := &flight{done: make(chan struct{}), cancel: cancel, began: r.opts.Clock()}
	r.goroutine(func() {
		defer cancel()
		var c *conn
		err := guarded(func() (err error) {
			c, err = work(ctx)
			return err
		})
		r.mu.Lock()
		f.conn, f.err = c, err
		land(f)
		r.mu.Unlock()
		close(f.done)
		r.deliver()
	})
	return f
}

// wait returns the outcome of f, or the cause of ctx if that ends first. The caller
// has counted itself as a waiter and does not hold r.mu.
func (f *flight) wait(ctx context.Context, r *Registry) (*conn, error) {
	select {
	case <-f.done:
		return f.conn, f.err
	case <-ctx.Done():
	}
	r.mu.Lock()
	f.waiters--
	if f.waiters == 0 {
		f.cancel()
	}
	r.mu.Unlock()
	return nil, context.Cause(ctx)
}
