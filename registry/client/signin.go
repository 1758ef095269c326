package client

import (
	"context"
	"errors"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/text"
)

// signInOf returns the sign-in of a server, nil where its headers have the
// credentials, or it is none of HTTP. open is oauth.Client.Server or Known.
func (c *Client) signInOf(open openSignIn, name, href string, cfg registry.ServerConfig) *oauth.Server {
	if c.opts.OAuth == nil || href == registry.Demo || cfg.HasAuthorization() {
		return nil
	}
	return open(c.opts.OAuth, name, href, cfg.Auth, func(ctx context.Context, r *oauth.Request) (*oauth.Response, error) {
		switch {
		case c.opts.Proxy == "" || !cfg.Proxy && !cfg.ProxyAuto:
			return c.fetch(ctx, name, r, r.URL)
		case cfg.Proxy:
			return c.fetchProxied(ctx, name, r, cfg.Headers)
		}
		res, err := c.fetch(ctx, name, r, r.URL)
		switch {
		case err == nil || ctx.Err() != nil:
		case r.Method == "GET": // what anybody may read
			return c.fetchProxied(ctx, name, r, nil)
		default:
			err = registry.Because(registry.ErrSignIn, "a browser cannot reach "+r.URL+" by itself, and secrets go through the proxy only if you switch it on for this server (proxy: true)")
		}
		return res, err
	})
}

// fetchProxied takes the way through the proxy, which lets pass what metadata that
// was read through it has named. Metadata is asked for without such a binding
// first: mostly it needs none. Of the server's headers the proxy gets those by which it knows its caller.
func (c *Client) fetchProxied(ctx context.Context, server string, r *oauth.Request, headers map[string]string) (*oauth.Response, error) {
	through, err := corsproxy.URL(c.opts.Proxy, r.URL)
	if err != nil {
		return nil, err
	}
	own := r.Header[:len(r.Header):len(r.Header)]
	for name, value := range headers {
		if lower := text.Lower(name); lower == "x-portolan-key" || lower == "x-portolan-ticket" {
			own = append(own, name, value)
		}
	}
	send := func(bound bool) (*oauth.Response, error) {
		in := *r
		in.Header = own
		if pass := c.passes.of(r.Method, r.URL, server); bound && pass != "" {
			in.Header = append(own[:len(own):len(own)], "X-Portolan-Binding", pass)
		}
		return c.fetch(ctx, server, &in, through)
	}
	isGet := r.Method == "GET"
	res, err := send(!isGet)
	if refused, ok := errors.AsType[*registry.ProxyError](err); !ok || !refused.Refused {
		return res, err
	}
	if !isGet { // an endpoint that the configuration names: its issuer's metadata may, too
		about := endpoint.Origin(r.URL) + "/.well-known/openid-configuration"
		if _, err := c.fetchProxied(ctx, server, &oauth.Request{Method: "GET", URL: about, Header: []string{"Accept", "application/json"}}, headers); err != nil {
			return nil, err
		}
	}
	return send(true)
}

func (c *Client) fetch(ctx context.Context, server string, r *oauth.Request, url string) (*oauth.Response, error) {
	mail := c.mailbox(nil, OpOther)
	defer mail.close()
	e, err := mail.once(ctx, &Exchange{Method: r.Method, URL: url, Header: r.Header, Body: r.Body, Whole: true})
	if err != nil {
		return nil, err
	}
	if e.Kind != Refused {
		kind := registry.ErrNetwork
		if e.Why == TooLarge {
			kind = registry.ErrTooLarge
		}
		return nil, registry.Because(kind, "while signing in")
	}
	if url != r.URL {
		if code := headerOf(e.Header, "x-proxy-error"); code != "" {
			return nil, corsproxy.ReadError(code, e.Status, []byte(e.Text))
		}
		c.passes.note(e.Header, endpoint.Origin(r.URL), lastOf+server)
	}
	return &oauth.Response{Status: e.Status, Nonce: headerOf(e.Header, "dpop-nonce"), Body: []byte(e.Text)}, nil
}

type openSignIn func(c *oauth.Client, name, href string, auth *registry.Auth, fetch oauth.Fetch) *oauth.Server

// signInAt is the sign-in of the server of that name.
func (c *Client) signInAt(open openSignIn, name string, cfg registry.ServerConfig) (*oauth.Server, error) {
	if href, _, ok := c.platform.Resolve(cfg.URL, ""); ok {
		if s := c.signInOf(open, name, href, cfg); s != nil {
			return s, nil
		}
	}
	return nil, registry.Because(registry.ErrSignIn, "the server has an Authorization header, or needs none")
}

// SignIn is that of [registry.SignIns].
func (c *Client) SignIn(ctx context.Context, name string, cfg registry.ServerConfig, begun *registry.BegunSignIn) error {
	s, err := c.signInAt((*oauth.Client).Server, name, cfg)
	if err != nil {
		return err
	}
	return s.SignIn(ctx, begun)
}

// SignOut is that of [registry.SignIns].
func (c *Client) SignOut(ctx context.Context, name string, cfg registry.ServerConfig) error {
	if s, err := c.signInAt((*oauth.Client).Known, name, cfg); err == nil {
		return s.SignOut(ctx)
	}
	return nil
}

// RenameSignIn is that of [registry.SignIns].
func (c *Client) RenameSignIn(ctx context.Context, name, to string, cfg registry.ServerConfig) {
	if from, err := c.signInAt((*oauth.Client).Known, name, cfg); err == nil {
		if s, err := c.signInAt((*oauth.Client).Server, to, cfg); err == nil {
			s.TakeOver(ctx, from)
		}
	}
}

// SignInState is that of [registry.SignIns].
func (c *Client) SignInState(name string, cfg registry.ServerConfig) (state, host string) {
	if c.opts.OAuth == nil || cfg.HasAuthorization() {
		return "", ""
	}
	return c.opts.OAuth.State(name)
}
