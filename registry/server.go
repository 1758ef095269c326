package registry

import (
	"context"
	"errors"
	"time"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// Statuses of a server, as in ServerHealth.
const (
	ServerDisabled     = "disabled"
	ServerDisconnected = "disconnected"
	ServerConnecting   = "connecting"
	ServerConnected    = "connected"
	ServerFailed       = "error"
)

// A server is one entry of the registry. The registry's lock guards all of it.
type server struct {
	name    string
	cfg     ServerConfig
	breaker breaker

	// era counts the endpoints that cfg has named: work for an older one is stale.
	era  uint64
	conn *conn // nil: not connected
	info SessionInfo
	// The instructions that are approved, and those that are held.
	instructions, heldInstructions string
	dropCause                      error // of the last drop
	connecting                     *flight
	tries                          []time.Time // to connect, of the last triesTime
	refreshing                     *flight
	running                        int  // calls that have a place
	again                          bool // the list changed while refreshing

	listed      []Tool   // the last good list, unfiltered
	print       string   // its fingerprint, or ""
	private     bool     // it is the user's own
	offered     int      // of listed, without those withheld and held
	held        int      // of listed
	release     []func() // of the pages behind listed
	warnings    []string
	taken       warnings // tools whose name an override has given to another one
	dropped     int      // messages that were too many
	refreshedAt time.Time
	staleAt     time.Time // zero: no ttl was given

	offers     [offerLists]offerList
	watches    map[*stopwatch]bool // of requests under way, besides calls
	watched    map[string]*watched // resources, by URI
	following  Following           // of lists
	logs       []LogEntry          // the last ones, oldest first
	followLock chan struct{}       // has room for one, which has the lock
	followed   followed            // guarded by followLock
	// A stream may have ended with the network: the session is asked for the same again.
	followAgain bool

	failure       error // of the last connect, list or call; nil after a success
	lastError     string
	lastConnected time.Time
	lastSuccess   time.Time
	latency       time.Duration

	refreshTimer *time.Timer
	probeTimer   *time.Timer
}

func (s *server) status() string {
	switch {
	case s.cfg.Disabled:
		return ServerDisabled
	case s.connecting != nil:
		return ServerConnecting
	case s.failure != nil:
		return ServerFailed
	case s.conn != nil && s.refreshedAt.IsZero():
		return ServerConnecting // its first list is under way
	case s.conn != nil:
		return ServerConnected
	}
	return ServerDisconnected
}

// visible reports whether models see the server's tools.
func (s *server) visible() bool { return !s.cfg.Disabled && !s.breaker.suspended }

func (s *server) stopTimers() {
	for _, t := range []*time.Timer{s.refreshTimer, s.probeTimer} {
		if t != nil {
			t.Stop()
		}
	}
	s.refreshTimer, s.probeTimer = nil, nil
}

// drop ends the server's session and all work on it, calls with that cause. Its list
// stays.
func (r *Registry) drop(s *server, cause error) {
	s.era++
	s.dropCause = cause
	for p := range r.calls {
		if p.s == s {
			p.dropped = cause
			r.unqueue(p)
			r.goroutine(func() { p.giveUp(cause, true) })
		}
	}
	for watch := range s.watches {
		watch.cancel(cause)
	}
	s.stopTimers()
	if s.connecting != nil {
		s.connecting.cancel()
		s.connecting = nil
	}
	if s.refreshing != nil {
		s.refreshing.cancel()
		s.refreshing = nil
	}
	if s.conn != nil {
		r.hangUp(s.conn)
		s.conn = nil
	}
}

// forgetTools frees the server's list.
func (r *Registry) forgetTools(s *server) {
	r.offer(s, nil)
	s.forgetOffers(false)
	s.info, s.instructions, s.heldInstructions = SessionInfo{}, "", ""
	s.warnings = nil
	s.staleAt, s.refreshedAt = time.Time{}, time.Time{}
	for _, release := range s.release {
		release()
	}
	s.release = nil
}

// offer publishes a server's list under model names, as far as its
// configuration lets tools through.
func (r *Registry) offer(s *server, listed []Tool) {
	for i := range s.listed {
		if t := &s.listed[i]; t.listed {
			r.tools.Remove(t.Name)
		}
	}
	r.toolTotal -= len(s.listed)
	s.listed, s.offered, s.held, s.taken = listed, 0, 0, nil
	r.toolTotal += len(listed)
	r.tools.Reserve(len(listed))
	renames := s.cfg.renames()
	for i := range listed {
		t := &listed[i]
		if renamed := renames[t.RawName] != ""; renamed || t.renamed {
			t.Name, t.renamed = modelName(s.name, t.RawName, renames), renamed
		}
		// A changed tool for apps is held as others are, so that somebody can approve it.
		t.Withheld = !s.cfg.offers(t.RawName) || t.AppOnly && t.Hold == nil
		if t.listed = !t.Withheld && t.Hold == nil && r.tools.Add(t.Name, t); t.listed {
			s.offered++
		} else if t.Withheld || t.Hold == nil {
			if !t.Withheld {
				s.taken.warn(r.shown(s, "tool "+text.Quote(t.RawName)+" left out: another tool has the name "+t.Name))
			}
			t.Withheld = true
		} else {
			s.held++
		}
	}
}

// attempted records how an attempt on the server went, and sets its next probe.
func (r *Registry) attempted(s *server, generation uint64, o outcome, err error, now time.Time) {
	if r.offline && o == failed {
		o = undecided
	}
	was, well := s.breaker.suspended, s.failure == nil && s.breaker.failures == 0
	s.breaker.end(generation, o, now)
	if o == succeeded {
		s.lastSuccess = now
		if !s.breaker.suspended { // else it began before the suspension
			s.failure, s.lastError = nil, ""
		}
	} else if err != nil && !errors.Is(err, context.Canceled) && !(errors.Is(err, ErrSignInNeeded) && errors.Is(s.failure, ErrSignIn)) {
		s.failure, s.lastError = err, r.shown(s, err.Error())
		if o == failed {
			r.watchAgain(s)
		}
	}
	if s.breaker.suspended && !s.breaker.probing { // a late outcome says nothing of a probe
		if wait := retryAfter(err); wait > 0 { // counts for more than a cooldown that has grown
			s.breaker.retryAt = now.Add(max(wait, s.breaker.cooldown))
		}
		// A probe begins afresh: the old session may be what is wrong.
		r.retire(s, s.conn)
		r.probeLater(s, s.breaker.retryAt.Sub(now))
	}
	r.changed(Event{Server: s.name, Tools: was != s.breaker.suspended, Minor: well && o == succeeded})
}

// retryAfter returns the time of a Retry-After header in seconds, at most the longest cooldown.
func retryAfter(err error) time.Duration {
	status, ok := errors.AsType[*StatusError](err)
	if !ok || len(status.Header["Retry-After"]) == 0 {
		return 0
	}
	seconds, _ := rawjson.Digits(status.Header["Retry-After"][0], 10)
	return min(time.Duration(min(seconds, 1e6))*time.Second, maxCooldown)
}

// probeLater refreshes a suspended server when its cooldown is over.
func (r *Registry) probeLater(s *server, wait time.Duration) {
	if s.probeTimer != nil {
		s.probeTimer.Stop()
	}
	era := s.era
	s.probeTimer = time.AfterFunc(max(wait, 0), func() {
		r.mu.Lock()
		if !r.closed && s.era == era && !s.cfg.Disabled && s.breaker.suspended {
			r.refreshSoon(s)
		}
		r.mu.Unlock()
		r.deliver()
	})
}

// shown makes a text that the server may have written fit to be shown.
func (r *Registry) shown(s *server, words string) string {
	words = text.Visible(words)
	for _, value := range s.cfg.Headers {
		words = text.Redact(words, value)
	}
	return text.Plain(words, r.opts.Limits.MessageBytes)
}

// Instructions are what a server says of itself to models (instructions of the spec). They
// are untrusted.
type Instructions struct {
	Server string
	Text   string // as they were approved; "" if there are none
	// Held is a text that differs from the approved one and waits for [Registry.ApproveInstructions];
	// "" if there is none.
	Held string
}

// Instructions returns those of the named servers, or of all that are enabled. It connects
// to servers that it knows nothing of. The error joins one *ServerError for each server that
// failed. The instructions are nil if all failed.
func (r *Registry) Instructions(ctx context.Context, servers ...string) ([]Instructions, error) {
	names, problems, err := r.eachServer(servers, false, func(name string) error {
		r.mu.Lock()
		s, err := r.usable(name)
		known := err == nil && s.info.Capabilities != nil
		r.mu.Unlock()
		if err == nil && !known {
			err = r.use(ctx, s, r.opts.IdleTimeout, func(ctx context.Context, c *conn, _ func(bool)) error {
				_, err := offerer(ctx, c)
				return err
			})
		}
		return onServer(name, "read instructions", err)
	})
	if err != nil {
		return nil, err
	}
	var all []Instructions
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, name := range names {
		s := r.servers[name]
		if s == nil || problems[i] != nil {
			continue
		}
		if all == nil {
			all = []Instructions{}
		}
		if s.instructions != "" || s.heldInstructions != "" {
			all = append(all, Instructions{name, s.instructions, s.heldInstructions})
		}
	}
	return all, errors.Join(problems...)
}

// ApproveInstructions approves a server's instructions as they are now. With a text it approves only that one, and fails
// with [ErrHeld] if the server has another one by now.
func (r *Registry) ApproveInstructions(name string, shown ...string) error {
	return r.changeServer(name, "approve", func(s *server) error {
		if len(shown) > 0 && s.heldInstructions != shown[0] {
			return errNotShown
		}
		if s.heldInstructions != "" {
			r.approveInstructions(s)
			r.changed(Event{Server: name})
		}
		return nil
	})
}

// approveInstructions has the store keep the present instructions. The caller holds r.mu.
func (r *Registry) approveInstructions(s *server) {
	a := r.approvedFor(s)
	first := !a.Known() // the first list, which follows, saves them
	a.ApproveInstructions(s.info.Instructions)
	s.instructions, s.heldInstructions = s.info.Instructions, ""
	if !first {
		r.savePins(s, a, FreshPins{Tools: []string{approvals.InstructionsName}, ByUser: true})
	}
}

// informed takes what the session knows of its server. The caller holds r.mu.
func (r *Registry) informed(s *server) {
	s.info = s.conn.session.Info()
	s.info.Server, s.info.Instructions = s.info.Server.clean(), text.Visible(s.info.Instructions)
	if s.info.Capabilities != nil {
		r.reviewInstructions(s)
	}
}

// reviewInstructions holds instructions that differ from the approved ones. The caller
// holds r.mu.
func (r *Registry) reviewInstructions(s *server) {
	now := s.info.Instructions
	approved, known := r.approvedFor(s).Instructions()
	switch {
	case now == "" && known, s.cfg.Trust == TrustAll, known && approved == now:
		s.instructions, s.heldInstructions = now, ""
	case !known && (now == "" || !r.holdsFirst(s)):
		r.approveInstructions(s)
	default:
		s.instructions, s.heldInstructions = approved, now
	}
}
