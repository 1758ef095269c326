package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// An entry is a configured server with its processes and clients. Its mutex may be locked
// while a program's is, and not the other way round.
type entry struct {
	Server
	g       *Gateway
	secrets []string
	log     ring
	era     atomic.Int32  // what its program speaks
	turn    chan struct{} // held by the request that starts a process

	mu       sync.Mutex
	programs map[*program]bool
	spare    *program         // started to find out its era, and used by nobody
	shared   *program         // of all clients, if the server is shared
	origins  map[string]*peer // clients from 2026-07-28 on, by origin
	sessions map[string]*peer // clients up to 2025-11-25, by session id
	failures int              // times in a row that a process ended by itself
	until    time.Time        // none is started before
	last     exitNote
}

const (
	eraUnknown int32 = iota
	eraEnded         // it ended when it was asked: the next client asks again, until a session begins
	eraLegacy
	eraModern
)

func newEntry(g *Gateway, s Server) *entry {
	s.Shared = s.Shared || g.opts.Shared
	return &entry{
		Server: s, g: g, secrets: secretsOf(s), log: ring{limit: g.opts.Limits.Log}, turn: make(chan struct{}, 1),
		programs: map[*program]bool{}, origins: map[string]*peer{}, sessions: map[string]*peer{},
	}
}

func (e *entry) note(line string) {
	line = redact(line, e.secrets)
	line = strings.ToValidUTF8(line[:min(len(line), maxLogLine)], "")
	e.log.add(line)
	if e.g.opts.Stderr != nil {
		e.g.opts.Stderr(e.Name, line)
	}
}

// forget removes a client from the tables. e.mu is held.
func (e *entry) forget(to *peer) {
	if to.session != "" {
		delete(e.sessions, to.session)
	} else if e.origins[to.owner] == to {
		delete(e.origins, to.owner)
	}
}

// open returns a new session for an initialize request.
func (e *entry) open(ctx context.Context, owner string) (*peer, *fault) {
	give, f := e.take(ctx)
	if f != nil {
		return nil, f
	}
	defer give()
	e.mu.Lock()
	sessions := slices.Collect(maps.Values(e.sessions))
	e.mu.Unlock()
	if len(sessions) >= e.g.opts.Limits.Sessions && !e.makeRoom(sessions, owner) {
		return nil, internalFault(fmt.Sprintf("the server %s has %d sessions, and takes no more", e.Name, e.g.opts.Limits.Sessions))
	}
	p, f := e.program(ctx, owner)
	if f != nil {
		return nil, f
	}
	to := &peer{session: rand.Text(), owner: owner}
	return to, e.admit(p, to)
}

// goesSooner reports whether something unused makes room before another one: what is an owner's own, and then what was
// unused for longer.
func goesSooner(own bool, used time.Time, otherOwn bool, otherUsed time.Time) bool {
	if own != otherOwn {
		return own
	}
	return used.Before(otherUsed)
}

// makeRoom ends an unused session, of owner if there is one: most likely its page is gone. Pages do not end their
// sessions when they are reloaded.
func (e *entry) makeRoom(sessions []*peer, owner string) bool {
	var oldest *peer
	var since time.Time
	for _, to := range sessions {
		if used, free := to.program.unused(to); free &&
			(oldest == nil || goesSooner(to.owner == owner, used, oldest.owner == owner, since)) {
			oldest, since = to, used
		}
	}
	if oldest == nil {
		return false
	}
	e.leave(oldest)
	return true
}

// unused returns an unused program that makes room for owner, or nil. own says that no other page has used it.
func (e *entry) unused(owner string) (oldest *program, own bool, since time.Time) {
	e.mu.Lock()
	programs := slices.Collect(maps.Keys(e.programs))
	e.mu.Unlock()
	for _, p := range programs {
		if used, free := p.unused(nil); free {
			if mine := p.isOnlyOf(owner); oldest == nil || goesSooner(mine, used, own, since) {
				oldest, own, since = p, mine, used
			}
		}
	}
	return oldest, own, since
}

// admit makes to a client of p.
func (e *entry) admit(p *program, to *peer) *fault {
	p.join(to)
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.programs[p] {
		return e.fault(e.last)
	}
	if to.session != "" {
		e.sessions[to.session] = to
	} else {
		e.origins[to.owner] = to
	}
	return nil
}

// stateless returns the client for the requests of an origin from 2026-07-28 on. It finds
// out first whether the program speaks that version.
func (e *entry) stateless(ctx context.Context, owner string) (*peer, *fault) {
	if e.era.Load() == eraLegacy {
		return nil, unsupported()
	}
	if to := e.known(owner); to != nil {
		return to, nil
	}
	give, f := e.take(ctx)
	if f != nil {
		return nil, f
	}
	defer give()
	if to := e.known(owner); to != nil {
		return to, nil
	}
	p, f := e.program(ctx, owner)
	if f != nil {
		return nil, f
	}
	if e.era.Load() < eraLegacy {
		p.discover(ctx)
	}
	if e.era.Load() != eraModern {
		e.keep(p)
		return nil, unsupported()
	}
	to := &peer{owner: owner}
	return to, e.admit(p, to)
}

func (e *entry) known(owner string) *peer {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.origins[owner]
}

// keep leaves a process for the next session, if it still runs.
func (e *entry) keep(p *program) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.programs[p] && !e.Shared {
		e.spare = p
	}
}

// find returns a session of an owner, or nil.
func (e *entry) find(session, owner string) *peer {
	e.mu.Lock()
	defer e.mu.Unlock()
	to := e.sessions[session]
	if to == nil || to.owner != owner {
		return nil
	}
	return to
}

// leave ends a client. A process that nobody else may use ends with it.
func (e *entry) leave(to *peer) {
	e.mu.Lock()
	e.forget(to)
	e.mu.Unlock()
	if left := to.program.part(to); left == 0 && !e.Shared {
		to.program.proc.stop("")
	}
}

// tidy ends what is unused or stuck, and the clients whose origin was revoked.
func (e *entry) tidy(now time.Time, admitted func(owner string) bool) {
	e.mu.Lock()
	programs := slices.Collect(maps.Keys(e.programs))
	peers := slices.AppendSeq(slices.Collect(maps.Values(e.sessions)), maps.Values(e.origins))
	e.mu.Unlock()
	for _, to := range peers {
		if !admitted(to.owner) {
			e.leave(to)
		}
	}
	for _, p := range programs {
		switch used, free := p.unused(nil); {
		case p.stuck(now.Add(-e.g.opts.Start)):
			p.proc.stop(fmt.Sprintf("it sent nothing within %v", e.g.opts.Start))
		case free && used.Before(now.Add(-e.g.opts.Idle)):
			e.retire(p)
		}
	}
}

// stop ends all processes.
func (e *entry) stop() {
	e.mu.Lock()
	programs := slices.Collect(maps.Keys(e.programs))
	e.mu.Unlock()
	for _, p := range programs {
		p.proc.stop("the gateway is ending")
	}
}

// A Status is what an admitted page may know of a server.
type Status struct {
	Name         string `json:"name"`
	Path         string `json:"path"`
	Shared       bool   `json:"shared,omitempty"`
	Processes    int    `json:"processes"`
	Sessions     int    `json:"sessions"`
	RetryAfterMs int64  `json:"retryAfterMs,omitempty"` // it is not started before
	Log          string `json:"log,omitempty"`          // the last lines of its stderr
}

func (e *entry) status() Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Status{
		Name: e.Name, Path: "/s/" + e.Name + "/mcp", Shared: e.Shared, Processes: len(e.programs),
		Sessions: len(e.sessions), RetryAfterMs: max(0, time.Until(e.until).Milliseconds()),
	}
}
