// Package oauth signs a client in to MCP servers. It implements the authorization
// chapters of the MCP specifications from 2025-03-26 to 2026-07-28. It also implements
// the extensions for client credentials, workload identity, enterprise-managed
// authorization and DPoP.
//
// Native hosts and the page's module use the same implementation. The host provides
// network, cryptography and storage: see [Options].
//
//	client := oauth.New(oauth.Options{Crypto: crypto, Ask: ask, RedirectURL: "http://127.0.0.1:8080/callback"})
//	server := client.Server("files", "https://files.example/mcp", nil, fetch)
//	header, err := server.Header(ctx, "POST", "https://files.example/mcp") // before a request
//	again, err := server.Refused(ctx, refusal)                            // after a 401 or 403
//	err = server.SignIn(ctx, nil)                                         // when a person asks for it
package oauth

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/text"
)

// A Request is a request to an authorization server, or for metadata. The host sends it
// without cookies and follows no redirects.
type Request struct {
	Method, URL string
	Header      []string // names and values in turn
	Body        []byte
}

// A Response is the response to a Request, with any status.
type Response struct {
	Status int
	Nonce  string // DPoP-Nonce
	Body   []byte // 256 KiB at most
}

// Fetch sends one request, directly or through the proxy as the MCP server's own
// requests. A missing or too long response is an error.
type Fetch func(ctx context.Context, r *Request) (*Response, error)

// A Prompt is an authorization page to show to a person.
type Prompt struct {
	Server string // the user's name of the MCP server
	URL    string
	Host   string // of the page, to be shown
	State  string // the page sends it back
	// Resume completes the sign-in in a later run of the program. It holds secrets.
	Resume string
}

// Options connect a client with its host.
type Options struct {
	Crypto Crypto
	// Ask shows a page to a person and returns the URL to which the page redirected.
	Ask func(ctx context.Context, p *Prompt) (string, error)
	// RedirectURL is the redirect URI of sign-ins. Without it no person can sign in.
	RedirectURL string
	// ClientMetadataURL is the address of a Client ID Metadata Document.
	ClientMetadataURL string
	// ClientName is the name with which the client registers.
	ClientName string
	// Load and Save store small secret texts beyond the client's life; an empty text
	// means none. Nil stores nothing.
	Load func(ctx context.Context, key string) (string, error)
	Save func(ctx context.Context, key, text string) error
	// Lock locks a name for all programs that share the storage of Save. Nil means that
	// this client is the only one.
	Lock func(ctx context.Context, name string) (unlock func(), err error)
	// Clock returns the time; nil means time.Now.
	Clock func() time.Time
}

// A Client holds the sign-ins of one registry. Its methods may be called from several
// goroutines.
type Client struct {
	opts Options

	mu      sync.Mutex
	servers map[string]*Server // by key
	current map[string]*Server // by name
}

// New returns a client without sign-ins.
func New(opts Options) *Client {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Client{opts: opts, servers: make(map[string]*Server), current: make(map[string]*Server)}
}

// Server returns the sign-in of the server name at href, an absolute URL. For the same
// name, href and identity of auth it returns the same sign-in, which takes over auth and fetch.
// State reports it from now on.
func (c *Client) Server(name, href string, auth *registry.Auth, fetch Fetch) *Server {
	s := c.Known(name, href, auth, fetch)
	c.mu.Lock()
	c.current[name] = s
	c.mu.Unlock()
	return s
}

// Known returns what Server returns. State goes on to report the sign-in that it did, as is
// right where a server has another URL or client now.
func (c *Client) Known(name, href string, auth *registry.Auth, fetch Fetch) *Server {
	at := splitURL(href)
	if at == nil {
		at = &parts{host: "."}
	}
	key := name + "\n" + href
	if identity := auth.Identity(); identity != "" {
		key += "\n" + identity
	}
	c.mu.Lock()
	s := c.servers[key]
	if s == nil {
		s = &Server{c: c, name: name, key: key, at: at}
		c.servers[key] = s
	}
	c.mu.Unlock()
	s.configure(auth, fetch)
	return s
}

// State returns registry.SignInNeeded, registry.SignedIn or "", and the host of the
// authorization page.
func (c *Client) State(name string) (state, host string) {
	c.mu.Lock()
	s := c.current[name]
	c.mu.Unlock()
	if s == nil {
		return "", ""
	}
	s.mu.Lock()
	switch {
	case s.needed:
		state = registry.SignInNeeded
	case s.grant != nil && s.grant.access != "":
		state = registry.SignedIn
	}
	host = s.host
	s.mu.Unlock()
	return state, host
}

// A grant is a client's registration with an authorization server, with its tokens. All
// fields are text, because they are stored as lines.
type grant struct {
	issuer, resource, host        string
	token, revoke                 string // endpoints
	client, secret, method        string // how the client authenticates
	configured                    string // not "": the client is auth.clientId of the configuration
	redirect                      string // with which it was registered
	key, jwk                      string // of DPoP; none: Bearer
	access, refresh, asked        string // asked: the scopes
	expires                       string // of access, in Unix seconds, or ""
	state, verifier, strict, dpop string // of a sign-in under way
}

// isOf reports whether the authorization server of m gave the grant. A server may name any issuer in metadata of its own,
// so both token endpoints have to be at one origin, too.
func (g *grant) isOf(m *metadata) bool {
	return g != nil && g.issuer == m.issuer && endpoint.Origin(g.token) == endpoint.Origin(m.token)
}

func (g *grant) fields() []*string {
	return []*string{
		&g.issuer, &g.resource, &g.host, &g.token, &g.revoke, &g.client, &g.secret, &g.method, &g.redirect, &g.key, &g.jwk,
		&g.access, &g.refresh, &g.asked, &g.expires, &g.state, &g.verifier, &g.strict, &g.dpop, &g.configured,
	}
}

// text returns the grant as it is stored: a line for each field.
func (g *grant) text() string {
	var out []byte
	for _, f := range g.fields() {
		out = append(out, text.PercentEncoded(*f)+"\n"...)
	}
	return string(out)
}

// readGrant returns nil if text is no grant. One of an earlier version lacks the last field.
func readGrant(text string) *grant {
	g := new(grant)
	fields := g.fields()
	lines := strings.Split(text, "\n")
	last := len(lines) - 1
	if last != len(fields) && last != len(fields)-1 {
		return nil
	}
	for i, line := range lines[:last] {
		*fields[i] = unescape(line)
	}
	return g
}
