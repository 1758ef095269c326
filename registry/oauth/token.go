package oauth

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

const (
	grantJWT      = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	grantExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
	assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	tokenType     = "urn:ietf:params:oauth:token-type:"
)

// identity returns the client's registration with an authorization server. In the order
// of the specification that is a configured one, a metadata document, or a new one.
func (s *Server) identity(ctx context.Context, m *metadata, old *grant) (*grant, error) {
	g := &grant{
		issuer: m.issuer, resource: m.resource, host: m.host, token: m.token, revoke: m.revoke,
		redirect: s.c.opts.RedirectURL, configured: s.auth().ClientID,
	}
	if m.dpop {
		g.dpop = "1"
	}
	a := s.auth()
	document := cmp.Or(a.ClientMetadataURL, s.c.opts.ClientMetadataURL)
	switch {
	case a.ClientID != "":
		g.client, g.secret = a.ClientID, a.ClientSecret
		// A secret belongs to one authorization server. The server may name another one later.
		if a.Issuer == "" && (g.secret != "" || a.PrivateKey != "") &&
			old != nil && old.client == g.client && !old.isOf(m) {
			return nil, failure("the server now names another authorization server, ", g.issuer,
				"; set auth.issuer if that is right")
		}
	case m.cimd && document != "":
		g.client = document
	case old.isOf(m) && old.client != "" && old.redirect == g.redirect &&
		!strings.HasPrefix(old.client, "https://"):
		g.client, g.secret, g.method = old.client, old.secret, old.method
		return g, nil
	case m.register != "":
		if err := s.enroll(ctx, m, g); err != nil {
			return nil, err
		}
	default:
		return nil, failure(m.host, " accepts no unknown clients; register one there and set auth.clientId")
	}
	if g.method == "" {
		g.method = s.method(m, g.secret)
	}
	return g, nil
}

// method returns the method of authentication at the token endpoint.
func (s *Server) method(m *metadata, secret string) string {
	can := func(method string) bool { return m.methods == nil || slices.Contains(m.methods, method) }
	switch {
	case s.auth().PrivateKey != "" && can("private_key_jwt"):
		return "private_key_jwt"
	case secret != "" && can("client_secret_basic"):
		return "client_secret_basic"
	case secret != "" && slices.Contains(m.methods, "client_secret_post"):
		return "client_secret_post"
	case secret == "" || slices.Contains(m.methods, "none"):
		return "none"
	}
	return "client_secret_basic"
}

// enroll registers the client (RFC 7591).
func (s *Server) enroll(ctx context.Context, m *metadata, g *grant) error {
	kind := "web"
	if at := splitURL(g.redirect); at == nil || at.where() == endpoint.Loopback {
		kind = "native"
	}
	method := "none"
	if m.methods != nil && !slices.Contains(m.methods, method) {
		if method = "client_secret_basic"; !slices.Contains(m.methods, method) {
			method = "client_secret_post"
		}
	}
	body := jsonObject("client_name", s.c.opts.ClientName, "redirect_uris",
		"\x00["+string(rawjson.AppendString(nil, g.redirect))+"]",
		"grant_types", "\x00[\"authorization_code\",\"refresh_token\"]", "response_types", "\x00[\"code\"]",
		"token_endpoint_auth_method", method, "application_type", kind, "scope", s.scope(m))
	res, err := s.do(ctx, &Request{
		Method: "POST", URL: m.register, Body: []byte(body),
		Header: []string{"Content-Type", "application/json", "Accept", "application/json"},
	})
	if err != nil {
		return err
	}
	g.client, g.secret = rawjson.Text(res.Body, "client_id"), rawjson.Text(res.Body, "client_secret")
	g.method = rawjson.Text(res.Body, "token_endpoint_auth_method")
	if res.Status < 200 || res.Status > 299 || g.client == "" {
		return failure(m.host, " did not register the client: ", refusalWords(res))
	}
	if m.methods != nil && !slices.Contains(m.methods, g.method) || g.method == "private_key_jwt" {
		g.method = ""
	}
	return nil
}

// An oauthError is a refusal of an authorization server.
type oauthError struct {
	code string
	err  error
}

func (e *oauthError) Error() string { return e.err.Error() }
func (e *oauthError) Unwrap() error { return e.err }

// refusalWords returns the words of a refusal, which the authorization server chose.
func refusalWords(res *Response) string {
	if code := rawjson.Text(res.Body, "error"); code != "" {
		return refusalText(code, rawjson.Text(res.Body, "error_description"))
	}
	return "http status " + strconv.Itoa(res.Status)
}

func refusalText(code, description string) string {
	if description == "" {
		return code
	}
	return code + " (" + description + ")"
}

// request sends one request to a token endpoint and reads the response into g.
func (s *Server) request(ctx context.Context, g *grant, pairs ...string) error {
	header := []string{"Content-Type", "application/x-www-form-urlencoded", "Accept", "application/json"}
	a, secret, assertion := s.auth(), "", ""
	switch g.method {
	case "client_secret_basic":
		basic := text.PercentEncoded(g.client) + ":" + text.PercentEncoded(g.secret)
		header = append(header, "Authorization", "Basic "+text.Base64(basic))
	case "private_key_jwt":
		alg := cmp.Or(a.SigningAlgorithm, "ES256")
		now := s.c.now()
		var err error
		assertion, err = s.c.opts.Crypto.JWT(ctx, a.PrivateKey, alg, jsonObject("alg", alg, "typ", "JWT"),
			jsonObject("iss", g.client, "sub", g.client, "aud", g.issuer, "jti", s.c.opts.Crypto.Random(),
				"iat", jsonNumber(now), "exp", jsonNumber(now+300)))
		if err != nil {
			return failure("auth.privateKey cannot sign: ", err.Error())
		}
	case "client_secret_post":
		secret = g.secret
	}
	if g.method != "client_secret_basic" {
		pairs = append(pairs, "client_id", g.client, "client_secret", secret, "client_assertion", assertion)
		if assertion != "" {
			pairs = append(pairs, "client_assertion_type", assertionType)
		}
	}
	if g.dpop != "" && g.key == "" {
		var err error
		if g.key, g.jwk, err = s.c.opts.Crypto.MakeKey(ctx); err != nil {
			return err
		}
	}
	var res *Response
	for nonce := ""; ; {
		sent := header
		if g.key != "" {
			proof, err := s.c.proof(ctx, g, "POST", g.token, nonce, "")
			if err != nil {
				return err
			}
			sent = append(header[:len(header):len(header)], "DPoP", proof)
		}
		var err error
		if res, err = s.do(ctx, &Request{Method: "POST", URL: g.token, Header: sent, Body: encodeForm(pairs)}); err != nil {
			return err
		}
		if nonce != "" || res.Nonce == "" || rawjson.Text(res.Body, "error") != "use_dpop_nonce" {
			break
		}
		nonce = res.Nonce
	}
	if res.Status != 200 || rawjson.Text(res.Body, "access_token") == "" { // words that are shown
		res.Body = []byte(text.Redact(s.Redact(string(res.Body)), g.secret))
	}
	return g.take(res, s.c.now())
}

// take reads a token response (RFC 6749, section 5).
func (g *grant) take(res *Response, now int64) error {
	access := rawjson.Text(res.Body, "access_token")
	if res.Status != 200 || access == "" {
		return &oauthError{code: rawjson.Text(res.Body, "error"), err: failure(g.host, " gave no token: ", refusalWords(res))}
	}
	if !text.IsVisible(access) {
		return failure(g.host, " gave a token that cannot be a header's value")
	}
	switch kind := text.Lower(rawjson.Text(res.Body, "token_type")); kind {
	case "dpop":
		if g.key == "" {
			return failure(g.host, " gave a DPoP token without a request for one")
		}
	case "bearer", "", "n_a":
		g.key, g.jwk = "", ""
	default:
		return failure(g.host, " gave a token of an unknown type: ", kind)
	}
	g.access, g.expires = access, ""
	if refresh := rawjson.Text(res.Body, "refresh_token"); refresh != "" {
		g.refresh = refresh
	}
	raw := rawjson.Get(res.Body, "expires_in")
	if in, ok := rawjson.Int(raw); ok && in > 0 {
		g.expires = strconv.FormatInt(now+min(in, 1<<31), 10)
	}
	return nil
}

// silent gets a token without a person.
func (s *Server) silent(ctx context.Context, m *metadata, old *grant) (*grant, error) {
	a := s.auth()
	if a.ClientID == "" {
		if a.Flow != "jwt-bearer" {
			return nil, failure("auth.flow ", a.Flow, " needs auth.clientId")
		}
		m.register, m.cimd, old = "", true, nil // the assertion identifies the client
	}
	g, err := s.identity(ctx, m, old)
	if err != nil {
		return nil, err
	}
	g.asked = s.scope(m)
	kind, assertion := grantJWT, a.Assertion
	switch a.Flow {
	case "client-credentials":
		kind, assertion = "client_credentials", ""
	case "enterprise-managed":
		if metadataURL(a.IDPTokenURL, s.at) == nil {
			return nil, failure("auth.idpTokenUrl is not safe for an identity token")
		}
		idp := &grant{token: a.IDPTokenURL, host: a.IDPTokenURL, client: a.IDPClientID}
		if err := s.request(ctx, idp, "scope", g.asked, "resource", g.resource, "grant_type", grantExchange,
			"requested_token_type", tokenType+"id-jag",
			"audience", g.issuer, "subject_token", a.IDToken, "subject_token_type", tokenType+"id_token"); err != nil {
			return nil, err
		}
		assertion = idp.access
	}
	return g, s.request(ctx, g, "grant_type", kind, "assertion", assertion, "scope", g.asked, "resource", g.resource)
}

// scope returns the scopes to ask for: the configured ones, or else those of the
// challenge, or else those of the server's metadata. A step-up adds its scopes, and
// offline_access is added if the authorization server has it.
func (s *Server) scope(m *metadata) string {
	now := s.look()
	list := ""
	for _, scope := range s.auth().Scopes {
		list += scope + " "
	}
	list = joinScopes(now.wanted, cmp.Or(list, now.challenge.scope, m.scopes))
	if list != "" && m.offline && !s.isSilent() {
		list = joinScopes(list, "offline_access")
	}
	return list
}

// isRefused reports whether the authorization server refused for good, so that the same
// request would fail again.
func isRefused(err error) bool {
	refused, ok := errors.AsType[*oauthError](err)
	return ok && refused.code != "" && refused.code != "temporarily_unavailable" &&
		refused.code != "server_error"
}

// isLost reports whether the authorization server does not know the client.
func isLost(err error) bool {
	refused, ok := errors.AsType[*oauthError](err)
	return ok && refused.code == "invalid_client"
}
