package registry

import (
	"context"
	"slices"
	"strings"

	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// Auth says how to sign in to a server, where what it says of itself does not
// suffice. Its JSON form is AuthConfig of the JavaScript surface.
type Auth struct {
	// Flow is "authorization-code" (or ""), "client-credentials", "jwt-bearer" or
	// "enterprise-managed". Only the first asks a person.
	Flow string
	// ClientID is that of a client that was registered beforehand.
	ClientID string
	// ClientSecret or PrivateKey, a PKCS#8 key in PEM or a JWK, authenticates the client.
	ClientSecret     string
	PrivateKey       string
	SigningAlgorithm string // of the key; "" means ES256
	// Issuer is the only authorization server that may hear of the client; "" is
	// the first that the server names.
	Issuer string
	// ClientMetadataURL is the address of a Client ID Metadata Document.
	ClientMetadataURL string
	// Scopes replaces what the server asks for.
	Scopes []string
	// Assertion is the workload's own token, of jwt-bearer.
	Assertion string
	// IDToken is exchanged at IDPTokenURL by the client IDPClientID, of enterprise-managed.
	IDToken     string
	IDPTokenURL string
	IDPClientID string
	// Missing names secrets that were configured, and that the host did not store. Their JSON form is "".
	Missing []string
}

// An AuthField is one text of an Auth by the name of its JSON form.
type AuthField struct {
	Name   string
	Value  *string
	Secret bool // may not be shown
}

// Fields returns the texts of a, all except the scopes, in the order of [wire.AuthFields].
func (a *Auth) Fields() []AuthField {
	values := [len(wire.AuthFields)]*string{
		&a.Assertion, &a.ClientID, &a.ClientMetadataURL, &a.ClientSecret, &a.Flow, &a.IDToken, &a.IDPClientID,
		&a.IDPTokenURL, &a.Issuer, &a.PrivateKey, &a.SigningAlgorithm,
	}
	fields := make([]AuthField, len(values))
	for i, value := range values {
		fields[i] = AuthField{wire.AuthFields[i].Name, value, wire.AuthFields[i].Secret}
	}
	return fields
}

// Equal reports whether a and b say the same.
func (a *Auth) Equal(b *Auth) bool {
	if a == nil || b == nil {
		return a == b
	}
	theirs := b.Fields()
	for i, f := range a.Fields() {
		if *f.Value != *theirs[i].Value {
			return false
		}
	}
	return slices.Equal(a.Scopes, b.Scopes)
}

func (a *Auth) check() error {
	if a == nil {
		return nil
	}
	if wrong := a.wrong(); wrong != "" {
		return Because(ErrInvalidConfig, "auth."+wrong)
	}
	return nil
}

func (a *Auth) wrong() string {
	if wrong := notOneOf("flow", a.Flow, wire.AuthFlows); wrong != "" {
		return wrong
	}
	if wrong := notOneOf("signingAlgorithm", a.SigningAlgorithm, wire.SigningAlgorithms); wrong != "" {
		return wrong
	}
	for _, f := range a.Fields() {
		value := *f.Value
		if f.Secret || value == "" {
			continue
		}
		if (strings.HasSuffix(f.Name, "Url") || f.Name == "issuer") && checkURL(value) != nil {
			return f.Name + " is not an http or https URL"
		}
		for i := range len(value) {
			if value[i] < ' ' || value[i] == 0x7f {
				return f.Name + " holds a control character"
			}
		}
	}
	for _, scope := range a.Scopes {
		for i := range len(scope) {
			if b := scope[i]; b <= ' ' || b > '~' || b == '"' || b == '\\' {
				return `scopes holds "` + scope + `", which is no scope`
			}
		}
	}
	return ""
}

var (
	// ErrSignInNeeded: the server wants a person to sign in; SignIn does that.
	ErrSignInNeeded error = &sentinel{"the server wants you to sign in", &wire.SignInNeeded, true}
	// ErrSignIn: signing in did not work.
	ErrSignIn error = &sentinel{"signing in did not work", &wire.SignInFailed, true}
)

// The values of ServerHealth.SignIn.
const (
	SignInNeeded = "needed"
	SignedIn     = "signed-in"
)

// SignIns is what a client knows of signing in. All methods may be called from
// several goroutines at once.
type SignIns interface {
	// SignIn has a person sign in, if the server's flow needs one; begun, if not
	// nil, is what an earlier SignIn left when it was interrupted.
	SignIn(ctx context.Context, name string, cfg ServerConfig, begun *BegunSignIn) error
	// SignOut forgets the server's tokens, and has them revoked as far as ctx lets it.
	SignOut(ctx context.Context, name string, cfg ServerConfig) error
	// RenameSignIn gives the tokens of a server to its new name.
	RenameSignIn(ctx context.Context, name, to string, cfg ServerConfig)
	// SignInState returns SignInNeeded, SignedIn or "", and the authorization
	// server's host, if it is known. It does not block.
	SignInState(name string, cfg ServerConfig) (state, host string)
}

// A BegunSignIn is a sign-in whose person came back to another run of the program.
type BegunSignIn struct {
	Resume string // as the client gave it away
	URL    string // the person came back to
}

var errNoSignIn = Because(ErrSignIn, "nobody can sign in here")

// SignIn has a person sign in to a server, and then tries the server; how that
// goes is in its health.
func (r *Registry) SignIn(ctx context.Context, name string) error {
	return r.ResumeSignIn(ctx, name, nil)
}

// ResumeSignIn completes a sign-in that an earlier run of the program began. If the server was removed meanwhile, or
// got another URL or client, the tokens are revoked and the error is [ErrServerRemoved]. SignIn does the same. The
// server's health shows another error of ResumeSignIn until a sign-in works.
func (r *Registry) ResumeSignIn(ctx context.Context, name string, begun *BegunSignIn) error {
	cfg, err := r.signable(name, "sign in")
	if err != nil {
		return err
	}
	err = r.opts.SignIns.SignIn(ctx, name, cfg, begun)
	r.mu.Lock()
	switch s := r.servers[name]; {
	case err == nil && (s == nil || !s.cfg.sameSignIn(&cfg)):
		err = ErrServerRemoved
	case err != nil && s != nil && begun != nil: // nobody waits for it
		s.failure, s.lastError = err, r.shown(s, err.Error())
	}
	r.changed(Event{Server: name})
	r.mu.Unlock()
	r.deliver()
	if err == ErrServerRemoved {
		_ = r.opts.SignIns.SignOut(ctx, name, cfg)
	}
	if err != nil {
		return onServer(name, "sign in", err)
	}
	if err := r.Retry(name); err != nil {
		return err
	}
	_ = r.Discover(ctx, name)
	return nil
}

// SignOut forgets a server's tokens and ends its session. It forgets the server's list too
// if the server says that the list is the user's own.
func (r *Registry) SignOut(ctx context.Context, name string) error {
	cfg, err := r.signable(name, "sign out")
	if err != nil {
		return err
	}
	err = r.opts.SignIns.SignOut(ctx, name, cfg)
	_ = r.change(func() error {
		if s := r.servers[name]; s != nil {
			r.drop(s, ErrSignInNeeded)
			if s.private {
				r.forgetTools(s)
			}
			s.forgetOffers(true)
			r.changed(Event{Server: name, Tools: s.private || s.breaker.suspended})
			s.breaker.reset() // a probe may have been cut short
		}
		return nil
	})
	return onServer(name, "sign out", err)
}

func (r *Registry) signable(name, op string) (cfg ServerConfig, err error) {
	r.mu.Lock()
	s := r.servers[name]
	switch {
	case r.closed:
		err = ErrClosed
	case s == nil:
		err = ErrUnknownServer
	case s.cfg.Disabled && op == "sign in":
		err = ErrDisabled
	case r.opts.SignIns == nil:
		err = errNoSignIn
	default:
		cfg = s.cfg.clone()
	}
	r.mu.Unlock()
	return cfg, onServer(name, op, err)
}

// Identity names the client that signs in, and the flow unless a person is asked. It is "" for nil.
func (a *Auth) Identity() string {
	switch {
	case a == nil:
		return ""
	case a.IsSilent():
		return a.Flow + " " + a.ClientID
	}
	return a.ClientID
}

// IsSilent reports whether the flow gets tokens without a person.
func (a *Auth) IsSilent() bool { return a.Flow != "" && a.Flow != "authorization-code" }

// sameSignIn reports whether a sign-in with c holds for d too.
func (c *ServerConfig) sameSignIn(d *ServerConfig) bool {
	return endpoint.Resource(c.URL) == endpoint.Resource(d.URL) && c.Auth.Identity() == d.Auth.Identity() &&
		c.HasAuthorization() == d.HasAuthorization()
}

// HasAuthorization reports whether a header has the credentials, so that nobody signs in.
func (c *ServerConfig) HasAuthorization() bool {
	for header := range c.Headers {
		if text.Lower(header) == "authorization" {
			return true
		}
	}
	return false
}

// signOutLater forgets the tokens of a server that is removed, or that gets another sign-in. The caller holds r.mu.
func (r *Registry) signOutLater(s *server) {
	if r.opts.SignIns == nil {
		return
	}
	cfg := s.cfg
	r.goroutine(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout) // Close waits for it
		defer cancel()
		_ = r.opts.SignIns.SignOut(ctx, s.name, cfg)
	})
}
