package sdksession

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

// Options configure a [Connector]. Zero values are good defaults.
type Options struct {
	// RoundTripper carries the requests; nil means [http.DefaultTransport].
	RoundTripper http.RoundTripper
	// Limits bound what one server can make a session hold.
	Limits registry.Limits
	// Elicit answers servers that ask the user something; nil means that the
	// capability is not announced.
	Elicit registry.Elicit
	// Proxy is the template of a CORS proxy for servers configured with
	// Proxy: "https://proxy.example/?url={href}", where {href} becomes the
	// percent-encoded URL of each request.
	Proxy string
	// SignIn says how people sign in.
	SignIn SignIn
	// ClientName and ClientVersion are told to servers; "portolan" and "dev" if empty.
	ClientName, ClientVersion string
	// Transports are servers that are not HTTP, by URL ("builtin:demo").
	Transports map[string]func() mcp.Transport
}

// A Connector opens sessions. What it learned about an endpoint (its transport,
// the era of its protocol) it remembers, so that the next session needs no
// probing. It is safe for several goroutines.
type Connector struct {
	opts    Options
	streams streamBudget
	oauth   *oauth.Client

	mu    sync.Mutex
	known map[string]knowledge // by endpoint
}

// knowledge is what earlier sessions found out about an endpoint.
type knowledge struct {
	transport string // "streamable-http", "sse" or "" for unknown
	legacy    bool   // the server refused server/discover: begin with initialize
}

// New returns a Connector. opts may be nil.
func New(opts *Options) *Connector {
	c := &Connector{known: make(map[string]knowledge)}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.RoundTripper == nil {
		c.opts.RoundTripper = defaultRoundTripper()
	}
	if c.opts.ClientName == "" {
		c.opts.ClientName = "portolan"
	}
	if c.opts.ClientVersion == "" {
		c.opts.ClientVersion = "dev"
	}
	c.opts.Limits = c.opts.Limits.WithDefaults()
	c.oauth = c.newOAuth()
	return c
}

// Connect is a [registry.Connect].
func (c *Connector) Connect(ctx context.Context, name string, cfg registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if notify == nil {
		notify = func(registry.Notice) {}
	}
	if strings.HasPrefix(cfg.URL, "builtin:") {
		transport, ok := c.opts.Transports[cfg.URL]
		if !ok {
			return nil, registry.Because(registry.ErrInvalidConfig, "there is no "+cfg.URL+" here")
		}
		return c.dial(ctx, &dialing{name: name, notify: notify, transport: transport()})
	}
	endpoint, err := url.Parse(cfg.URL)
	if err != nil || endpoint.Host == "" {
		return nil, registry.Because(registry.ErrInvalidConfig, "url cannot be parsed")
	}
	endpoint.Fragment = ""
	d := &dialing{name: name, notify: notify, endpoint: endpoint, headers: cfg.Headers, signIn: c.signInOf(name, cfg)}
	if cfg.Proxy {
		if _, err := corsproxy.URL(c.opts.Proxy, ""); err != nil {
			return nil, err
		}
		d.proxy = c.opts.Proxy
	}
	return c.negotiate(ctx, d, cfg.Transport)
}

func (c *Connector) recall(endpoint *url.URL) knowledge {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known[endpoint.String()]
}

// remember replaces what is known of an endpoint; the zero knowledge forgets it.
func (c *Connector) remember(endpoint *url.URL, k knowledge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k == (knowledge{}) {
		delete(c.known, endpoint.String())
		return
	}
	if len(c.known) >= maxKnown {
		clear(c.known)
	}
	c.known[endpoint.String()] = k
}

// maxKnown bounds the memory of a connector whose endpoints keep changing.
const maxKnown = 1000
