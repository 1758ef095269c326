package registry

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

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
	connecting                     *flight[*conn]
	tries                          []time.Time // to connect, of the last triesTime
	refreshing                     *flight[struct{}]
	running                        int  // calls that have a place
	again                          bool // the list changed while refreshing

	listed      []Tool   // the last good list, unfiltered
	print       string   // its fingerprint, or ""
	private     bool     // it is the user's own
	offered     int      // of listed, without those withheld and held
	held        int      // of listed
	release     []func() // of the pages behind listed
	warnings    []string
	dropped     int // messages that were too many
	refreshedAt time.Time
	staleAt     time.Time // zero: no ttl was given

	offers     [offerLists]offerList
	watches    map[*stopwatch]bool // of requests under way, besides calls
	watched    map[string]*watched // resources, by URI
	following  Following           // of lists
	logs       []LogEntry          // the last ones, oldest first
	followLock sync.Mutex
	followed   followed // guarded by followLock
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
	s.forgetOffers(nil)
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
	s.listed, s.offered, s.held = listed, 0, 0
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
	} else if err != nil && !errors.Is(err, context.Canceled) {
		s.failure, s.lastError = err, r.shown(s, err.Error())
	}
	if s.breaker.suspended && !s.breaker.probing { // a late outcome says nothing of a probe
		if wait := retryAfter(err); s.breaker.retryAt.Before(now.Add(wait)) {
			s.breaker.retryAt = now.Add(wait)
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
	seconds, bad := strconv.Atoi(status.Header["Retry-After"][0])
	if bad != nil || seconds < 0 {
		return 0
	}
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
