package sdksession

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

// SignIn says how people sign in. Without a redirect URL nobody is asked, and only
// flows that need no person work.
type SignIn struct {
	// Ask shows a page to the user and returns the URL that it sent the user back to.
	Ask func(ctx context.Context, p *oauth.Prompt) (string, error)
	// RedirectURL is where pages send the user back.
	RedirectURL string
	// ClientMetadataURL is the address of a Client ID Metadata Document.
	ClientMetadataURL string
	// Load and Save keep small secret texts; nil keeps them in memory.
	Load func(ctx context.Context, key string) (string, error)
	Save func(ctx context.Context, key, text string) error
}

func (c *Connector) newOAuth() *oauth.Client {
	s := &c.opts.SignIn
	return oauth.New(oauth.Options{
		Crypto: Crypto(), Ask: s.Ask, RedirectURL: s.RedirectURL, ClientMetadataURL: s.ClientMetadataURL,
		ClientName: c.opts.ClientName, Load: s.Load, Save: s.Save,
	})
}

// maxMetadata bounds what is read of metadata and of a token response.
const maxMetadata = 256 << 10

// signInOf returns the sign-in of a server, nil where its headers have the credentials.
func (c *Connector) signInOf(name string, cfg registry.ServerConfig) *oauth.Server {
	for header := range cfg.Headers {
		if strings.EqualFold(header, "Authorization") {
			return nil
		}
	}
	proxy := ""
	if cfg.Proxy {
		proxy = c.opts.Proxy
	}
	return c.oauth.Server(name, cfg.URL, cfg.Auth, func(ctx context.Context, r *oauth.Request) (*oauth.Response, error) {
		return c.fetch(ctx, proxy, r)
	})
}

func (c *Connector) fetch(ctx context.Context, proxy string, r *oauth.Request) (*oauth.Response, error) {
	target := r.URL
	if proxy != "" {
		var err error
		if target, err = corsproxy.URL(proxy, target); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, target, strings.NewReader(string(r.Body)))
	if err != nil {
		return nil, registry.Because(registry.ErrSignIn, "an address cannot be parsed")
	}
	for i := 0; i+1 < len(r.Header); i += 2 {
		req.Header.Set(r.Header[i], r.Header[i+1])
	}
	res, err := c.opts.RoundTripper.RoundTrip(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, registry.Because(registry.ErrNetwork, "while signing in")
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxMetadata+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, registry.Because(registry.ErrNetwork, "while signing in")
	case len(body) > maxMetadata:
		return nil, registry.Because(registry.ErrTooLarge, "while signing in")
	}
	return &oauth.Response{Status: res.StatusCode, Nonce: res.Header.Get("DPoP-Nonce"), Body: body}, nil
}

// SignIn implements registry.SignIns.
func (c *Connector) SignIn(ctx context.Context, name string, cfg registry.ServerConfig, begun *registry.BegunSignIn) error {
	s := c.signInOf(name, cfg)
	if s == nil || strings.HasPrefix(cfg.URL, "builtin:") {
		return registry.Because(registry.ErrSignIn, "the server has an Authorization header, or needs none")
	}
	return s.SignIn(ctx, begun)
}

// SignOut implements registry.SignIns.
func (c *Connector) SignOut(ctx context.Context, name string, cfg registry.ServerConfig) error {
	if s := c.signInOf(name, cfg); s != nil {
		return s.SignOut(ctx)
	}
	return nil
}

// SignInState implements registry.SignIns.
func (c *Connector) SignInState(name string, _ registry.ServerConfig) (state, host string) {
	return c.oauth.State(name)
}

// maxResends bounds how often a refused request is sent again: for a nonce, a new
// token, and a nonce once more.
const maxResends = 3

// authorize adds tokens, and sends what was refused for the lack of one again: a
// request that was answered 401 or 403 has not run.
func (w *wire) authorize(next http.RoundTripper) http.RoundTripper {
	if w.signIn == nil {
		return next
	}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		for sends := 0; ; sends++ {
			out := req.Clone(req.Context())
			if sends > 0 && req.GetBody != nil {
				body, err := req.GetBody()
				if err != nil {
					return nil, err
				}
				out.Body = body
			}
			header, err := w.signIn.Header(req.Context(), req.Method, req.URL.String())
			if err != nil {
				return nil, err
			}
			for pair := range slices.Chunk(header, 2) {
				out.Header.Set(pair[0], pair[1])
			}
			res, err := next.RoundTrip(out)
			if err != nil || res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden || sends == maxResends {
				return res, err
			}
			again, err := w.signIn.Refused(req.Context(), oauth.Refusal{
				Status: res.StatusCode, Challenge: strings.Join(res.Header.Values("WWW-Authenticate"), ", "),
				Nonce: res.Header.Get("DPoP-Nonce"), Sent: out.Header.Get("Authorization"),
			})
			if err == nil && (!again || req.Body != nil && req.GetBody == nil) {
				return res, nil
			}
			res.Body.Close()
			if err != nil {
				return nil, err
			}
		}
	})
}

// isSignIn reports whether err says that signing in is what is missing.
func isSignIn(err error) bool {
	return errors.Is(err, registry.ErrSignInNeeded) || errors.Is(err, registry.ErrSignIn)
}

var _ registry.SignIns = (*Connector)(nil)
