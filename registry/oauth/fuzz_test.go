package oauth

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/portolan-mcp/portolan/registry"
)

// stub returns constants in place of cryptography, for tests of parsers.
type stub struct{}

func (stub) Hash(context.Context, string) (string, error)                        { return "hash", nil }
func (stub) Random() string                                                      { return "random" }
func (stub) MakeKey(context.Context) (name, jwk string, err error)               { return "key", "{}", nil }
func (stub) JWT(context.Context, string, string, string, string) (string, error) { return "a.b.c", nil }

func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{
		`Bearer resource_metadata="https://a.example/.well-known/oauth-protected-resource", scope="a b", error=invalid_token`,
		`Basic realm="x", Bearer scope="a\"b"`, `DPoP algs="ES256", error="use_dpop_nonce"`, `Negotiate abc==, bearer`,
		`Bearer scope="`, `,,=,"`, "Bearer\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c := readChallenge(header)
		if c.scheme != "" && c.scheme != "bearer" && c.scheme != "dpop" {
			t.Errorf("scheme %q", c.scheme)
		}
		if c.scheme == "" && c.scope+c.code+c.resourceMetadata != "" {
			t.Error("parameters of another scheme")
		}
		for _, scope := range strings.Split(joinScopes(c.scope, ""), " ") {
			if scope != "" && !isScope(scope) {
				t.Errorf("scope %q", scope)
			}
		}
	})
}

// FuzzSplit checks that net/url reads accepted URLs in the same way.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"https://a.example", "HTTP://A.example:80/p?q", "https://[::1]:8080/", "https://a@b/", "https://a:/x",
		"http://127.1/", "https://a.example\\@b/",
		"https://10.0.0.1./", "https://0x7f.1", "javascript:alert(1)//://", "https://a/?b#c", "https://%61/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := splitURL(text)
		if p == nil {
			return
		}
		u, err := url.Parse(text)
		if err != nil {
			return // the fetch refuses it later
		}
		if !strings.EqualFold(u.Scheme, p.scheme) || u.User != nil ||
			!strings.EqualFold(u.Hostname(), strings.Trim(p.host, "[]")) && !strings.Contains(p.host, "[") ||
			u.Port() != "" && u.Port() != p.port || u.Fragment != "" {
			t.Errorf("%q: %+v, net/url says %+v", text, p, u)
		}
		p.where()
	})
}

func FuzzMetadata(f *testing.F) {
	f.Add(`{"resource":"https://a.example/mcp","authorization_servers":["https://b.example"]}`,
		`{"issuer":"https://b.example","authorization_endpoint":"https://b.example/a",`+
			`"token_endpoint":"https://b.example/t","code_challenge_methods_supported":["S256"]}`)
	f.Add(`{}`, `{"issuer":1}`)
	f.Add(`[`, `{"issuer":"https://a.example","token_endpoint":"http://10.0.0.1/"}`)
	f.Fuzz(func(t *testing.T, resource, server string) {
		s := New(Options{Crypto: stub{}}).Server("a", "https://a.example/mcp", nil,
			func(_ context.Context, r *Request) (*Response, error) {
				if strings.Contains(r.URL, "oauth-protected-resource") {
					return &Response{Status: 200, Body: []byte(resource)}, nil
				}
				return &Response{Status: 200, Body: []byte(server)}, nil
			})
		m, err := s.discover(t.Context())
		if err != nil {
			if !utf8.ValidString(err.Error()) || len(err.Error()) > 2000 {
				t.Errorf("error %q", err)
			}
			return
		}
		for _, url := range []string{m.token, m.authorize, m.register, m.revoke} {
			if url != "" && !strings.HasPrefix(strings.ToLower(url), "https://") {
				t.Errorf("endpoint %q", url)
			}
		}
	})
}

func FuzzCallback(f *testing.F) {
	f.Add("http://localhost/?code=a&state=s&iss=https://b.example")
	f.Add("http://localhost/?error=access_denied&error_description=%3Cb%3E%00&state=s")
	f.Add("?state=s&state=s&code=%zz")
	f.Fuzz(func(t *testing.T, came string) {
		sent := 0
		s := New(Options{Crypto: stub{}}).Server("a", "https://a.example/mcp", nil,
			func(_ context.Context, r *Request) (*Response, error) {
				sent++
				return &Response{Status: 400}, nil
			})
		g := &grant{issuer: "https://b.example", token: "https://b.example/t", state: "s", strict: "1"}
		if err := s.finish(t.Context(), g, came); err == nil {
			t.Error("a token without a token")
		}
		if sent > 0 && (queryParameter(came, "state") != "s" || queryParameter(came, "iss") != "https://b.example") {
			t.Errorf("the code of %q was sent", came)
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add(`{"access_token":"a","token_type":"Bearer","expires_in":3600,"refresh_token":"r"}`)
	f.Add(`{"access_token":"a\nX: y","token_type":"mac"}`)
	f.Add(`{"error":"invalid_grant","error_description":"\u001b"}`)
	f.Add(`{"access_token":"a","expires_in":1e400}`)
	f.Fuzz(func(t *testing.T, body string) {
		s := New(Options{Crypto: stub{}}).Server("a", "https://a.example/mcp", nil,
			func(context.Context, *Request) (*Response, error) {
				return &Response{Status: 200, Body: []byte(body)}, nil
			})
		g := &grant{token: "https://b.example/t", host: "b.example"}
		if err := s.request(t.Context(), g, "grant_type", "x"); err == nil {
			if strings.ContainsAny(g.access, " \r\n\x00") || g.access == "" {
				t.Errorf("token %q", g.access)
			}
		}
		if back := readGrant(g.text()); back == nil || back.access != g.access || back.refresh != g.refresh {
			t.Errorf("a grant is not kept as it is: %+v", g)
		}
	})
}

// Grants that earlier versions stored lack the last field.
func TestReadsGrantsOfEarlierVersions(t *testing.T) {
	stored := (&grant{issuer: "https://b.example", access: "1", dpop: "2"}).text()
	if g := readGrant(stored[:len(stored)-1]); g == nil || g.issuer != "https://b.example" || g.access != "1" || g.dpop != "2" {
		t.Errorf("without the last field: %+v", g)
	}
	for _, text := range []string{"", stored + "\n", stored[:len(stored)-2]} {
		if g := readGrant(text); g != nil {
			t.Errorf("%q is no grant: %+v", text, g)
		}
	}
}

func TestCovers(t *testing.T) {
	home := splitURL("https://a.example/team/mcp")
	for resource, want := range map[string]bool{
		"https://a.example/team/mcp": true, "https://a.example": true, "https://a.example/": true,
		"https://a.example/team":         true,
		"https://a.example:443/team/mcp": true, "https://a.example/te": false, "https://a.example/team/mcp/x": false,
		"http://a.example/team/mcp":  false,
		"https://b.example/team/mcp": false, "https://a.example.evil/": false, "https://a.example@evil/": false, "": false,
	} {
		if got := covers(resource, home); got != want {
			t.Errorf("%q: %v, want %v", resource, got, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	outside, inside := splitURL("https://a.example"), splitURL("http://localhost:3000")
	for url, want := range map[string][2]bool{ // for a server on the web, and one on this machine
		"https://login.example/token": {true, true}, "http://login.example/token": {false,
			false}, "http://localhost:1/token": {false, true},
		"https://10.0.0.1/": {false, true}, "https://192.168.1.1/": {false, true}, "https://172.16.0.1/": {false,
			true}, "https://172.32.0.1/": {true, true},
		"https://169.254.169.254/latest": {false, true}, "https://100.64.0.1/": {false, true}, "https://100.128.0.1/": {true,
			true}, "https://2130706433/": {false, true},
		"https://0x7f.0.0.1/": {false, true}, "https://172.020.0.1/": {false, true}, "https://1.2.3.4.5/": {false,
			true}, "https://256.1.1.1/": {false, true}, "https://127.1/": {false, true}, "https://printer/": {false, true},
		"https://nas.local/": {false, true},
		"https://[::1]/":     {false, true}, "https://[fd00::1]/": {false, true}, "https://[2606:4700::1]/": {true,
			true}, "https://127.0.0.1/": {false, true},
		"javascript:alert(1)": {false, false}, "data:text/html,x": {false, false}, "https://a.example#x": {false,
			false}, "//a.example": {false, false},
		"https://1.1.1.1/": {true, true}, "https://1.1.1.1./": {true, true}, "http://[::1]/": {false,
			true}, "https://user@login.example/": {false, false},
	} {
		for i, server := range []*parts{outside, inside} {
			if got := metadataURL(url, server) != nil; got != want[i] {
				t.Errorf("%s for %s: %v, want %v", url, server.origin(), got, want[i])
			}
		}
	}
}

func TestRedactKnowsSpentTokens(t *testing.T) {
	s := New(Options{Crypto: stub{}}).Server("a", "https://a.example", &registry.Auth{ClientSecret: "client-secret"}, nil)
	s.keep(t.Context(), &grant{access: "first-token", refresh: "first-refresh"})
	s.keep(t.Context(), &grant{access: "second-token"})
	if got := s.Redact("first-token first-refresh second-token client-secret"); got != "[redacted] [redacted] "+
		"[redacted] [redacted]" {
		t.Error(got)
	}
}
