package oauth

import (
	"context"
	"errors"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// metadata is what discovery found out, checked.
type metadata struct {
	_                                  incomparable
	resource                           string // as the server publishes it; "" where it publishes nothing
	scopes                             string // that the server names
	issuer                             string
	host                               string // of the authorization page
	authorize, token, register, revoke string
	methods                            []string // of the token endpoint; nil: not said
	offline, cimd, dpop, iss           bool
}

// errNoOAuth: the server says nowhere that it speaks OAuth.
var errNoOAuth = errors.New("the server names no authorization server")

func failure(text string) error { return registry.Because(registry.ErrSignIn, text) }

func text(json []byte, key string) string {
	raw, _ := rawjson.Get(json, key)
	s, _ := rawjson.String(raw)
	return s
}

func texts(json []byte, key string) (list []string, ok bool) {
	raw, _ := rawjson.Get(json, key)
	if rawjson.Kind(raw) != 'a' {
		return nil, false
	}
	_ = rawjson.Elements(raw, func(value []byte) error {
		if s, ok := rawjson.String(value); ok && len(list) < maxScopes {
			list = append(list, s)
		}
		return nil
	})
	return list, true
}

func yes(json []byte, key string) bool {
	raw, _ := rawjson.Get(json, key)
	v, _ := rawjson.Bool(raw)
	return v
}

// maxDepth bounds the nesting of metadata.
const maxDepth = 32

// document fetches a JSON object; nil if there is none at that place.
func (s *Server) document(ctx context.Context, url string) ([]byte, error) {
	res, err := s.settings.Load().fetch(ctx, &Request{Method: "GET", URL: url, Header: []string{"Accept", "application/json"}})
	if err != nil {
		return nil, err
	}
	if res.Status != 200 || rawjson.Valid(res.Body, maxDepth) != nil || rawjson.Kind(res.Body) != 'o' {
		return nil, nil
	}
	return res.Body, nil
}

// first fetches the first document that there is. A place that cannot be reached
// is passed over: in a page, CORS may stand before one and not before another.
func (s *Server) first(ctx context.Context, urls []string) (doc []byte, err error) {
	for _, url := range urls {
		found, wrong := s.document(ctx, url)
		if found != nil || ctx.Err() != nil {
			return found, ctx.Err()
		}
		if wrong != nil {
			err = wrong
		}
	}
	return nil, err
}

// discover finds out where to sign in (RFC 9728, RFC 8414, OpenID Connect
// Discovery, and what 2025-03-26 had before them).
func (s *Server) discover(ctx context.Context) (*metadata, error) {
	m := &metadata{}
	home := s.at
	s.mu.Lock()
	named := s.challenge.resourceMetadata
	s.mu.Unlock()
	var places []string
	if p, ok := split(named); ok && p.origin() == home.origin() {
		places = append(places, named)
	}
	const wellKnown = "/.well-known/oauth-protected-resource"
	if home.path != "" && home.path != "/" {
		places = append(places, home.origin()+wellKnown+home.path)
	}
	places = append(places, home.origin()+wellKnown)
	doc, err := s.first(ctx, places)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		return m, s.authorizationServer(ctx, m, home.origin(), true)
	}
	m.resource = text(doc, "resource")
	if !covers(m.resource, home) {
		return nil, failure("the server's metadata is about another resource: " + words(m.resource))
	}
	names, _ := texts(doc, "scopes_supported")
	m.scopes = scopes(strings.Join(names, " "))
	servers, _ := texts(doc, "authorization_servers")
	if len(servers) == 0 {
		return m, s.authorizationServer(ctx, m, home.origin(), true)
	}
	issuer := servers[0]
	if s.auth().Issuer != "" {
		if issuer = s.auth().Issuer; !has(servers, issuer) {
			return nil, failure("the server does not name " + words(issuer) + ", the one that is configured")
		}
	}
	return m, s.authorizationServer(ctx, m, issuer, false)
}

// covers reports whether a resource identifier is that of the server, or of a place above it.
func covers(resource string, home parts) bool {
	p, ok := split(resource)
	if !ok || p.origin() != home.origin() {
		return false
	}
	above := strings.TrimSuffix(p.path, "/")
	return above == "" || home.path == p.path || home.path == above || strings.HasPrefix(home.path, above+"/")
}

// authorizationServer reads an authorization server's metadata. old is 2025-03-26,
// where the server itself is the issuer, may say so under another name, and need
// not say that it knows PKCE.
func (s *Server) authorizationServer(ctx context.Context, m *metadata, issuer string, old bool) error {
	at, ok := endpoint(issuer, s.at)
	if !ok || at.tail != "" {
		return failure("the authorization server " + words(issuer) + " is no place to sign in at")
	}
	m.issuer, m.host = issuer, strings.TrimPrefix(strings.TrimPrefix(at.origin(), "https://"), "http://")
	const oauth, openid = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	path := strings.TrimSuffix(at.path, "/")
	places := []string{at.origin() + oauth + path, at.origin() + openid + path}
	if path != "" {
		places = append(places, at.origin()+path+openid)
	}
	doc, err := s.first(ctx, places)
	switch {
	case err != nil:
		return err
	case doc == nil && old:
		return errNoOAuth
	case doc == nil:
		return failure(m.host + " has no metadata of an authorization server")
	}
	m.authorize, m.token = text(doc, "authorization_endpoint"), text(doc, "token_endpoint")
	m.register, m.revoke = text(doc, "registration_endpoint"), text(doc, "revocation_endpoint")
	var first parts
	same := true
	for _, url := range []string{m.token, m.authorize, m.register, m.revoke} {
		if url == "" {
			continue
		}
		p, ok := endpoint(url, s.at)
		if !ok {
			return failure(m.host + " names an endpoint that is not safe: " + words(url))
		}
		if first.host == "" {
			first = p
		}
		same = same && p.origin() == first.origin()
	}
	if m.token == "" {
		return failure(m.host + " names no token endpoint")
	}
	if p, ok := split(m.authorize); ok {
		m.host = strings.TrimPrefix(strings.TrimPrefix(p.origin(), "https://"), "http://")
	}
	if named := text(doc, "issuer"); named != issuer {
		// Of the old kind another name is usual; it helps no mix-up where all endpoints are of one origin.
		if !old || !same || named == "" {
			return failure("the metadata of " + words(issuer) + " is that of another issuer: " + words(named))
		}
		m.issuer = named
	}
	if pkce, said := texts(doc, "code_challenge_methods_supported"); !has(pkce, "S256") && m.authorize != "" && (said || !old) {
		return failure(m.host + " does not support PKCE with S256")
	}
	m.methods, _ = texts(doc, "token_endpoint_auth_methods_supported")
	offered, _ := texts(doc, "scopes_supported")
	m.offline = has(offered, "offline_access")
	signed, _ := texts(doc, "dpop_signing_alg_values_supported")
	m.dpop = has(signed, "ES256")
	m.cimd = yes(doc, "client_id_metadata_document_supported")
	m.iss = yes(doc, "authorization_response_iss_parameter_supported")
	return nil
}

// defaults are the endpoints of a server of 2025-03-26 that has no metadata.
func (m *metadata) defaults(home parts) {
	o := home.origin()
	m.issuer, m.authorize, m.token, m.register = o, o+"/authorize", o+"/token", o+"/register"
}

// words makes a stranger's text fit for an error: one line, printable, short.
func words(text string) string {
	const limit = 200
	out := make([]byte, 0, min(len(text), limit))
	for i := 0; i < len(text) && len(out) < limit; i++ {
		if b := text[i]; b < ' ' || b > '~' {
			out = append(out, ' ')
		} else {
			out = append(out, b)
		}
	}
	return strings.TrimSpace(string(out))
}
