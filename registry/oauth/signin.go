package oauth

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// askTime bounds the time that a person has to sign in.
const askTime = 10 * time.Minute

// SignIn signs in with a person's help. Of concurrent calls one shows a page, and the
// others wait for it. begun, if not nil, completes a sign-in of an earlier run.
func (s *Server) SignIn(ctx context.Context, begun *registry.BegunSignIn) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	for {
		s.mu.Lock()
		f := s.signing
		if f == nil {
			break
		}
		s.mu.Unlock()
		if err := f.wait(ctx); err == nil || ctx.Err() != nil {
			return err
		}
	}
	f := &flight{done: make(chan struct{})}
	s.signing = f
	s.failed = nil
	s.mu.Unlock()
	s.run(&s.signing, func() error { return s.signIn(ctx, begun) })
	return f.err
}

func (s *Server) signIn(ctx context.Context, begun *registry.BegunSignIn) error {
	if begun != nil {
		g := readGrant(begun.Resume)
		if g == nil {
			return failure("the begun sign-in cannot be read; sign in again")
		}
		return s.finish(ctx, g, begun.URL)
	}
	old := s.reload(ctx)
	now := s.look()
	if old != nil && old.access != "" && !now.needed && joinScopes(old.asked, now.wanted) == joinScopes(old.asked, "") {
		return nil // another program signed in meanwhile
	}
	if s.isSilent() {
		used := ""
		if old != nil {
			used = old.access
		}
		return s.renew(ctx, used)
	}
	if s.c.opts.RedirectURL == "" || s.c.opts.Ask == nil {
		return failure("no person can sign in here without signIn: { redirectUrl, onAuthorize }")
	}
	m, err := s.discover(ctx)
	if errors.Is(err, errNoOAuth) {
		m.defaults(s.at)
		if metadataURL(m.issuer, s.at) == nil {
			return failure("signing in at ", m.issuer, " is not safe without https")
		}
		err = nil
	}
	if err != nil {
		return err
	}
	if metadataURL(m.authorize, s.at) == nil {
		return failure(m.host, " has no page to sign in at")
	}
	g, err := s.identity(ctx, m, old)
	if err != nil {
		return err
	}
	g.asked = s.scope(m)
	g.state, g.verifier = s.c.opts.Crypto.Random(), s.c.opts.Crypto.Random()
	if m.iss {
		g.strict = "1"
	}
	hash, err := s.c.opts.Crypto.Hash(ctx, g.verifier)
	if err != nil {
		return err
	}
	separator := "?"
	if strings.Contains(m.authorize, "?") {
		separator = "&"
	}
	if old != nil && old.access == "" { // the page may not know the client, and send nobody back
		s.keep(ctx, nil)
	}
	callback, err := s.c.opts.Ask(ctx, &Prompt{
		Server: s.name, Host: m.host, State: g.state, Resume: g.text(),
		URL: m.authorize + separator + string(encodeForm([]string{
			"response_type", "code", "client_id", g.client, "redirect_uri", g.redirect, "state", g.state,
			"code_challenge", hash, "code_challenge_method", "S256", "scope", g.asked, "resource", g.resource,
		})),
	})
	if err != nil {
		return err
	}
	return s.finish(ctx, g, callback)
}

// finish exchanges the code of the callback URL for tokens.
func (s *Server) finish(ctx context.Context, g *grant, callback string) error {
	if g.state == "" || queryParameter(callback, "state") != g.state {
		return failure("the answer belongs to another sign-in")
	}
	// RFC 9207: the issuer must match exactly. Otherwise the code of one server could be sent to another.
	if iss := queryParameter(callback, "iss"); iss != g.issuer && (iss != "" || g.strict != "") {
		return failure("the answer is not by ", g.issuer, ", but by ", iss)
	}
	if code := queryParameter(callback, "error"); code != "" {
		return failure(g.host, " answered ", refusalText(code, queryParameter(callback, "error_description")))
	}
	code := queryParameter(callback, "code")
	if code == "" {
		return failure(g.host, " answered without a code")
	}
	verifier := g.verifier
	g.state, g.verifier, g.strict = "", "", ""
	if err := s.request(ctx, g, "grant_type", "authorization_code", "code", code, "redirect_uri", g.redirect,
		"code_verifier", verifier, "resource", g.resource); err != nil {
		if isLost(err) {
			s.keep(ctx, nil) // the registration is invalid: the next sign-in registers again
		}
		return err
	}
	s.keep(ctx, g)
	return nil
}

// SignOut forgets the tokens and revokes them (RFC 7009), as far as ctx allows.
func (s *Server) SignOut(ctx context.Context) error {
	s.awaitRenewal(ctx)
	g := s.reload(ctx)
	s.keep(ctx, nil)
	s.mu.Lock()
	left := s.left
	s.left, s.needed, s.failed, s.wanted = nil, false, nil, ""
	s.mu.Unlock()
	s.revoke(ctx, g)
	s.revoke(ctx, left)
	return nil
}

// revoke has the issuer of a grant revoke its tokens, as far as ctx allows.
func (s *Server) revoke(ctx context.Context, g *grant) {
	if g == nil || g.revoke == "" {
		return
	}
	there := *g
	there.token = g.revoke
	for _, token := range []string{g.refresh, g.access} {
		if token == "" {
			continue
		}
		err := s.request(ctx, &there, "token", token)                        // revocation is best effort
		if _, proxied := errors.AsType[*registry.ProxyError](err); proxied { // it passes what metadata of this run names
			if _, err = s.discover(ctx); err == nil {
				_ = s.request(ctx, &there, "token", token)
			}
		}
	}
}
