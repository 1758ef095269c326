package registrytest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

// A SignInDial makes the implementation under test, with rt as its network and ask
// as its user.
type SignInDial func(rt http.RoundTripper, ask func(context.Context, *oauth.Prompt) (string, error)) (registry.Connect, registry.SignIns)

// RunSignInSuite checks signing in over an implementation of the seam: with a real
// registry, MCP server and authorization server.
func RunSignInSuite(t *testing.T, dial SignInDial) {
	for name, test := range map[string]func(*testing.T, SignInDial){
		"SignIn":         testSignIn,
		"Refresh":        testRefresh,
		"LostClient":     testLostClient,
		"UnknownClient":  testUnknownClient,
		"ExpiryMidCall":  testExpiryMidCall,
		"StepUp":         testStepUp,
		"WrongIssuer":    testWrongIssuer,
		"Refusals":       testSignInRefusals,
		"ForeignOrigins": testForeignOrigins,
		"NoOAuth":        testNoOAuth,
		"NoMetadata":     testNoMetadata,
		"OtherIssuer":    testOtherIssuer,
		"ClientSecrets":  testClientSecrets,
		"Issuer":         testConfiguredIssuer,
		"FinalSlash":     testFinalSlash,
		"AnotherIssuer":  testAnotherIssuer,
		"SignOut":        testSignOut,
		"Rename":         testRename,
		"AnotherURL":     testAnotherURL,
		"AnotherClient":  testAnotherClient,
		"Meanwhile":      testChangesDuringASignIn,
		"Resumed":        testResumedSignIn,
	} {
		t.Run(name, func(t *testing.T) { test(t, dial) })
	}
}

const (
	authOrigin  = "https://login.example"
	redirectURL = "http://127.0.0.1:3000/callback"
)

// A desk is a registry whose one server wants people to sign in.
type desk struct {
	*registry.Registry
	t    *testing.T
	ctx  context.Context
	net  *Net
	auth *AuthServer

	mu      sync.Mutex
	prompts []*oauth.Prompt
}

func newDesk(t *testing.T, dial SignInDial, auth *AuthServer, need func(*http.Request) string, cfg registry.ServerConfig) *desk {
	t.Helper()
	auth.Issuer = authOrigin
	d := &desk{t: t, net: NewNet(t), auth: auth}
	d.net.Handle(authOrigin, auth)
	d.net.Handle(origin, auth.Protect(endpoint, NewServer(nil), need))
	var cancel context.CancelFunc
	d.ctx, cancel = context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	connect, signIns := dial(d.net, d.ask)
	d.Registry = registry.New(&registry.Options{Connect: connect, SignIns: signIns})
	t.Cleanup(func() { d.Close() })
	if cfg.URL == "" {
		cfg.URL = endpoint
	}
	if err := d.Add("a", cfg); err != nil {
		t.Fatal(err)
	}
	return d
}

// ask is a person who has a browser, and says yes.
func (d *desk) ask(ctx context.Context, p *oauth.Prompt) (string, error) {
	d.mu.Lock()
	d.prompts = append(d.prompts, p)
	d.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL, nil)
	if err != nil {
		return "", err
	}
	res, err := d.net.RoundTrip(req)
	if err != nil {
		return "", err
	}
	res.Body.Close()
	if res.StatusCode >= 400 {
		return "", errLeft
	}
	return res.Header.Get("Location"), nil
}

var errLeft = errors.New("the window was closed")

func (d *desk) echo() error {
	_, err := d.Dispatch(d.ctx, registry.Call{Name: "a__echo", Arguments: []byte(`{"text":"x"}`)})
	return err
}

func (d *desk) want(what string, err, kind error) {
	d.t.Helper()
	if !errors.Is(err, kind) || kind == nil && err != nil {
		d.t.Fatalf("%s: %v, want %v", what, err, kind)
	}
}

func (d *desk) count(kind string, want int) {
	d.t.Helper()
	if n := d.auth.Count(kind); n != want {
		d.t.Errorf("%d requests of the kind %s, want %d", n, kind, want)
	}
}

func (d *desk) state(want string) {
	d.t.Helper()
	if h, _ := d.Health("a"); h.SignIn != want || want != "" && h.SignInHost != "login.example" {
		d.t.Errorf("health says %q at %q, want %q", h.SignIn, h.SignInHost, want)
	}
}

func (d *desk) signedIn() {
	d.t.Helper()
	d.want("discover", d.Discover(d.ctx), registry.ErrSignInNeeded)
	d.want("sign in", d.SignIn(d.ctx, "a"), nil)
}

func testSignIn(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.state("")
	d.want("discover", d.Discover(d.ctx), registry.ErrSignInNeeded)
	d.state(registry.SignInNeeded)
	d.count("authorize", 0)
	if h, _ := d.Health("a"); h.ErrorCode != "sign_in_needed" || h.ConsecutiveFailures != 0 {
		t.Errorf("health: %+v", h)
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { d.want("sign in", d.SignIn(d.ctx, "a"), nil) })
	}
	wg.Wait()
	d.count("authorize", 1)
	d.count("register", 1)
	d.state(registry.SignedIn)
	d.want("call", d.echo(), nil)
	p := d.prompts[0]
	at, err := url.Parse(p.URL)
	if err != nil || p.Host != "login.example" || p.Server != "a" || at.Query().Get("resource") != endpoint || at.Query().Get("scope") != "read" ||
		at.Query().Get("code_challenge_method") != "S256" || at.Query().Get("state") != p.State {
		t.Errorf("prompt: %+v", p)
	}
	for _, req := range d.net.Requests() {
		if req.URL.Host == "login.example" && req.Header.Get("Cookie") != "" {
			t.Error("a cookie went along")
		}
	}
}

func testRefresh(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.signedIn()
	for round := 1; round <= 2; round++ {
		d.auth.Expire(false)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { d.want("call", d.echo(), nil) })
		}
		wg.Wait()
		d.count("refresh_token", round)
	}
	d.count("authorize", 1)
	d.auth.Expire(true)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { d.want("call", d.echo(), registry.ErrSignInNeeded) })
	}
	wg.Wait()
	d.count("refresh_token", 3)
	d.count("authorize", 1)
	d.state(registry.SignInNeeded)
	d.want("sign in again", d.SignIn(d.ctx, "a"), nil)
	d.want("call", d.echo(), nil)
	d.count("authorize", 2)
	d.count("register", 1)
}

// An authorization server that has forgotten the client says so when a token is renewed. The
// next sign-in registers again.
func testLostClient(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.signedIn()
	d.auth.mu.Lock()
	d.auth.Refuse = func(form url.Values) string {
		if form.Get("client_id") == "client1" {
			return "invalid_client"
		}
		return ""
	}
	d.auth.mu.Unlock()
	d.auth.Expire(false)
	d.want("call", d.echo(), registry.ErrSignInNeeded)
	d.want("sign in again", d.SignIn(d.ctx, "a"), nil)
	d.want("call", d.echo(), nil)
	d.count("register", 2)
}

// An authorization server that has forgotten the client shows its own error to the person, who leaves. The next sign-in
// registers again.
func testUnknownClient(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.signedIn()
	d.auth.Expire(true)
	d.net.Handle(authOrigin, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Query().Get("client_id") == "client1" {
			http.Error(w, "unknown client", http.StatusBadRequest)
			return
		}
		d.auth.ServeHTTP(w, req)
	}))
	d.want("call", d.echo(), registry.ErrSignInNeeded)
	d.want("sign in", d.SignIn(d.ctx, "a"), errLeft)
	d.want("sign in again", d.SignIn(d.ctx, "a"), nil)
	d.want("call", d.echo(), nil)
	d.count("register", 2)
}

// A token that is about to expire is renewed before it is refused.
func testExpiryMidCall(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{Lifetime: 1}, nil, registry.ServerConfig{})
	d.signedIn()
	before := len(d.net.Requests())
	d.want("call", d.echo(), nil)
	if d.auth.Count("refresh_token") == 0 {
		t.Error("the token was not renewed")
	}
	for _, req := range d.net.Requests()[before:] {
		if req.URL.Host == "server.example" && req.URL.Path == "/mcp" && req.Header.Get("Authorization") == "" {
			t.Error("a request went without a token")
		}
	}
}

func testStepUp(t *testing.T, dial SignInDial) {
	need := func(req *http.Request) string {
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			return "write"
		}
		return ""
	}
	t.Run("by a person", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{}, need, registry.ServerConfig{})
		d.signedIn()
		d.want("call", d.echo(), registry.ErrSignInNeeded)
		d.state(registry.SignInNeeded)
		d.want("step up", d.SignIn(d.ctx, "a"), nil)
		d.want("call", d.echo(), nil)
		at, _ := url.Parse(d.prompts[1].URL)
		if scope := at.Query().Get("scope"); !strings.Contains(scope, "read") || !strings.Contains(scope, "write") {
			t.Errorf("asked for %q", scope)
		}
	})
	t.Run("by nobody", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{}, need, registry.ServerConfig{})
		d.signedIn()
		d.want("call", d.echo(), registry.ErrSignInNeeded)
		d.auth.Expire(false)
		d.want("list", d.Discover(d.ctx), nil) // needs no further rights
		d.want("call", d.echo(), registry.ErrSignInNeeded)
		d.count("refresh_token", 1)
	})
	t.Run("with the token for a scope", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{}, func(req *http.Request) string {
			if need(req) == "" {
				return ""
			}
			return strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
		}, registry.ServerConfig{})
		d.signedIn()
		err := d.echo()
		d.want("call", err, registry.ErrSignInNeeded)
		if strings.Contains(err.Error(), "access-token") {
			t.Errorf("the error holds the token: %v", err)
		}
	})
	t.Run("never enough", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{}, func(*http.Request) string { return "impossible" }, registry.ServerConfig{})
		d.auth.Answer = nil
		d.want("discover", d.Discover(d.ctx), registry.ErrSignInNeeded)
		for range 4 {
			_ = d.SignIn(d.ctx, "a")
			d.auth.mu.Lock()
			for token := range d.auth.tokens {
				d.auth.tokens[token] = "read"
			}
			d.auth.mu.Unlock()
		}
		if h, _ := d.Health("a"); h.SignIn == registry.SignInNeeded && h.ErrorCode != "forbidden" && h.ErrorCode != "sign_in_needed" {
			t.Errorf("health: %+v", h)
		}
		if n := d.auth.Count("authorize"); n > 4 {
			t.Errorf("%d pages for 4 requests", n)
		}
	})
}

func testWrongIssuer(t *testing.T, dial SignInDial) {
	for name, answer := range map[string]func(url.Values){
		"another":    func(q url.Values) { q.Set("iss", "https://evil.example") },
		"normalized": func(q url.Values) { q.Set("iss", authOrigin+"/") },
		"missing":    func(q url.Values) { q.Del("iss") },
		"twice":      func(q url.Values) { q.Add("iss", authOrigin) },
		"state":      func(q url.Values) { q.Set("state", "another") },
		"no code":    func(q url.Values) { q.Del("code") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dial, &AuthServer{Answer: answer}, nil, registry.ServerConfig{})
			d.want("discover", d.Discover(d.ctx), registry.ErrSignInNeeded)
			d.want("sign in", d.SignIn(d.ctx, "a"), registry.ErrSignIn)
			d.count("authorization_code", 0)
		})
	}
	for name, change := range map[string]func(map[string]any){
		"issuer of the metadata": func(m map[string]any) { m["issuer"] = "https://evil.example" },
		"no PKCE":                func(m map[string]any) { m["code_challenge_methods_supported"] = []string{"plain"} },
		"PKCE not said":          func(m map[string]any) { delete(m, "code_challenge_methods_supported") },
		"token without TLS":      func(m map[string]any) { m["token_endpoint"] = "http://login.example/token" },
		"private token endpoint": func(m map[string]any) { m["token_endpoint"] = "https://10.0.0.1/token" },
		"script for a page":      func(m map[string]any) { m["authorization_endpoint"] = "javascript:alert(1)//" },
		"data for a page":        func(m map[string]any) { m["authorization_endpoint"] = "data:text/html,x" },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dial, &AuthServer{Metadata: change}, nil, registry.ServerConfig{})
			_ = d.Discover(d.ctx)
			d.want("sign in", d.SignIn(d.ctx, "a"), registry.ErrSignIn)
			d.count("authorize", 0)
			d.count("authorization_code", 0)
		})
	}
}

func testSignInRefusals(t *testing.T, dial SignInDial) {
	t.Run("denied", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{Answer: func(q url.Values) {
			q.Del("code")
			q.Set("error", "access_denied")
			q.Set("error_description", "<script>\x1b[31m"+strings.Repeat("x", 10_000))
		}}, nil, registry.ServerConfig{})
		_ = d.Discover(d.ctx)
		err := d.SignIn(d.ctx, "a")
		d.want("sign in", err, registry.ErrSignIn)
		if text := err.Error(); !strings.Contains(text, "access_denied") || len(text) > 1000 || strings.Contains(text, "\x1b") {
			t.Errorf("%.200q of %d bytes", text, len(text))
		}
		if x := registry.Explain(err); x.Code != "sign_in_failed" || x.Hint == "" || x.Retryable {
			t.Errorf("%+v", x)
		}
	})
	t.Run("token", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{Refuse: func(url.Values) string { return "invalid_grant" }}, nil, registry.ServerConfig{})
		_ = d.Discover(d.ctx)
		err := d.SignIn(d.ctx, "a")
		d.want("sign in", err, registry.ErrSignIn)
		if strings.Contains(err.Error(), "code1") {
			t.Errorf("the error holds what was sent: %v", err)
		}
	})
	t.Run("given up", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
		_ = d.Discover(d.ctx)
		ctx, cancel := context.WithCancel(d.ctx)
		cancel()
		d.want("sign in", d.SignIn(ctx, "a"), context.Canceled)
		d.want("sign in", d.SignIn(d.ctx, "a"), nil)
	})
	t.Run("unknown and off", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{Disabled: true})
		d.want("off", d.SignIn(d.ctx, "a"), registry.ErrDisabled)
		d.want("unknown", d.SignIn(d.ctx, "b"), registry.ErrUnknownServer)
	})
}

// Tokens go to the server's own origin, whatever a server says.
func testForeignOrigins(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	stranger := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) })
	d.net.Handle("https://evil.example", stranger)
	protected := d.auth.Protect(endpoint, NewServer(nil), nil)
	d.net.Handle(origin, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Header.Get("Authorization") == "" && req.URL.Path == "/mcp" {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://evil.example/.well-known/oauth-protected-resource"`)
			w.WriteHeader(401)
			return
		}
		protected.ServeHTTP(w, req)
	}))
	d.signedIn()
	d.want("call", d.echo(), nil)
	for _, req := range d.net.Requests() {
		if req.URL.Host == "evil.example" {
			t.Errorf("a request went to %s", req.URL)
		}
		if req.URL.Host != "server.example" && strings.Contains(req.Header.Get("Authorization"), "access-token") {
			t.Errorf("the token went to %s", req.URL)
		}
	}
	d.want("move", d.Update("a", registry.ServerConfig{URL: "https://evil.example/mcp"}), nil)
	_ = d.Discover(d.ctx)
	for _, req := range d.net.Requests() {
		if req.URL.Host == "evil.example" && req.Header.Get("Authorization") != "" {
			t.Errorf("the token went to %s", req.URL)
		}
	}
}

// Where nothing speaks of OAuth, a 401 is what it was.
func testNoOAuth(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.net.Handle(origin, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.URL.Path != "/mcp" {
			http.NotFound(w, req)
			return
		}
		http.Error(w, "an api key, please", http.StatusUnauthorized)
	}))
	err := d.Discover(d.ctx)
	var status *registry.StatusError
	if !errors.As(err, &status) || status.Code != 401 || errors.Is(err, registry.ErrSignInNeeded) {
		t.Errorf("%v, want status 401", err)
	}
	d.state("")
	t.Run("own header", func(t *testing.T) {
		d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{Headers: map[string]string{"authorization": "Bearer mine"}})
		err := d.Discover(d.ctx)
		if !errors.As(err, &status) || status.Code != 401 || strings.Contains(err.Error(), "mine") {
			t.Errorf("%v, want status 401 without the header's value", err)
		}
		for _, req := range d.net.Requests() {
			if req.URL.Path != "/mcp" {
				t.Errorf("it asked %s", req.URL)
			}
		}
	})
}

// A server of 2025-03-26 without metadata has its endpoints at their default places, also for renewals.
func testNoMetadata(t *testing.T, dial SignInDial) {
	auth := &AuthServer{}
	d := newDesk(t, dial, auth, nil, registry.ServerConfig{})
	auth.Issuer = origin
	protected := auth.Protect(endpoint, NewServer(nil), nil)
	d.net.Handle(origin, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		switch {
		case strings.HasPrefix(req.URL.Path, "/.well-known/"):
			http.NotFound(w, req)
		case req.URL.Path == "/mcp":
			protected.ServeHTTP(w, req)
		default:
			auth.ServeHTTP(w, req)
		}
	}))
	d.want("sign in", d.SignIn(d.ctx, "a"), nil)
	d.want("call", d.echo(), nil)
	auth.Expire(false)
	d.want("call with an expired token", d.echo(), nil)
	d.count("refresh_token", 1)
	auth.Expire(true)
	d.want("call after the sign-in has ended", d.echo(), registry.ErrSignInNeeded)
	d.want("sign in again", d.SignIn(d.ctx, "a"), nil)
	d.want("call", d.echo(), nil)
}

// A server of 2025-03-26 may name another issuer, as Atlassian's does. Its own page then leads to tokens from elsewhere. A
// page and tokens of two other origins are refused.
func testOtherIssuer(t *testing.T, dial SignInDial) {
	for page, want := range map[string]error{origin: nil, "https://page.example": registry.ErrSignIn} {
		auth := &AuthServer{Metadata: func(m map[string]any) { m["authorization_endpoint"] = page + "/authorize" }}
		d := newDesk(t, dial, auth, nil, registry.ServerConfig{})
		protected := auth.Protect(endpoint, NewServer(nil), nil)
		d.net.Handle(origin, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			switch req.URL.Path {
			case "/mcp":
				protected.ServeHTTP(w, req)
			case "/authorize", "/.well-known/oauth-authorization-server":
				auth.ServeHTTP(w, req)
			default:
				http.NotFound(w, req)
			}
		}))
		d.want("sign in", d.SignIn(d.ctx, "a"), want)
		if want == nil {
			d.want("call", d.echo(), nil)
		}
	}
}

// A flow that needs no person asks none.
func testClientSecrets(t *testing.T, dial SignInDial) {
	auth := &AuthServer{Metadata: func(m map[string]any) {
		m["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	}}
	d := newDesk(t, dial, auth, nil, registry.ServerConfig{Auth: &registry.Auth{Flow: "client-credentials", ClientID: "me", ClientSecret: "my secret"}})
	d.want("discover", d.Discover(d.ctx), nil)
	d.state(registry.SignedIn)
	d.auth.Expire(true)
	d.want("call", d.echo(), nil)
	d.count("authorize", 0)
	if form := auth.Forms()[0]; form.Get("client_id") != "me" || form.Get("client_secret") != "my secret" || form.Get("resource") != endpoint {
		t.Errorf("form: %v", form)
	}
	// A refusal is final until somebody signs in again.
	auth.mu.Lock()
	auth.Refuse = func(url.Values) string { return "invalid_client" }
	auth.mu.Unlock()
	d.auth.Expire(true)
	before := len(auth.Forms())
	for range 3 {
		err := d.echo()
		d.want("call", err, registry.ErrSignIn)
		if strings.Contains(err.Error(), "my secret") {
			t.Errorf("the error holds the secret: %v", err)
		}
	}
	if n := len(auth.Forms()) - before; n > 2 {
		t.Errorf("%d token requests after a refusal", n)
	}
}

// A client's secret goes to the configured issuer only, also where the server names no authorization server.
func testConfiguredIssuer(t *testing.T, dial SignInDial) {
	for name, row := range map[string]struct {
		issuer string // the configured one
		named  string // what the server's origin says of itself
		want   error
	}{
		"the server is another":      {authOrigin, origin, nil},
		"the server names another":   {authOrigin, "https://evil.example", nil},
		"that of nobody":             {"https://nobody.example", origin, registry.ErrSignIn},
		"the server is no more that": {origin, "https://evil.example", registry.ErrSignIn},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{Auth: &registry.Auth{
				Flow: "client-credentials", ClientID: "me", ClientSecret: "my secret", Issuer: row.issuer,
			}})
			d.net.Handle("https://nobody.example", http.NotFoundHandler())
			protected := d.auth.Protect(endpoint, NewServer(nil), nil)
			d.net.Handle(origin, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				switch req.URL.Path {
				case "/mcp":
					protected.ServeHTTP(w, req)
				case "/.well-known/oauth-authorization-server":
					writeJSON(w, 200, map[string]any{"issuer": row.named, "token_endpoint": row.named + "/token"})
				default:
					http.NotFound(w, req)
				}
			}))
			d.want("discover", d.Discover(d.ctx), row.want)
			for _, req := range d.net.Requests() {
				if req.URL.Path == "/token" && req.URL.Host != "login.example" {
					t.Errorf("the secret went to %s", req.URL)
				}
			}
		})
	}
}

// A server and its authorization server may write the issuer with and without a final slash. Both stand for one document.
func testFinalSlash(t *testing.T, dial SignInDial) {
	for _, row := range []struct{ named, itself, configured string }{
		{authOrigin + "/", authOrigin, ""},
		{authOrigin, authOrigin + "/", ""},
		{authOrigin + "/", authOrigin, authOrigin},
		{authOrigin, authOrigin + "/", authOrigin},
	} {
		auth := &AuthServer{Metadata: func(m map[string]any) { m["issuer"] = row.itself }}
		auth.Answer = func(q url.Values) { q.Set("iss", row.itself) }
		d := newDesk(t, dial, auth, nil, registry.ServerConfig{Auth: &registry.Auth{Issuer: row.configured}})
		server := auth.Protect(endpoint, NewServer(nil), nil)
		d.net.Handle(origin, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Path == "/.well-known/oauth-protected-resource/mcp" {
				writeJSON(w, 200, map[string]any{"resource": endpoint, "authorization_servers": []string{row.named}})
				return
			}
			server.ServeHTTP(w, req)
		}))
		d.signedIn()
		d.want("call", d.echo(), nil)
		auth.Expire(false)
		d.want("call with a new token", d.echo(), nil)
		d.count("refresh_token", 1)
	}
}

// The tokens of an issuer that the configuration does not name any more are revoked where they were made.
func testAnotherIssuer(t *testing.T, dial SignInDial) {
	for name, end := range map[string]func(*desk) error{
		"signed out": func(d *desk) error { return d.SignOut(d.ctx, "a") },
		"removed":    func(d *desk) error { return errors.Join(d.Remove("a"), d.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
			d.net.Handle("https://other.example", http.NotFoundHandler())
			d.signedIn()
			d.want("edit", d.Update("a", registry.ServerConfig{URL: endpoint, Auth: &registry.Auth{Issuer: "https://other.example"}}), nil)
			d.want("discover", d.Discover(d.ctx), registry.ErrSignIn)
			d.want("end", end(d), nil)
			d.count("revoke", 2)
		})
	}
}

func testRename(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.signedIn()
	d.want("rename", d.Rename(d.ctx, "a", "b"), nil)
	d.want("discover", d.Discover(d.ctx, "b"), nil)
	if h, _ := d.Health("b"); h.SignIn != registry.SignedIn || h.ToolCount == 0 {
		t.Errorf("health: %+v", h)
	}
	d.count("revoke", 0)
	d.want("sign out", d.SignOut(d.ctx, "b"), nil)
	d.count("revoke", 2)
}

func testAnotherURL(t *testing.T, dial SignInDial) {
	for _, other := range []string{"/other", "?tenant=b"} {
		d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
		d.signedIn()
		same := strings.Replace(endpoint, "server.example/", "Server.example:443/", 1) + "#part"
		d.want("update", d.Update("a", registry.ServerConfig{URL: same}), nil)
		d.want("discover", d.Discover(d.ctx), nil)
		d.state(registry.SignedIn)
		d.count("revoke", 0)
		d.want("update", d.Update("a", registry.ServerConfig{URL: endpoint + other}), nil)
		d.want("discover", d.Discover(d.ctx), registry.ErrSignInNeeded)
		d.Close() // waits for the end of the earlier sign-in
		d.count("revoke", 2)
		d.state(registry.SignInNeeded)
	}
}

// The tokens of a client that the configuration names no more are revoked. So are those of a server that gets a header
// in their place.
func testAnotherClient(t *testing.T, dial SignInDial) {
	for name, cfg := range map[string]registry.ServerConfig{
		"another client": {Auth: &registry.Auth{ClientID: "other"}},
		"another flow":   {Auth: &registry.Auth{Flow: "client-credentials", ClientID: "me", ClientSecret: "secret"}},
		"a header":       {Headers: map[string]string{"authorization": "Bearer mine"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := registry.ServerConfig{}
			isSilent := cfg.Auth != nil && cfg.Auth.Flow != ""
			if isSilent {
				before.Auth = &registry.Auth{Flow: "authorization-code", ClientID: "me"}
			}
			d := newDesk(t, dial, &AuthServer{}, nil, before)
			d.signedIn()
			cfg.URL = endpoint
			d.want("update", d.Update("a", cfg), nil)
			if err := d.Discover(d.ctx); (err == nil) != isSilent {
				t.Errorf("after the update: %v", err)
			}
			if h, _ := d.Health("a"); (h.SignIn == registry.SignedIn) != isSilent {
				t.Errorf("health says %q", h.SignIn)
			}
			if isSilent {
				d.count("client_credentials", 1)
			} else if cfg.Headers == nil {
				d.want("sign in", d.SignIn(d.ctx, "a"), nil)
				d.want("call", d.echo(), nil)
			}
			d.Close() // waits for the end of the earlier sign-in
			d.count("revoke", 2)
		})
	}
}

// A sign-in that ends when its server is gone does not stay.
func testChangesDuringASignIn(t *testing.T, dial SignInDial) {
	for name, change := range map[string]func(*desk) error{
		"removed":     func(d *desk) error { return d.Remove("a") },
		"renamed":     func(d *desk) error { return d.Rename(d.ctx, "a", "b") },
		"another URL": func(d *desk) error { return d.Update("a", registry.ServerConfig{URL: endpoint + "/other"}) },
		"another client": func(d *desk) error {
			return d.Update("a", registry.ServerConfig{URL: endpoint, Auth: &registry.Auth{ClientID: "other"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			auth := &AuthServer{}
			d := newDesk(t, dial, auth, nil, registry.ServerConfig{})
			auth.Answer = func(url.Values) { d.want("change", change(d), nil) }
			d.want("sign in", d.SignIn(d.ctx, "a"), registry.ErrServerRemoved)
			d.count("revoke", 2)
			if _, ok := d.Config("a"); ok {
				d.want("remove", d.Remove("a"), nil)
			}
			d.want("add", d.Add("a", registry.ServerConfig{URL: endpoint}), nil)
			d.want("discover", d.Discover(d.ctx, "a"), registry.ErrSignInNeeded)
		})
	}
}

// Nobody waits for a sign-in that another run began. The server's health says that it failed, until one works.
func testResumedSignIn(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.want("discover", d.Discover(d.ctx), registry.ErrSignInNeeded)
	d.auth.Answer = func(q url.Values) { q.Set("state", "of another") }
	d.want("sign in", d.SignIn(d.ctx, "a"), registry.ErrSignIn)
	if h, _ := d.Health("a"); h.ErrorCode != "sign_in_needed" {
		t.Errorf("health %q: %s", h.ErrorCode, h.LastError)
	}
	p := d.prompts[0]
	begun := &registry.BegunSignIn{Resume: p.Resume, URL: redirectURL + "?error=invalid_scope&iss=" + authOrigin + "&state=" + p.State}
	d.want("resume", d.ResumeSignIn(d.ctx, "a", begun), registry.ErrSignIn)
	for range 2 {
		if h, _ := d.Health("a"); h.ErrorCode != "sign_in_failed" || !strings.Contains(h.LastError, "invalid_scope") || h.SignIn != registry.SignInNeeded {
			t.Errorf("health %q: %s", h.ErrorCode, h.LastError)
		}
		d.want("discover", d.Discover(d.ctx), registry.ErrSignInNeeded)
	}
	d.auth.Answer = nil
	d.want("sign in", d.SignIn(d.ctx, "a"), nil)
	if h, _ := d.Health("a"); h.LastError != "" || h.ErrorCode != "" {
		t.Errorf("health %q: %s", h.ErrorCode, h.LastError)
	}
}

func testSignOut(t *testing.T, dial SignInDial) {
	d := newDesk(t, dial, &AuthServer{}, nil, registry.ServerConfig{})
	d.signedIn()
	d.want("sign out", d.SignOut(d.ctx, "a"), nil)
	if h, _ := d.Health("a"); h.SignIn == registry.SignedIn {
		t.Errorf("health: %+v", h)
	}
	d.count("revoke", 2)
	d.want("call", d.echo(), registry.ErrSignInNeeded)
	d.want("sign in", d.SignIn(d.ctx, "a"), nil)
	d.want("call", d.echo(), nil)
}
