package oauth

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// A Server is the sign-in of one MCP server. Its methods may be called from several
// goroutines.
type Server struct {
	c    *Client
	name string
	key  string
	at   *parts

	mu       sync.Mutex
	settings *settings // never changed, only replaced
	state
	renewing *flight
	signing  *flight
}

// A state is the state of a sign-in at one moment.
type state struct {
	grant     *grant // never changed, only replaced
	left      *grant // of an issuer that the configuration does not name any more; SignOut revokes it
	loaded    bool   // the stored grant was read
	challenge challenge
	spent     []string // replaced secrets, which a late response may repeat
	wanted    string   // scopes that a step-up asked for
	nonce     string   // the MCP server's own, for DPoP
	needed    bool     // a person has to sign in
	host      string   // of the authorization page
	failed    error    // the refusal of the silent flow, which is not tried again
}

// look returns a copy of the state.
func (s *Server) look() *state {
	s.mu.Lock()
	now := s.state
	s.mu.Unlock()
	return &now
}

// A flight is work for which several goroutines wait.
type flight struct {
	done chan struct{} // closed when err is set
	err  error
}

// run does the work of the flight in slot, and then empties the slot. A panic becomes the
// flight's error.
func (s *Server) run(slot **flight, work func() error) {
	f := *slot
	defer func() {
		if recover() != nil {
			f.err = failure("a fault of Portolan while it signed in")
		}
		s.mu.Lock()
		*slot = nil
		s.mu.Unlock()
		close(f.done)
	}()
	f.err = work()
}

func (f *flight) wait(ctx context.Context) error {
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settings are the configuration of a server, and the way to send requests.
type settings struct {
	auth  registry.Auth
	fetch Fetch
}

func (s *Server) configure(auth *registry.Auth, fetch Fetch) {
	next := &settings{fetch: fetch}
	if auth != nil {
		next.auth = *auth
	}
	s.mu.Lock()
	was := s.settings
	s.settings = next
	if was != nil && !next.auth.Equal(&was.auth) {
		s.failed = nil
		s.adopt(s.grant)
	}
	s.mu.Unlock()
}

func (s *Server) configured() *settings {
	s.mu.Lock()
	now := s.settings
	s.mu.Unlock()
	return now
}

func (s *Server) isSilent() bool { return s.auth().IsSilent() }

func (s *Server) auth() *registry.Auth { return &s.configured().auth }

// Ready reports whether Header returns without waiting.
func (s *Server) Ready() bool {
	now := s.look()
	g := now.grant
	if g == nil || g.access == "" {
		return now.loaded || s.c.opts.Load == nil
	}
	return g.key == "" && !s.stale(g)
}

// stale reports whether the token is about to expire and can be renewed in time.
func (s *Server) stale(g *grant) bool {
	const early = 30 // seconds
	expires, ok := rawjson.Int([]byte(g.expires))
	return ok && s.c.now() > expires-early && (g.refresh != "" || s.isSilent())
}

// Header returns the header fields that authorize a request. It first renews a token that
// is about to expire.
func (s *Server) Header(ctx context.Context, method, url string) ([]string, error) {
	s.load(ctx)
	now := s.look()
	if now.grant != nil && s.stale(now.grant) {
		_ = s.renew(ctx, now.grant.access) // if that fails, the server decides about the old token
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		now = s.look()
	}
	g := now.grant
	switch {
	case g == nil || g.access == "":
		return nil, nil
	case g.key == "":
		return []string{"Authorization", "Bearer " + g.access}, nil
	}
	proof, err := s.c.proof(ctx, g, method, url, now.nonce, g.access)
	return []string{"Authorization", "DPoP " + g.access, "DPoP", proof}, err
}

// load reads the stored grant, once.
func (s *Server) load(ctx context.Context) {
	if s.c.opts.Load != nil && !s.look().loaded {
		s.reload(ctx)
	}
}

// reload takes over the stored grant, which another program may have changed. It returns
// the grant.
func (s *Server) reload(ctx context.Context) *grant {
	var kept *grant
	if s.c.opts.Load != nil {
		text, err := s.c.opts.Load(ctx, s.key)
		if err != nil {
			return s.look().grant
		}
		kept = readGrant(text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = true
	if s.c.opts.Load != nil && (kept != nil || s.grant != nil) {
		s.adopt(kept)
	}
	return s.grant
}

// adopt makes g the grant, unless it is another client's or another issuer's than the configured one. The caller holds
// s.mu.
func (s *Server) adopt(g *grant) {
	if a := &s.settings.auth; g != nil && (g.configured != a.ClientID || a.Issuer != "" && !isSameIssuer(g.issuer, a.Issuer)) {
		s.left, g = g, nil
	}
	if old := s.grant; old != nil && old != g {
		s.spent = append(s.spent[max(0, len(s.spent)-9):], old.access, old.refresh, old.secret)
	}
	s.grant = g
	if g != nil && g.access != "" {
		s.needed, s.host = false, g.host
	}
}

// keep replaces the grant, also in the storage.
func (s *Server) keep(ctx context.Context, g *grant) {
	s.mu.Lock()
	s.adopt(g)
	s.mu.Unlock()
	if s.c.opts.Save == nil {
		return
	}
	text := ""
	if g != nil {
		text = g.text()
	}
	_ = s.c.opts.Save(ctx, s.key, text) // a grant that was not stored holds in this run
}

// TakeOver takes the grant of a server that is renamed.
func (s *Server) TakeOver(ctx context.Context, from *Server) {
	from.awaitRenewal(ctx)
	from.load(ctx)
	if g := from.look().grant; g != nil {
		s.keep(ctx, g)
		from.keep(ctx, nil)
	}
}

// A Refusal is a response of status 401 or 403.
type Refusal struct {
	Status    int
	Challenge string // WWW-Authenticate, if it can be read
	Nonce     string // DPoP-Nonce
	Sent      string // the Authorization header of the request
}

// Refused handles the refusal of a request, which has not run. again means that the
// request can be sent again with a new Header. An error says why that is not possible.
// Without either, the refusal does not concern the sign-in.
func (s *Server) Refused(ctx context.Context, r Refusal) (again bool, err error) {
	said := readChallenge(r.Challenge)
	_, sent, _ := strings.Cut(r.Sent, " ")
	s.load(ctx)
	s.mu.Lock()
	g := s.grant
	if r.Status == 401 || said.code == "insufficient_scope" {
		if said.scope != "" || said.resourceMetadata != "" {
			s.challenge = said
		}
	}
	newNonce := r.Nonce != "" && len(r.Nonce) < maxURL && r.Nonce != s.nonce
	if newNonce {
		s.nonce = r.Nonce
	}
	s.mu.Unlock()
	switch {
	case sent != "" && g == nil:
		return false, nil // signed out meanwhile
	case r.Status == 401 && said.code == "use_dpop_nonce" && g != nil && g.key != "":
		return newNonce, nil
	case g != nil && g.access != "" && g.access != sent:
		return true, nil // renewed meanwhile
	case r.Status == 403:
		if said.code != "insufficient_scope" || g == nil || joinScopes(g.asked, said.scope) == joinScopes(g.asked, "") {
			return false, nil // the refusal names no further scope
		}
		s.mu.Lock()
		s.wanted = joinScopes(g.asked, said.scope)
		s.mu.Unlock()
		if !s.isSilent() {
			return false, s.need(g.host, "it wants more rights: "+s.Redact(joinScopes(said.scope, "")))
		}
	case s.c.opts.RedirectURL == "" && !s.isSilent():
		return false, nil
	}
	switch err := s.renew(ctx, sent); {
	case err == nil:
		return true, nil
	case errors.Is(err, errNoOAuth):
		return false, nil
	default:
		return false, err
	}
}

// need records that a person has to sign in at host, and returns the error for it.
func (s *Server) need(host, why string) error {
	s.mu.Lock()
	s.needed, s.host = true, host
	s.mu.Unlock()
	return registry.Because(registry.ErrSignInNeeded, why)
}

// renewTime bounds a renewal. It goes on if its callers leave, because an interrupted
// refresh may have used up the refresh token.
const renewTime = 30 * time.Second

// renew replaces the token used, without a person. Concurrent callers share one attempt.
func (s *Server) renew(ctx context.Context, used string) error {
	s.mu.Lock()
	f := s.renewing
	if f == nil {
		f = &flight{done: make(chan struct{})}
		s.renewing = f
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), renewTime)
			defer cancel()
			s.run(&s.renewing, func() error { return s.renewNow(ctx, used) })
		}()
	}
	s.mu.Unlock()
	return f.wait(ctx)
}

// awaitRenewal waits for a renewal under way, whose token comes too late otherwise.
func (s *Server) awaitRenewal(ctx context.Context) {
	s.mu.Lock()
	renewing := s.renewing
	s.mu.Unlock()
	if renewing != nil {
		_ = renewing.wait(ctx)
	}
}

func (s *Server) renewNow(ctx context.Context, used string) error {
	if s.c.opts.Lock != nil {
		unlock, err := s.c.opts.Lock(ctx, s.key)
		if err != nil {
			return err
		}
		defer unlock()
	}
	g := s.reload(ctx)
	if g != nil && g.access != "" && g.access != used {
		return nil // another program renewed it
	}
	now := s.look()
	switch {
	case now.failed != nil:
		return now.failed
	case now.needed && !s.isSilent() && (g == nil || g.refresh == ""):
		return s.need(now.host, "at "+now.host)
	}
	m, err := s.discover(ctx)
	if g != nil && errors.Is(err, errNoOAuth) { // as when the person signed in
		m.defaults(s.at)
		err = nil
	}
	if err != nil {
		return err
	}
	// Only a person can add rights to the other flows. Until then the sign-in goes on without them.
	if g.isOf(m) && g.refresh != "" && (!s.isSilent() || joinScopes(g.asked, now.wanted) == joinScopes(g.asked, "")) {
		next := *g
		next.token = m.token
		// The old refresh token may be void afterwards.
		err = s.request(ctx, &next, "grant_type", "refresh_token", "refresh_token", g.refresh, "resource", g.resource)
		if err == nil {
			s.keep(ctx, &next)
			return nil
		}
		if !isRefused(err) {
			return err
		}
	}
	if s.isSilent() {
		next, err := s.silent(ctx, m, g)
		if err == nil {
			s.keep(ctx, next)
		} else if isRefused(err) {
			s.mu.Lock()
			s.failed = err
			s.mu.Unlock()
		}
		return err
	}
	if g != nil {
		next := *g // keeps the registration, unless it is invalid
		next.access, next.refresh, next.expires = "", "", ""
		if isLost(err) && s.auth().ClientID == "" {
			next.client = ""
		}
		s.keep(ctx, &next)
	}
	return s.need(m.host, "at "+m.host)
}

// Redact hides the tokens and secrets of this sign-in in a server's words.
func (s *Server) Redact(words string) string {
	now, a := s.look(), s.auth()
	secrets := append(now.spent[:len(now.spent):len(now.spent)], a.ClientSecret, a.PrivateKey, a.Assertion, a.IDToken)
	if g := now.grant; g != nil {
		secrets = append(secrets, g.access, g.refresh, g.secret)
	}
	return text.Redact(words, secrets...)
}
