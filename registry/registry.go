// Package registry is a client registry of MCP servers. It discovers the tools of many
// servers at once, and gives each tool a name of its own. It converts them to the forms
// that models take, and dispatches a model's call to the right server.
//
//	r := registry.New(&registry.Options{Connect: client.New(nethttp.New(nil), nil).Connect})
//	defer r.Close()
//	_ = r.Add("docs", registry.ServerConfig{URL: "https://example.com/mcp"})
//	if err := r.Discover(ctx); err != nil {
//		log.Print(err) // names each server that failed; the others work
//	}
//	tools, _ := r.Export(convert.OpenAI, registry.Filter{})
//	result, err := r.Dispatch(ctx, registry.Call{Name: "docs__search", Arguments: args})
//
// # The pipeline
//
// Discover connects to all enabled servers in parallel, through [Options.Connect],
// and follows the pages of tools/list under [Limits]. Package names gives each tool a
// name that depends on nothing but its server's name and its own. [Registry.Export]
// writes the four dialects of package convert. [Registry.Dispatch] looks the name up,
// calls the tool under a deadline, and returns the result whole.
//
// The package knows no transport and no JSON-RPC. [Session] is the seam to the
// client; definitions and results cross it unopened as [Payload].
//
// # Approvals
//
// Package approvals compares each list with what the user has approved. A tool that
// changed is held: models do not see it before [Registry.ApproveTools].
//
// # Concurrency
//
// All methods of [Registry] may be called from several goroutines at once. One lock
// guards the state of all servers. Callbacks run with no lock held, except [Call.OnQueue]
// and [Call.OnRetry]. [Registry.Close] waits for all goroutines, five seconds at most.
//
// # Health
//
// Three failures in a row suspend a server, and its tools leave the list that models
// see. It is probed again after a cooldown that grows from 5 s to 5 min with
// jitter. Transport errors, 5xx, timeouts and answers that are not MCP count.
// Results with isError, other 4xx, the caller's own abort and being offline do not,
// and neither do deadlines that pass while the page is frozen.
//
// # Errors
//
// Errors wrap the sentinels Err…, [*ServerError], [*StatusError] and [*RPCError];
// [Explain] turns any of them into a stable code and a hint.
package registry

import (
	"context"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/resulttext"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// Options configure a registry. Zero values are good defaults.
type Options struct {
	// Connect opens sessions; required. client.New(nethttp.New(nil), nil).Connect is what native hosts pass.
	Connect Connect
	// SignIns signs users in, as the client behind Connect does; nil: no user can sign in.
	SignIns SignIns
	// FailureThreshold is how many failures in a row suspend a server; 0 means 3.
	FailureThreshold int
	// Cooldown is how long a server is first suspended; 0 means 5 s. It grows,
	// with jitter, up to 5 min while the server stays down.
	Cooldown time.Duration
	// Timeout bounds connecting to a server and listing its tools, each; 0 means 10 s.
	Timeout time.Duration
	// CallTimeout bounds a call in all; 0 means 120 s.
	CallTimeout time.Duration
	// IdleTimeout bounds the time in a call without progress; 0 means 30 s.
	IdleTimeout time.Duration
	// Limits bound what servers can make the registry hold.
	Limits Limits
	// Validate, if not nil, checks a call's arguments against the tool's inputSchema
	// before they are sent: native hosts pass validate.Schema. It is an option, so
	// that the page's module does not link it (20 KB).
	Validate func(schema, args []byte) error
	// Pins, if not nil, keeps approvals of tools between runs. Without it each run
	// approves the first list of a server as it is.
	Pins PinStore
	// Approve, if not nil, asks the user before each call. The call's deadlines begin
	// after the answer. Calls of trusted servers are not asked about, unless
	// ApproveAll is set. The context ends with the call.
	Approve    func(context.Context, ApprovalRequest) (Approval, error)
	ApproveAll bool
	// Log, if not nil, writes one debug record, such as the method Debug of a
	// slog.Logger does. It is a function, because log/slog would add 220 KB to the
	// page's module. Records hold names and errors: no headers, arguments or results.
	Log func(msg string, args ...any)
	// Clock returns the time for health; nil means time.Now.
	Clock func() time.Time
}

// A Registry holds many servers and one list of their tools. All methods may be
// called from several goroutines at once.
type Registry struct {
	opts Options

	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	mu             sync.Mutex
	closed         bool
	goroutines     int           // owned by the registry, waited for by Close
	idle           chan struct{} // closed when closed and goroutines is 0
	servers        map[string]*server
	conns          map[*conn]bool // open sessions
	calls          map[*Pending]struct{}
	queue          []*Pending // calls that wait for their turn
	running        int        // calls that have a place
	deadlineAt     time.Time  // when deadlineTimer fires; zero: not
	deadlineTimer  *time.Timer
	tools          names.Table[Tool]
	approved       map[string]*approved // by endpoint.Key
	saves          []func()             // to call Options.Pins, with no lock held
	unpinned       []*unpinned          // lists that pinTimer will make the pins of
	pinTimer       *time.Timer
	pinAt          time.Time       // when pinTimer fires; zero: it is not set
	kept           resulttext.Kept // has its own lock
	toolTotal      int             // tools listed by all servers
	discovering    int             // Discover calls under way
	discovered     bool            // Discover was called at least once
	offline        bool
	version        uint64
	snapshot       *Snapshot // of version, or nil
	subscribers    map[int]func(Event)
	lastSubscriber int
	logListeners   map[int]func(LogEntry)
	pending        []Event
	delivering     bool
}

// New returns a registry without servers. It panics if opts has no Connect.
func New(opts *Options) *Registry {
	if opts == nil || opts.Connect == nil {
		panic("registry: New needs Options.Connect")
	}
	r := &Registry{
		opts:         *opts,
		servers:      make(map[string]*server),
		conns:        make(map[*conn]bool),
		calls:        make(map[*Pending]struct{}),
		subscribers:  make(map[int]func(Event)),
		logListeners: make(map[int]func(LogEntry)),
		approved:     make(map[string]*approved),
		idle:         make(chan struct{}),
	}
	o := &r.opts
	o.Limits = o.Limits.WithDefaults()
	orDefault(&o.Timeout, wire.TimeoutMs*time.Millisecond)
	orDefault(&o.CallTimeout, wire.CallTimeoutMs*time.Millisecond)
	orDefault(&o.IdleTimeout, wire.IdleTimeoutMs*time.Millisecond)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func orDefault(d *time.Duration, def time.Duration) {
	if *d <= 0 {
		*d = def
	}
}

// Add puts a server into the list. Nothing is sent before Discover or, after a
// first Discover, before the registry refreshes the new server by itself.
func (r *Registry) Add(name string, cfg ServerConfig) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := cfg.Check(); err != nil {
		return onServer(name, "add", err)
	}
	return r.change(func() error {
		if r.servers[name] != nil {
			return onServer(name, "add", errNameTaken)
		}
		r.put(name, &cfg, nil)
		return nil
	})
}

var errNameTaken = Because(ErrInvalidConfig, "a server of that name exists; remove or update it")

// put makes a server, of which those resources are watched. The caller holds r.mu.
func (r *Registry) put(name string, cfg *ServerConfig, resources map[string]*watched) {
	s := &server{name: name, cfg: cfg.clone(), breaker: newBreaker(r.opts.FailureThreshold, r.opts.Cooldown), followLock: make(chan struct{}, 1), watched: resources}
	r.servers[name] = s
	for uri := range resources {
		r.updated(s, uri) // an update may be lost
	}
	r.changed(Event{Server: name})
	r.autoRefresh(s)
}

// Rename gives a server another name, and so its tools. Its calls and its session end.
// The configuration, the sign-in, the approvals and the subscriptions stay.
func (r *Registry) Rename(ctx context.Context, name, to string) error {
	cfg, ok := r.Config(name)
	if !ok {
		return onServer(name, "rename", ErrUnknownServer)
	}
	if err := CheckName(to); err != nil {
		return onServer(name, "rename", err)
	}
	if _, taken := r.Config(to); taken {
		return onServer(name, "rename", errNameTaken)
	}
	if r.opts.SignIns != nil {
		r.opts.SignIns.RenameSignIn(ctx, name, to, cfg)
	}
	return r.change(func() error {
		s := r.servers[name]
		switch {
		case s == nil:
			return onServer(name, "rename", ErrUnknownServer)
		case r.servers[to] != nil:
			return onServer(name, "rename", errNameTaken)
		}
		r.unlist(s, Because(ErrServerRemoved, "it was renamed"))
		r.put(to, &s.cfg, s.watched)
		return nil
	})
}

// Update replaces a server's configuration. The session and the tools survive
// where the change does not concern them. A sign-in at another URL, or of another client,
// is forgotten.
func (r *Registry) Update(name string, cfg ServerConfig) error {
	defer r.advance() // more calls of the server may run now
	return r.changeServer(name, "update", func(s *server) error {
		if err := cfg.Check(); err != nil {
			return err
		}
		if err := cfg.checkNames(name, s.listed); err != nil {
			return err
		}
		if !s.cfg.sameSignIn(&cfg) {
			r.signOutLater(s)
		}
		old := s.cfg
		s.cfg = cfg.clone()
		r.changed(Event{Server: name, Tools: true})
		if !old.sameEndpoint(&cfg) { // its lists are forgotten: nothing is reviewed before the new ones come
			r.drop(s, Because(ErrServerRemoved, "its configuration was changed"))
			r.forgetTools(s)
			s.breaker.reset()
			s.tries = nil
			s.lastError, s.failure = "", nil
			r.autoRefresh(s)
			return nil
		}
		if len(s.listed) > 0 && (old.Trust != cfg.Trust || old.HoldNewTools != cfg.HoldNewTools) {
			r.review(s, s.listed)
			if s.info.Capabilities != nil {
				r.reviewInstructions(s)
			}
		}
		r.reviewPrompts(s)
		if c := s.conn; c != nil && old.Ping != cfg.Ping {
			c.stopPings()
			r.pingLater(s, c)
		}
		if old.LogLevel != cfg.LogLevel {
			r.setLogLevel(s)
		}
		if cfg.Disabled {
			r.drop(s, ErrDisabled)
		} else if old.Disabled {
			s.breaker.reset() // a probe may have been cut short
			r.autoRefresh(s)
		}
		r.offer(s, s.listed)
		return nil
	})
}

// Remove takes a server and its tools out of the list and ends its session.
func (r *Registry) Remove(name string) error {
	return r.changeServer(name, "remove", func(s *server) error {
		r.signOutLater(s)
		r.unlist(s, ErrServerRemoved)
		return nil
	})
}

// unlist takes a server out of the list. The caller holds r.mu.
func (r *Registry) unlist(s *server, cause error) {
	r.drop(s, cause)
	r.forgetTools(s)
	delete(r.servers, s.name)
	r.changed(Event{Server: s.name, Tools: true})
}

// SetEnabled switches a server on or off. Off, it keeps its configuration and
// last list, but its tools are not offered and it is not contacted.
func (r *Registry) SetEnabled(name string, enabled bool) error {
	return r.changeServer(name, "enable", func(s *server) error {
		if s.cfg.Disabled == !enabled {
			return nil
		}
		s.cfg.Disabled = !enabled
		if enabled {
			s.breaker.reset()
			r.autoRefresh(s)
		} else {
			r.drop(s, ErrDisabled)
		}
		r.changed(Event{Server: name, Tools: true})
		return nil
	})
}

// Retry forgets a server's failures and contacts it again in the background, by a new session.
func (r *Registry) Retry(name string) error {
	return r.changeServer(name, "retry", func(s *server) error {
		if s.cfg.Disabled {
			return ErrDisabled
		}
		s.breaker.reset()
		s.tries = nil
		s.stopTimers()
		if c := s.conn; c != nil {
			c.over = true
			r.retire(s, c)
		}
		r.changed(Event{Server: name, Tools: true})
		r.refreshSoon(s)
		return nil
	})
}

// SetOnline says whether the host has a network. Failures without a network do not
// count. Suspended servers are tried at once. When the network is back, so are all whose
// last attempt failed.
func (r *Registry) SetOnline(online bool) {
	_ = r.change(func() error {
		isBack := r.offline && online
		r.offline = !online
		for _, s := range r.servers {
			if isBack && s.conn != nil && (s.info.ListChanged || !r.follows(s).equal(Following{})) {
				s.followAgain = true
				r.followLater(s)
			}
			if !s.cfg.Disabled && (s.breaker.suspended || isBack && outcomeOf(s.failure) == failed) {
				s.breaker.wake(r.opts.Clock())
				r.refreshSoon(s)
			}
		}
		return nil
	})
}

// Close ends all sessions and calls and waits, five seconds at most, until
// nothing of the registry runs any more. A second Close does nothing.
func (r *Registry) Close() error {
	r.mu.Lock()
	r.awaitAllPins()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	for _, s := range r.servers {
		r.drop(s, ErrClosed)
		r.forgetTools(s)
	}
	for c := range r.conns {
		r.hangUp(c)
	}
	r.closed = true
	for _, timer := range []*time.Timer{r.deadlineTimer, r.pinTimer} {
		if timer != nil {
			timer.Stop()
		}
	}
	var calls []*Pending
	for p := range r.calls {
		calls = append(calls, p)
	}
	if r.goroutines == 0 {
		close(r.idle)
	}
	r.mu.Unlock()
	for _, p := range calls {
		p.giveUp(ErrClosed, false)
	}
	r.cancel() // later, so that calls end with ErrClosed
	limit, stop := context.WithTimeout(context.Background(), closeTimeout)
	defer stop()
	select {
	case <-r.idle:
	case <-limit.Done():
	}
	return nil
}

// closeTimeout bounds how long a session may take to close.
const closeTimeout = 5 * time.Second

// log writes one debug record.
func (r *Registry) log(msg string, args ...any) {
	if r.opts.Log != nil {
		r.opts.Log(msg, args...)
	}
}

// change runs fn under the lock of an open registry and then delivers events.
func (r *Registry) change(fn func() error) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	err := fn()
	r.mu.Unlock()
	r.deliver()
	return err
}

// changeServer is [Registry.change] for one server.
func (r *Registry) changeServer(name, op string, fn func(*server) error) error {
	return r.change(func() error {
		s := r.servers[name]
		if s == nil {
			return onServer(name, op, ErrUnknownServer)
		}
		return onServer(name, op, fn(s))
	})
}

// background runs fn for a server on a goroutine, with a context that ends after the
// server's timeout. The caller holds r.mu.
func (r *Registry) background(s *server, fn func(context.Context)) {
	timeout := r.timeout(s)
	r.goroutine(func() {
		ctx, cancel := context.WithTimeout(r.ctx, timeout)
		defer cancel()
		fn(ctx)
	})
}

// goroutine runs fn on a goroutine that Close waits for. The caller holds r.mu.
func (r *Registry) goroutine(fn func()) {
	r.goroutines++
	go func() {
		defer func() {
			r.mu.Lock()
			r.goroutines--
			if r.closed && r.goroutines == 0 {
				close(r.idle)
			}
			r.mu.Unlock()
		}()
		_ = safely(fn)
	}()
}
