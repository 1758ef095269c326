package oauth

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A Request is one that the client makes on its own account. It is sent without
// cookies, and its redirects are not followed.
type Request struct {
	Method, URL string
	Header      []string // names and values in turn
	Body        []byte
}

// A Response is the answer, whatever its status.
type Response struct {
	Status int
	Nonce  string // DPoP-Nonce
	Body   []byte // 256 KiB at most
}

// Fetch carries one request, on the way that the server's own take. An answer over
// the bound is an error, as is none.
type Fetch func(ctx context.Context, r *Request) (*Response, error)

// A Prompt is an authorization page that a person is to see.
type Prompt struct {
	_ incomparable

	Server string // whose page it is, as the user named it
	URL    string
	Host   string // of the page, to be shown
	State  string // comes back with the person
	// Resume completes the sign-in in a later run of the program. It holds secrets.
	Resume string
}

// Options are what a client needs of the world around it.
type Options struct {
	Crypto Crypto
	// Ask shows the page and returns the URL that it sent the person back to.
	Ask func(ctx context.Context, p *Prompt) (string, error)
	// RedirectURL is where pages send people back; "": nobody can be asked.
	RedirectURL string
	// ClientMetadataURL is the address of a Client ID Metadata Document.
	ClientMetadataURL string
	// ClientName is told where the client registers.
	ClientName string
	// Load and Save keep small secret texts beyond the client's life; "" is none.
	// Nil keeps nothing.
	Load func(ctx context.Context, key string) (string, error)
	Save func(ctx context.Context, key, text string) error
	// Lock gives one of all who share what Save keeps its turn; nil: there are no others.
	Lock func(ctx context.Context, name string) (unlock func(), err error)
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
}

// A Client holds the sign-ins of one registry. It is safe for several goroutines.
type Client struct {
	opts Options

	mu      sync.Mutex
	servers map[string]*Server
}

// New returns a client that is signed in nowhere.
func New(opts Options) *Client {
	if opts.Clock == nil {
		opts.Clock = time.Now
	}
	return &Client{opts: opts, servers: make(map[string]*Server)}
}

// Server returns the sign-in of the server that the user calls name and that is at
// href, an absolute URL. It is the same as long as both are; auth and fetch may be new.
func (c *Client) Server(name, href string, auth *registry.Auth, fetch Fetch) *Server {
	at := split(href)
	if at == nil {
		at = &parts{host: "."}
	}
	key := name + "\n" + href
	c.mu.Lock()
	s := c.servers[name]
	if s == nil || s.key != key {
		s = &Server{c: c, name: name, key: key, at: at}
		c.servers[name] = s
	}
	c.mu.Unlock()
	s.configure(auth, fetch)
	return s
}

// State tells whether the server of that name wants somebody to sign in, or
// somebody has, and at which host.
func (c *Client) State(name string) (state, host string) {
	c.mu.Lock()
	s := c.servers[name]
	c.mu.Unlock()
	if s == nil {
		return "", ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.needed:
		state = registry.SignInNeeded
	case s.grant != nil && s.grant.access != "":
		state = registry.SignedIn
	}
	return state, s.host
}

// incomparable spares the module a function that compares a large struct.
type incomparable [0]func()

// A grant is what an authorization server has given, to whom, and for what. All
// of it is text, so that it can be kept as it is.
type grant struct {
	_ incomparable

	issuer, resource, host        string
	token, revoke                 string // endpoints
	client, secret, method        string // how the client authenticates
	redirect                      string // with which it was registered
	key, jwk                      string // of DPoP; none: Bearer
	access, refresh, asked        string // asked: the scopes
	expires                       string // of access, in Unix seconds, or ""
	state, verifier, strict, dpop string // of a sign-in that has begun
}

func (g *grant) fields() []*string {
	return []*string{
		&g.issuer, &g.resource, &g.host, &g.token, &g.revoke, &g.client, &g.secret, &g.method, &g.redirect, &g.key, &g.jwk,
		&g.access, &g.refresh, &g.asked, &g.expires, &g.state, &g.verifier, &g.strict, &g.dpop,
	}
}

// text is the grant as it is kept: a line for each field.
func (g *grant) text() string {
	var out []byte
	for _, f := range g.fields() {
		out = append(escape(out, *f), '\n')
	}
	return string(out)
}

// readGrant returns nil for what is no grant of this version.
func readGrant(text string) *grant {
	g := new(grant)
	fields := g.fields()
	lines := strings.Split(text, "\n")
	if len(lines) != len(fields)+1 {
		return nil
	}
	for i, f := range fields {
		*f = unescape(lines[i])
	}
	return g
}
