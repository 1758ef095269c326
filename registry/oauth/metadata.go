package oauth

import (
	"context"
	"errors"
	"slices"
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

// failure is an ErrSignIn; its parts may be a stranger's.
func failure(parts ...string) error {
	var text []byte
	for _, part := range parts {
		const most = 300
		for i := 0; i < len(part) && i < most; i++ {
			b := part[i]
			if b < ' ' || b > '~' {
				b = ' '
			}
			text = append(text, b)
		}
	}
	return registry.Because(registry.ErrSignIn, string(text))
}

func textOf(json []byte, key string) string {
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

// do makes a request of the client's own. A body that is no JSON object is none.
func (s *Server) do(ctx context.Context, r *Request) (*Response, error) {
	res, err := s.settings.Load().fetch(ctx, r)
	if err == nil && (rawjson.Kind(res.Body) != 'o' || rawjson.Valid(res.Body, maxDepth) != nil) {
		res.Body = nil
	}
	return res, err
}

// first fetches the first of several documents that there is. A place that cannot be reached
// is passed over: in a page, CORS may stand before one and not before another.
func (s *Server) first(ctx context.Context, urls []string) (doc []byte, err error) {
	for _, url := range urls {
		res, wrong := s.do(ctx, &Request{Method: "GET", URL: url, Header: []string{"Accept", "application/json"}})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case wrong != nil:
			err = wrong
		case res.Status == 200 && res.Body != nil:
			return res.Body, nil
		}
	}
	return nil, err
}

// discover finds out where to sign in (RFC 9728, RFC 8414, OpenID Connect
// Discovery, and what 2025-03-26 had before them).
func (s *Server) discover(ctx context.Context) (*metadata, error) {
	m := &metadata{}
	home := s.at
	named := s.look().challenge.resourceMetadata
	var places []string
	if p := split(named); p != nil && p.origin() == home.origin() {
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
	m.resource = textOf(doc, "resource")
	if !covers(m.resource, home) {
		return nil, failure("the server's metadata is about another resource: ", m.resource)
	}
	names, _ := texts(doc, "scopes_supported")
	for _, name := range names {
		m.scopes = scopes(m.scopes, name)
	}
	servers, _ := texts(doc, "authorization_servers")
	if len(servers) == 0 {
		return m, s.authorizationServer(ctx, m, home.origin(), true)
	}
	issuer := servers[0]
	if s.auth().Issuer != "" {
		if issuer = s.auth().Issuer; !slices.Contains(servers, issuer) {
			return nil, failure("the server does not name ", issuer, ", the one that is configured")
		}
	}
	return m, s.authorizationServer(ctx, m, issuer, false)
}

// covers reports whether a resource identifier is that of the server, or of a place above it.
func covers(resource string, home *parts) bool {
	p := split(resource)
	if p == nil || p.origin() != home.origin() {
		return false
	}
	above := strings.TrimSuffix(p.path, "/")
	return above == "" || home.path == p.path || home.path == above || strings.HasPrefix(home.path, above+"/")
}

// authorizationServer reads an authorization server's metadata. old is 2025-03-26,
// where the server itself is the issuer, may say so under another name, and need
// not say that it knows PKCE.
func (s *Server) authorizationServer(ctx context.Context, m *metadata, issuer string, old bool) error {
	at := endpoint(issuer, s.at)
	if at == nil || at.tail != "" {
		return failure("the authorization server ", issuer, " is no place to sign in at")
	}
	m.issuer, m.host = issuer, at.authority()
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
		return failure(m.host, " has no metadata of an authorization server")
	}
	origin, same := "", true
	for i, name := range [...]string{"token_endpoint", "registration_endpoint", "revocation_endpoint", "authorization_endpoint"} {
		url := textOf(doc, name)
		if url == "" {
			continue
		}
		p := endpoint(url, s.at)
		if p == nil {
			return failure(m.host, " names an endpoint that is not safe: ", url)
		}
		*[...]*string{&m.token, &m.register, &m.revoke, &m.authorize}[i] = url
		here := p.authority()
		same = same && (origin == "" || origin == here)
		origin = here
	}
	if m.token == "" {
		return failure(m.host, " names no token endpoint")
	}
	if m.authorize != "" {
		m.host = origin // its own, for it is the last
	}
	if named := textOf(doc, "issuer"); named != issuer {
		// Of the old kind another name is usual; it helps no mix-up where all endpoints are of one origin.
		if !old || !same || named == "" {
			return failure("the metadata of ", issuer, " is that of another issuer: ", named)
		}
		m.issuer = named
	}
	if pkce, said := texts(doc, "code_challenge_methods_supported"); !slices.Contains(pkce, "S256") && m.authorize != "" && (said || !old) {
		return failure(m.host, " does not support PKCE with S256")
	}
	m.methods, _ = texts(doc, "token_endpoint_auth_methods_supported")
	offered, _ := texts(doc, "scopes_supported")
	m.offline = slices.Contains(offered, "offline_access")
	signed, _ := texts(doc, "dpop_signing_alg_values_supported")
	m.dpop = slices.Contains(signed, "ES256")
	m.cimd = yes(doc, "client_id_metadata_document_supported")
	m.iss = yes(doc, "authorization_response_iss_parameter_supported")
	return nil
}

// defaults are the endpoints of a server of 2025-03-26 that has no metadata.
func (m *metadata) defaults(home *parts) {
	o := home.origin()
	m.issuer, m.authorize, m.token, m.register = o, o+"/authorize", o+"/token", o+"/register"
}
