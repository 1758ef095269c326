package registrytest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// An AuthServer is a small OAuth authorization server: metadata, registration,
// authorization pages that send everybody back, tokens with rotation, revocation.
// Change answers differently to see what a client makes of it. Its fields are set
// before its first request.
type AuthServer struct {
	Issuer string
	// Lifetime is expires_in, in seconds; 0 means 3600.
	Lifetime int
	// Metadata, if not nil, changes the metadata that is served.
	Metadata func(m map[string]any)
	// Answer, if not nil, changes the parameters with which a person is sent back.
	Answer func(q url.Values)
	// Refuse, if not nil, returns the error code for a token request, or "".
	Refuse func(form url.Values) string

	mu       sync.Mutex
	last     int
	codes    map[string]url.Values // of the authorization request, by code
	tokens   map[string]string     // scopes by access token that is valid
	refresh  map[string]string     // scopes by refresh token that is valid
	requests map[string]int        // by path and, of tokens, grant type
	forms    []url.Values          // of token requests
}

// Count returns how many requests of that kind there were: "register", "authorize",
// "revoke", or a grant type.
func (a *AuthServer) Count(kind string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests[kind]
}

// Forms returns the token requests so far.
func (a *AuthServer) Forms() []url.Values {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.forms)
}

// Expire makes all access tokens invalid, and with them, if all, the refresh tokens.
func (a *AuthServer) Expire(all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.tokens)
	if all {
		clear(a.refresh)
	}
}

// Scopes returns those of a valid access token.
func (a *AuthServer) Scopes(token string) (scopes []string, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	text, ok := a.tokens[token]
	return strings.Fields(text), ok
}

func (a *AuthServer) note(kind string) {
	if a.requests == nil {
		a.requests, a.codes = map[string]int{}, map[string]url.Values{}
		a.tokens, a.refresh = map[string]string{}, map[string]string{}
	}
	a.requests[kind]++
}

// ServeHTTP implements [http.Handler].
func (a *AuthServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch req.URL.Path {
	case "/.well-known/oauth-authorization-server":
		m := map[string]any{
			"issuer": a.Issuer, "authorization_endpoint": a.Issuer + "/authorize", "token_endpoint": a.Issuer + "/token",
			"registration_endpoint": a.Issuer + "/register", "revocation_endpoint": a.Issuer + "/revoke",
			"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
			"authorization_response_iss_parameter_supported": true,
		}
		if a.Metadata != nil {
			a.Metadata(m)
		}
		writeJSON(w, 200, m)
	case "/register":
		a.note("register")
		a.last++
		writeJSON(w, 201, map[string]any{"client_id": "client" + strconv.Itoa(a.last)})
	case "/authorize":
		a.note("authorize")
		q := req.URL.Query()
		a.last++
		code := "code" + strconv.Itoa(a.last)
		a.codes[code] = q
		back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {a.Issuer}}
		if a.Answer != nil {
			a.Answer(back)
		}
		w.Header().Set("Location", q.Get("redirect_uri")+"?"+back.Encode())
		w.WriteHeader(http.StatusFound)
	case "/revoke":
		a.note("revoke")
		_ = req.ParseForm()
		delete(a.tokens, req.PostForm.Get("token"))
		delete(a.refresh, req.PostForm.Get("token"))
	case "/token":
		_ = req.ParseForm()
		a.token(w, req.PostForm)
	default:
		http.NotFound(w, req)
	}
}

func (a *AuthServer) token(w http.ResponseWriter, form url.Values) {
	grant := form.Get("grant_type")
	a.note(grant)
	a.forms = append(a.forms, form)
	wrong := ""
	scope := form.Get("scope")
	switch grant {
	case "authorization_code":
		q, ok := a.codes[form.Get("code")]
		delete(a.codes, form.Get("code"))
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != q.Get("code_challenge") || q.Get("client_id") != form.Get("client_id") ||
			q.Get("redirect_uri") != form.Get("redirect_uri") || q.Get("resource") != form.Get("resource") {
			wrong = "invalid_grant"
		}
		scope = q.Get("scope")
	case "refresh_token":
		var ok bool
		if scope, ok = a.refresh[form.Get("refresh_token")]; !ok {
			wrong = "invalid_grant"
		}
		delete(a.refresh, form.Get("refresh_token"))
	case "client_credentials":
	default:
		wrong = "unsupported_grant_type"
	}
	if a.Refuse != nil && wrong == "" {
		wrong = a.Refuse(form)
	}
	if wrong != "" {
		writeJSON(w, 400, map[string]any{"error": wrong, "error_description": "<b>no</b>\n" + form.Get("client_secret") + strings.Repeat("x", 1000)})
		return
	}
	a.last++
	access, refresh := fmt.Sprintf("access-token-%d", a.last), fmt.Sprintf("refresh-token-%d", a.last)
	a.tokens[access], a.refresh[refresh] = scope, scope
	lifetime := a.Lifetime
	if lifetime == 0 {
		lifetime = 3600
	}
	writeJSON(w, 200, map[string]any{"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": lifetime})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// Protect lets requests to next pass that carry a token of the authorization server. The
// token needs all scopes that need names for the request's JSON-RPC method.
// resource is the URL of the MCP endpoint.
func (a *AuthServer) Protect(resource string, next http.Handler, need func(req *http.Request) string) http.Handler {
	at, err := url.Parse(resource)
	if err != nil {
		panic(err)
	}
	metadata := at.Scheme + "://" + at.Host + "/.well-known/oauth-protected-resource" + at.Path
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasPrefix(req.URL.Path, "/.well-known/") {
			if req.URL.Path != "/.well-known/oauth-protected-resource"+at.Path {
				http.NotFound(w, req)
				return
			}
			writeJSON(w, 200, map[string]any{"resource": resource, "authorization_servers": []string{a.Issuer}, "scopes_supported": []string{"read"}})
			return
		}
		_, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
		scopes, ok := a.Scopes(token)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="`+metadata+`"`)
			writeJSON(w, 401, map[string]any{"error": "invalid_token", "error_description": "not " + token})
			return
		}
		if need != nil {
			if scope := need(req); scope != "" && !slices.Contains(scopes, scope) {
				w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+scope+`", resource_metadata="`+metadata+`"`)
				writeJSON(w, 403, map[string]any{"error": "insufficient_scope"})
				return
			}
		}
		next.ServeHTTP(w, req)
	})
}
