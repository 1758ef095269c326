package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	corsproxy "github.com/portolan-mcp/portolan/proxy-worker/proxy"
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// A page that sends the origin of ide, as a browser does.
type asPage struct{ http.RoundTripper }

func (p asPage) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Header.Set("Origin", ide)
	return p.RoundTripper.RoundTrip(out)
}

// A person signs in at a server behind a proxy that asks for a key. In a later run the token is renewed.
func TestSignInThroughAProxyWithKeys(t *testing.T) {
	const (
		key    = "a key that is long enough"
		server = "https://mcp.example.com/mcp"
		login  = "https://login.example.com"
	)
	for _, row := range []struct {
		name    string
		cfg     corsproxy.Config
		headers map[string]string
		bare    bool // the server's 401 does not say where its metadata is
	}{
		{"key", corsproxy.Config{Keys: []string{key}}, map[string]string{"X-Portolan-Key": key}, false},
		{"key, bare", corsproxy.Config{Keys: []string{key}}, map[string]string{"X-Portolan-Key": key}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.cfg.Origins = []string{ide}
			policy, err := corsproxy.New(row.cfg)
			if err != nil {
				t.Fatal(err)
			}
			net, auth := registrytest.NewNet(t), &registrytest.AuthServer{Issuer: login}
			protected := auth.Protect(server, registrytest.NewServer(nil), nil)
			net.Handle(login, auth)
			net.Handle("https://mcp.example.com", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				for name := range req.Header {
					if strings.HasPrefix(name, "X-Portolan-") {
						t.Errorf("the server gets %s", name)
					}
				}
				if row.bare && req.Header.Get("Authorization") == "" && !strings.HasPrefix(req.URL.Path, "/.well-known/") {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				protected.ServeHTTP(w, req)
			}))
			net.Handle("https://proxy.example", policy.Handler(net))
			var stored sync.Map
			run := func() *registry.Registry {
				c := client.New(nethttp.New(&nethttp.Options{RoundTripper: asPage{net}}), &client.Options{
					Proxy: "https://proxy.example/?url={href}",
					OAuth: oauth.New(oauth.Options{
						Crypto: nethttp.Crypto(), ClientName: "test", RedirectURL: "http://127.0.0.1:3000/callback",
						Ask: func(ctx context.Context, p *oauth.Prompt) (string, error) {
							req, err := http.NewRequestWithContext(ctx, "GET", p.URL, nil)
							if err != nil {
								return "", err
							}
							res, err := net.RoundTrip(req)
							if err != nil {
								return "", err
							}
							return res.Header.Get("Location"), res.Body.Close()
						},
						Load: func(_ context.Context, name string) (string, error) {
							text, _ := stored.Load(name)
							s, _ := text.(string)
							return s, nil
						},
						Save: func(_ context.Context, name, text string) error { stored.Store(name, text); return nil },
					}),
				})
				r := registry.New(&registry.Options{Connect: c.Connect, SignIns: c})
				t.Cleanup(func() { r.Close() })
				if err := r.Add("a", registry.ServerConfig{URL: server, Proxy: true, Headers: row.headers}); err != nil {
					t.Fatal(err)
				}
				return r
			}
			first := run()
			if err := first.Discover(t.Context()); !errors.Is(err, registry.ErrSignInNeeded) {
				t.Fatalf("discover: %v", err)
			}
			if err := first.SignIn(t.Context(), "a"); err != nil {
				t.Fatalf("sign in: %v", err)
			}
			first.Close()
			auth.Expire(false)
			later := run()
			if err := later.Discover(t.Context()); err != nil || auth.Count("refresh_token") != 1 {
				t.Errorf("in a later run: %v, after %d renewals", err, auth.Count("refresh_token"))
			}
		})
	}
}
