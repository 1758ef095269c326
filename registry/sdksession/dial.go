package sdksession

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

// A dialing is one attempt to open a session, and what came of it.
type dialing struct {
	name      string
	notify    registry.Notify
	transport mcp.Transport // for servers that are not HTTP
	endpoint  *url.URL      // for those that are
	headers   map[string]string
	proxy     string
	signIn    *oauth.Server // nil: the headers have the credentials
	sse       bool          // legacy HTTP with SSE
	legacy    bool          // begin with initialize instead of server/discover

	refused      bool // the first POST met a 4xx that suggests legacy SSE
	undiscovered bool // the server answered server/discover, and knows no such method
}

const legacyVersion = "2025-11-25" // the latest that begins with initialize

// dial connects and shakes hands. The SDK's Connect ignores deadlines in several
// ways, so it runs in a goroutine of its own that dial abandons when ctx is done;
// cancelling the session's context ends its requests and with them the goroutine.
func (c *Connector) dial(ctx context.Context, d *dialing) (*session, error) {
	s := c.newSession(d)
	if s.wire != nil {
		s.wire.probe = probeTime(ctx)
	}
	out := new(outcome)
	type reply struct {
		sdk *mcp.ClientSession
		err error
	}
	done := make(chan reply, 1)
	go func() {
		options := new(mcp.ClientSessionOptions)
		if d.sse || d.legacy {
			options.ProtocolVersion = legacyVersion
		}
		var r reply
		if fault := survived(func() error {
			r.sdk, r.err = s.client(c).Connect(withOutcome(s.ctx, out), s.tap, options)
			return nil
		}); fault != nil {
			r = reply{nil, fault}
		}
		done <- r
	}()
	var r reply
	select {
	case r = <-done:
	case <-ctx.Done():
		s.end()
		go func() {
			if r := <-done; r.sdk != nil { // it succeeded all the same
				r.sdk.Close()
			}
		}()
		return nil, ctx.Err()
	}
	if r.err != nil {
		err := s.classify(ctx, out, r.err)
		s.end()
		_, d.refused = out.get()
		if d.transport != nil || d.sse {
			d.refused = false
		}
		return nil, err
	}
	s.sdk = r.sdk
	d.undiscovered = s.wire != nil && s.wire.undiscovered.Load()
	s.begin()
	return s, nil
}

// newSession prepares a session that is not connected yet.
func (c *Connector) newSession(d *dialing) *session {
	s := &session{name: d.name, notify: d.notify, limits: c.opts.Limits, elicit: c.opts.Elicit, ended: make(chan struct{}), listening: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.calls, s.cancelCalls = context.WithCancel(s.ctx)
	transport := d.transport
	if d.endpoint != nil {
		s.wire = &wire{
			base: c.opts.RoundTripper, limits: c.opts.Limits, endpoint: d.endpoint, headers: d.headers, proxy: d.proxy, signIn: d.signIn,
			sse: d.sse, done: s.ctx, lost: s.lose,
			rate: newRate(c.opts.Limits, func(dropped int) { s.tell(registry.Notice{Dropped: dropped}) }),
		}
		s.wire.streams = &c.streams
		client := &http.Client{
			Transport: s.wire.chain(),
			// A redirected POST would carry the configured headers and the body to
			// wherever the server points.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		if d.sse {
			transport = &mcp.SSEClientTransport{Endpoint: d.endpoint.String(), HTTPClient: client, MaxEventSize: -1}
		} else {
			transport = &mcp.StreamableClientTransport{Endpoint: d.endpoint.String(), HTTPClient: client, MaxEventSize: -1, DisableStandaloneSSE: true}
		}
	}
	s.tap = newTap(transport, func() { s.tell(registry.Notice{ToolsChanged: true}) })
	if s.elicit != nil {
		s.tap.elicited = s.elicited
	}
	if s.wire != nil {
		s.wire.version = s.tap.protocolVersion
		s.tap.answersElsewhere = s.wire.sse
	}
	return s
}

// client returns the SDK's client for this one session.
func (s *session) client(c *Connector) *mcp.Client {
	options := &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{}, // nil would announce roots
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	}
	if s.elicit != nil {
		options.Capabilities.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: c.opts.ClientName, Version: c.opts.ClientVersion}, options)
	client.AddReceivingMiddleware(survive)
	register(client)
	return client
}

const (
	maxServerWord   = 256      // bytes of a server's name and of its version
	maxInstructions = 16 << 10 // bytes
)

// begin completes a session after the handshake.
func (s *session) begin() {
	result := s.sdk.InitializeResult()
	s.info = registry.SessionInfo{ProtocolVersion: result.ProtocolVersion, Instructions: cut(result.Instructions, maxInstructions)}
	if result.ServerInfo != nil {
		s.info.ServerName = cut(result.ServerInfo.Name, maxServerWord)
		s.info.ServerVersion = cut(result.ServerInfo.Version, maxServerWord)
	}
	if result.Capabilities != nil && result.Capabilities.Tools != nil {
		s.info.ListChanged = result.Capabilities.Tools.ListChanged
	}
	s.tap.setVersion(result.ProtocolVersion)
	if s.wire != nil {
		s.info.Transport = streamable
		if s.wire.sse {
			s.info.Transport = legacySSE
		}
	}
	go s.watch()
	s.listen()
}

// cut shortens text to at most max bytes of whole characters.
func cut(text string, max int) string {
	if len(text) <= max {
		return text
	}
	for max > 0 && !utf8.RuneStart(text[max]) {
		max--
	}
	return strings.Clone(text[:max])
}

// watch says that the session is over when its connection ends unasked.
func (s *session) watch() {
	err := survived(s.sdk.Wait)
	close(s.ended)
	if s.closing.Load() {
		return
	}
	s.tell(registry.Notice{Err: s.cause(err)})
	s.cancel()
}

// closeTime bounds how long closing waits for the server's goodbye. The DELETE is on its
// way by then, most often on a connection that was open.
const closeTime = 90 * time.Millisecond
