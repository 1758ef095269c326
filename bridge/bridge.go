// Package bridge lets desktop MCP clients use the tools of a browser extension.
//
// The extension dials the bridge over a loopback WebSocket. Both sides prove that
// they are paired ([github.com/portolan-mcp/portolan/bridge/handshake]). The
// extension then runs an MCP server on that socket, and the bridge is its client.
// For desktop clients the bridge is an MCP server: over stdio, and as streamable HTTP
// at /mcp.
//
//	b, err := bridge.New(nil)
//	if err == nil {
//		err = b.Listen()
//	}
//	if err == nil {
//		err = b.Serve(ctx) // until ctx ends
//	}
//
// Tools are defined in the extension. The bridge passes their list and their results
// on unchanged. Progress, log messages, questions and cancellation of a call go to and
// from the one client that made the call.
package bridge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// A Bridge relays between desktop MCP clients and browser extensions. All methods
// may be called from several goroutines; Listen and Serve once each, in this order.
type Bridge struct {
	opts    Options
	store   *store
	started time.Time

	listeners []net.Listener
	discovery net.Listener  // or nil
	handler   http.Handler  // streamable HTTP up to 2025-11-25
	stateless http.Handler  // and since 2026-07-28
	rate      *rate.Limiter // of HTTP requests

	slots     chan struct{}  // sockets that are open
	sockets   sync.WaitGroup // their handlers
	attempts  loopback.Backoff
	sessions  sessions  // calls under way, by client
	pages     sessions  // requests under way, by the page's origin
	rounds    rounds    // calls that may ask clients since 2026-07-28
	tasks     tasks     // calls that clients do not wait for
	instances instances // of clients with the same name
	troubles  troubles  // written to Options.DebugDir
	listBytes int       // of the list of a profile's tools

	mu       sync.Mutex
	links    map[string]*link                // by install id
	moved    time.Time                       // when a browser last came or left; the start before one has
	stops    map[string]*link                // the last ones of profiles that the person stopped; by install id
	shared   map[string]*relay               // of HTTP clients, by profile
	single   map[*relay]bool                 // of other clients
	watchers map[*mcp.ServerSession]*watcher // clients that watch resources
	window   *window                         // pairing window; nil if closed
	// Closed and replaced when a list of tools has arrived.
	arrival chan struct{}
}

// New returns a bridge with the pairings that are kept; opts may be nil.
func New(opts *Options) (*Bridge, error) {
	b := &Bridge{
		opts: opts.withDefaults(), started: time.Now(), arrival: make(chan struct{}),
		links: make(map[string]*link), stops: make(map[string]*link),
		shared: make(map[string]*relay), single: make(map[*relay]bool),
		watchers: make(map[*mcp.ServerSession]*watcher), listBytes: maxListBytes,
	}
	b.moved = b.started
	b.troubles.dir = b.opts.DebugDir
	for _, o := range b.opts.Origins {
		if !loopback.PageOrigin(o) {
			return nil, fmt.Errorf("%q is not an origin of a page", o)
		}
	}
	if b.opts.Ephemeral {
		fresh := newSecrets()
		b.store = &store{memory: &fresh}
	} else {
		var err error
		if b.store, err = openStore(b.opts.Dir); err != nil {
			return nil, err
		}
	}
	b.slots = make(chan struct{}, b.opts.Connections)
	b.rate = rate.NewLimiter(1000, 2000)
	relay := func(req *http.Request) *relay { return b.relayFor(req.URL.Query().Get("profile")) }
	older := func(req *http.Request) *mcp.Server { return relay(req).server }
	newer := func(req *http.Request) *mcp.Server {
		r := relay(req)
		r.learnHeaders()
		return r.server
	}
	b.handler = mcp.NewStreamableHTTPHandler(older, &mcp.StreamableHTTPOptions{
		SessionTimeout: 24 * time.Hour, MaxRequestBodyBytes: socket.DefaultFrame,
	})
	b.stateless = mcp.NewStreamableHTTPHandler(newer, &mcp.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: socket.DefaultFrame,
	})
	return b, nil
}

// Token returns the bearer token of HTTP clients. An extension needs it too, to
// connect to an ephemeral bridge.
func (b *Bridge) Token() (string, error) {
	s, err := b.store.load()
	if err != nil {
		return "", err
	}
	return s.Token, nil
}

// Listen opens the port. It fails with [ErrPortTaken] if another process has it.
func (b *Bridge) Listen() error {
	listeners, err := loopback.Listen(b.opts.Address)
	if err != nil {
		return err
	}
	b.listeners = listeners
	if b.opts.Discovery != "-" {
		b.discovery, err = net.Listen("tcp4", b.opts.Discovery)
		if err != nil && b.opts.Discovery != DiscoveryAddress { // the usual one is used if it is free
			for _, l := range listeners {
				_ = l.Close()
			}
			return fmt.Errorf("discovery: %w", err)
		}
	}
	return nil
}

// Addr returns the host and port of the bridge. Call it after Listen.
func (b *Bridge) Addr() string { return b.listeners[0].Addr().String() }

// Serve relays until ctx ends. It then closes all connections within 3 s, and returns
// nil.
func (b *Bridge) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	main := loopback.Server(ctx, b.routes())
	servers := []*http.Server{main}
	failed := make(chan error, len(b.listeners)+1)
	var serving sync.WaitGroup
	for _, l := range b.listeners {
		serving.Go(func() { failed <- main.Serve(loopback.Capped(l)) })
	}
	if b.discovery != nil {
		second := loopback.Server(ctx, guarded(map[string]http.HandlerFunc{"/mcp-discovery": b.serveDiscovery}))
		servers = append(servers, second)
		serving.Go(func() { failed <- second.Serve(loopback.Capped(b.discovery)) })
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	cancel() // links and local connections end with it
	b.closeSessions()
	b.rounds.close()
	b.tasks.close()
	for _, s := range servers {
		_ = loopback.Shutdown(s)
	}
	serving.Wait()
	b.sockets.Wait()
	return err
}

// relayFor returns the server of the HTTP clients of a profile.
func (b *Bridge) relayFor(profile string) *relay {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.shared[profile]
	if r == nil && len(b.shared) >= 100 { // not kept: its list is fetched, and never reported as changed
		return newRelay(b, profile)
	}
	if r == nil {
		r = newRelay(b, profile)
		b.shared[profile] = r
	}
	return r
}

// relays returns all relays.
func (b *Bridge) relays() []*relay {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.AppendSeq(slices.Collect(maps.Values(b.shared)), maps.Keys(b.single))
}

// notify tells all clients that their list of tools may have changed.
func (b *Bridge) notify() {
	b.arrived()
	for _, r := range b.relays() {
		r.notify()
	}
}

func (b *Bridge) closeSessions() {
	var closing sync.WaitGroup
	for _, r := range b.relays() {
		for session := range r.server.Sessions() {
			closing.Go(func() { _ = session.Close() })
		}
	}
	done := make(chan struct{})
	go func() { closing.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(time.Second): // go-sdk may wait for a client
	}
}

// ServeClient serves one desktop client of a browser profile until its input or ctx ends. Each
// message is one line. The command portolan bridge --stdio uses it, beside Serve.
func (b *Bridge) ServeClient(ctx context.Context, profile string, in io.ReadCloser, out io.WriteCloser) error {
	w := &lineWriter{w: out}
	return b.serveClient(ctx, profile, b.opts.Project, func() {}, &mcp.IOTransport{Reader: newLineReader(in, w), Writer: struct {
		io.Writer
		io.Closer
	}{w, out}})
}

// endSession cancels the calls of a session, and forgets its tasks.
func (b *Bridge) endSession(key string) {
	b.sessions.end(key)
	b.tasks.leave(key)
}

// begun keeps a record of a session over HTTP until it ends.
func (b *Bridge) begun(session *mcp.ServerSession, page string) {
	key := session.ID()
	if !b.instances.begin(key, page, false) {
		return
	}
	go func() {
		_ = session.Wait()
		b.tasks.leave(key) // not endSession: the end of its watches may be under way
		b.instances.end(key)
	}()
}

// serveClient serves the one client of a transport. When ctx ends, it hangs up first: an answer to a call that is
// cancelled would not say why.
func (b *Bridge) serveClient(ctx context.Context, profile, project string, hangUp func(), t mcp.Transport) error {
	r := newRelay(b, profile)
	r.id, r.project = rand.Text()[:16], ProjectName(project)
	b.mu.Lock()
	b.single[r] = true
	b.mu.Unlock()
	b.instances.begin(r.id, "", true)
	defer func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.single, r)
		b.instances.end(r.id)
		b.rounds.end(r.id)
	}()
	session, err := r.server.Connect(context.WithoutCancel(ctx), sessionTransport{t, func() { b.endSession(r.id) }, r.catchUp}, nil)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- session.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		hangUp()
		b.endSession(r.id)
		go session.Close() // it may wait for a read of stdin that never returns
		select {
		case err = <-ended:
		case <-time.After(time.Second):
		}
	}
	if ctx.Err() != nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
