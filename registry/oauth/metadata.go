package oauth

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// metadata is the checked result of discovery.
type metadata struct {
	resource                           string // as the server publishes it, or ""
	scopes                             string // of the server's metadata
	issuer                             string
	host                               string // of the authorization page
	authorize, token, register, revoke string
	methods                            []string // of the token endpoint; nil if unknown
	offline, cimd, dpop, iss           bool
}

// errNoOAuth is the error for a server without OAuth metadata.
var errNoOAuth = errors.New("the server names no authorization server")

// failure returns an ErrSignIn. Servers may have chosen its parts.
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

func textsOf(json []byte, key string) []string {
	list := rawjson.Strings(rawjson.Get(json, key))
	return list[:min(len(list), maxScopes)]
}

// maxDepth bounds the nesting of metadata.
const maxDepth = 32

// do sends a request. A body that is not a JSON object counts as none.
func (s *Server) do(ctx context.Context, r *Request) (*Response, error) {
	res, err := s.configured().fetch(ctx, r)
	if err == nil && (rawjson.Kind(res.Body) != 'o' || rawjson.Valid(res.Body, maxDepth) != nil) {
		res.Body = nil
	}
	return res, err
}

// first returns the first document that exists at one of the URLs. It passes over URLs
// that cannot be reached: in a page, CORS may block one and allow another.
func (s *Server) first(ctx context.Context, urls []string) (doc []byte, err error) {
	for _, url := range urls {
		res, failed := s.do(ctx, &Request{Method: "GET", URL: url, Header: []string{"Accept", "application/json"}})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case failed != nil:
			err = failed
		case res.Status == 200 && res.Body != nil:
			return res.Body, nil
		}
	}
	return nil, err
}

// discover reads the metadata of the server and of its authorization server (RFC 9728,
// RFC 8414, OpenID Connect Discovery, and the defaults of 2025-03-26).
func (s *Server) discover(ctx context.Context) (*metadata, error) {
	m := &metadata{}
	home := s.at
	named := s.look().challenge.resourceMetadata
	var places []string
	if p := splitURL(named); p != nil && p.origin() == home.origin() {
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
	var servers []string
	if doc != nil {
		m.resource = rawjson.Text(doc, "resource")
		if !covers(m.resource, home) {
			return nil, failure("the server's metadata is about another resource: ", m.resource)
		}
		for _, name := range textsOf(doc, "scopes_supported") {
			m.scopes = joinScopes(m.scopes, name)
		}
		servers = textsOf(doc, "authorization_servers")
	}
	old := len(servers) == 0
	if old {
		servers = []string{home.origin()}
	}
	issuer := servers[0]
	if named := s.auth().Issuer; named != "" && !isSameIssuer(named, issuer) {
		if !old && !slices.Contains(servers, named) {
			return nil, failure("the server does not name ", named, "; correct auth.issuer")
		}
		issuer, old = named, false
	}
	return m, s.authorizationServer(ctx, m, issuer, old)
}

// covers reports whether a resource identifier is the server's URL or lies above it.
func covers(resource string, home *parts) bool {
	p := splitURL(resource)
	if p == nil || p.origin() != home.origin() {
		return false
	}
	above := strings.TrimSuffix(p.path, "/")
	return above == "" || home.path == p.path || home.path == above || strings.HasPrefix(home.path, above+"/")
}

// authorizationServer reads an authorization server's metadata into m. With old it
// follows 2025-03-26: the MCP server itself is the issuer, its metadata may name another
// issuer, and PKCE need not be announced.
func (s *Server) authorizationServer(ctx context.Context, m *metadata, issuer string, old bool) error {
	at := metadataURL(issuer, s.at)
	if at == nil || at.tail != "" {
		return failure("the URL of the authorization server is not safe: ", issuer)
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
		return failure(m.host, " publishes no metadata of an authorization server")
	}
	origin, same := "", true
	for i, name := range [...]string{"token", "registration", "revocation", "authorization"} {
		url := rawjson.Text(doc, name+"_endpoint")
		if url == "" {
			continue
		}
		p := metadataURL(url, s.at)
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
		m.host = origin // that of the authorization endpoint, which is the last
	}
	m.issuer = rawjson.Text(doc, "issuer")
	// In 2025-03-26 another name is usual. It is safe if all endpoints share one origin, or if people sign in at the
	// origin of the server. An assertion for that name must not reach this token endpoint.
	same = same || m.authorize != "" && origin == s.at.authority()
	a := s.auth()
	if !isSameIssuer(m.issuer, issuer) &&
		(!old || !same || m.issuer == "" || a.Issuer != "" || a.PrivateKey != "" || a.IsSilent()) {
		return failure("the metadata of ", issuer, " is that of another issuer: ", m.issuer)
	}
	const pkce = "code_challenge_methods_supported"
	said := rawjson.Kind(rawjson.Get(doc, pkce)) == 'a'
	if !slices.Contains(textsOf(doc, pkce), "S256") && m.authorize != "" && (said || !old) {
		return failure(m.host, " does not support PKCE with S256")
	}
	m.methods = textsOf(doc, "token_endpoint_auth_methods_supported")
	m.offline = slices.Contains(textsOf(doc, "scopes_supported"), "offline_access")
	m.dpop = slices.Contains(textsOf(doc, "dpop_signing_alg_values_supported"), "ES256")
	m.cimd = rawjson.IsTrue(doc, "client_id_metadata_document_supported")
	m.iss = rawjson.IsTrue(doc, "authorization_response_iss_parameter_supported")
	return nil
}

// isSameIssuer reports whether two names of an issuer differ by a final slash at most. Both lead to the same metadata.
func isSameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// defaults sets the endpoints of a server of 2025-03-26 without metadata.
func (m *metadata) defaults(home *parts) {
	o := home.origin()
	m.issuer, m.authorize, m.token, m.register = o, o+"/authorize", o+"/token", o+"/register"
}
