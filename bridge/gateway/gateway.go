package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// A Gateway relays between pages and stdio programs. Listen and Serve are called once
// each, in this order. The other methods may be called from several goroutines.
type Gateway struct {
	opts      Options
	entries   []*entry // as configured
	byName    map[string]*entry
	origins   *origins
	listeners []net.Listener
	wrong     loopback.Backoff // pairings that failed, by origin
	pairing   chan struct{}    // held by the attempt under way
	sockets   sync.WaitGroup   // of pairings
	slots     chan struct{}    // held by these sockets
	hurry     chan struct{}    // closed by Hurry
	Hurry     func()           // kills the programs that do not end by themselves when Serve ends, without waiting for them

	mu      sync.Mutex
	rates   map[string]*rate.Limiter // of requests, by origin; "" for pairings
	running int                      // processes
	closed  bool                     // no process is started any more
	empty   chan struct{}            // closed when the last process has ended after closed
}

// New returns a gateway of servers; opts may be nil.
func New(servers []Server, opts *Options) (*Gateway, error) {
	g := &Gateway{
		opts: opts.withDefaults(), byName: map[string]*entry{}, rates: map[string]*rate.Limiter{},
		pairing: make(chan struct{}, 1), slots: make(chan struct{}, maxSockets), empty: make(chan struct{}),
		hurry: make(chan struct{}),
	}
	g.Hurry = sync.OnceFunc(func() { close(g.hurry) })
	for _, s := range servers {
		if g.byName[s.Name] != nil || notInNames.MatchString(s.Name) || s.Name == "" || s.Name == "." || s.Name == ".." {
			return nil, fmt.Errorf("%q is not a name that a server can have here", s.Name)
		}
		e := newEntry(g, s)
		g.entries, g.byName[s.Name] = append(g.entries, e), e
	}
	var err error
	g.origins, err = openOrigins(g.opts.Dir)
	return g, err
}

// Listen opens the port. It fails with [loopback.ErrPortTaken] if another process has it.
func (g *Gateway) Listen() (err error) {
	g.listeners, err = loopback.Listen(g.opts.Address)
	return err
}

// Addr returns the host and port of the gateway. Call it after Listen.
func (g *Gateway) Addr() string { return g.listeners[0].Addr().String() }

// Servers returns the status of all servers, in the order of the configuration.
func (g *Gateway) Servers() []Status {
	all := make([]Status, 0, len(g.entries))
	for _, e := range g.entries {
		all = append(all, e.status())
	}
	return all
}

// Allow admits an origin until the gateway ends, and returns its token.
func (g *Gateway) Allow(origin string) (token string, err error) {
	if !validOrigin(origin) {
		return "", fmt.Errorf("%q is not an origin, such as https://app.example or http://localhost:3000", origin)
	}
	return g.origins.allow(origin), nil
}

// mayAsk reports whether an admitted origin may send one more request now.
func (g *Gateway) mayAsk(origin string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.rates[origin] == nil {
		g.rates[origin] = rate.NewLimiter(1000, 2000)
	}
	return g.rates[origin].Allow()
}

// Serve relays until ctx ends. It then ends all processes, and returns nil when they have
// ended: within three times Options.Grace.
func (g *Gateway) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := loopback.Server(ctx, g.routes())
	failed := make(chan error, len(g.listeners))
	var serving sync.WaitGroup
	for _, l := range g.listeners {
		serving.Go(func() { failed <- server.Serve(loopback.Capped(l)) })
	}
	serving.Go(func() { g.tidy(ctx) })
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	g.stop()
	cancel() // streams end with it
	_ = loopback.Shutdown(server)
	serving.Wait()
	g.sockets.Wait()
	return err
}

// tidy looks for what is unused, until ctx ends.
func (g *Gateway) tidy(ctx context.Context) {
	ticks := time.Tick(max(10*time.Millisecond, min(time.Second, g.opts.Idle/4, g.opts.Start/4)))
	for {
		select {
		case now := <-ticks:
			admitted, err := g.origins.load()
			for _, e := range g.entries {
				e.tidy(now, func(owner string) bool { return err != nil || admitted.knows(owner) })
			}
		case <-ctx.Done():
			return
		}
	}
}

// place takes a place for a process of owner. If all are taken, an unused program ends.
func (g *Gateway) place(ctx context.Context, owner string) (release func(), err error) {
	release, err = g.free()
	if err == nil {
		return release, nil
	}
	var oldest *program
	var own bool
	var since time.Time
	for _, e := range g.entries {
		if p, mine, used := e.unused(owner); p != nil && (oldest == nil || goesSooner(mine, used, own, since)) {
			oldest, own, since = p, mine, used
		}
	}
	if oldest == nil {
		return nil, err
	}
	oldest.entry.retire(oldest)
	select {
	case <-oldest.proc.gone:
	case <-ctx.Done():
	}
	return g.free()
}

func (g *Gateway) free() (release func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil, errors.New("the gateway is ending")
	case g.running >= g.opts.Limits.Processes:
		return nil, fmt.Errorf("%d programs are running, and the gateway starts no more", g.running)
	}
	g.running++
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.running--; g.running == 0 && g.closed {
			close(g.empty)
		}
	}, nil
}

// stop ends all processes and waits for them.
func (g *Gateway) stop() {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	if first && g.running == 0 {
		close(g.empty)
	}
	g.mu.Unlock()
	again := time.Tick(50 * time.Millisecond) // for a process that was about to start
	late := time.After(4*g.opts.Grace + time.Second)
	for {
		for _, e := range g.entries {
			e.stop()
		}
		select {
		case <-g.empty:
			return
		case <-again:
		case <-late:
			return
		}
	}
}
