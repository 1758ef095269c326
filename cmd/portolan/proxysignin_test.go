package main

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

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

// behindProxy returns a registry of a page behind https://proxy.example, whose person is signed in at once.
func behindProxy(t *testing.T, net *registrytest.Net, rt http.RoundTripper, stored *sync.Map) *registry.Registry {
	c := client.New(nethttp.New(&nethttp.Options{RoundTripper: rt}), &client.Options{
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
	return r
}

// A person signs in at a server behind a proxy, which may ask for a key or a ticket. In later runs the
// token is renewed, and revoked.
func TestSignInThroughAProxy(t *testing.T) {
	const (
		key    = "a key that is long enough"
		server = "https://mcp.example.com/mcp"
		login  = "https://login.example.com"
	)
	ticket := corsproxy.Ticket{Origin: ide, Host: "mcp.example.com", Expires: time.Now().Add(time.Hour)}.Sign(key)
	for _, row := range []struct {
		name    string
		cfg     corsproxy.Config
		headers map[string]string
		bare    bool // the server's 401 does not say where its metadata is
	}{
		{"key", corsproxy.Config{Keys: []string{key}}, map[string]string{"X-Portolan-Key": key}, false},
		{"key, bare", corsproxy.Config{Keys: []string{key}}, map[string]string{"X-Portolan-Key": key}, true},
		{"hosts", corsproxy.Config{Hosts: []string{"mcp.example.com"}, BindingKeys: []string{key}}, nil, false},
		{"ticket", corsproxy.Config{TicketKeys: []string{key}}, map[string]string{"X-Portolan-Ticket": ticket}, false},
		{"ticket, bare", corsproxy.Config{TicketKeys: []string{key}}, map[string]string{"X-Portolan-Ticket": ticket}, true},
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
				r := behindProxy(t, net, asPage{net}, &stored)
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
			later.Close()
			if err := run().SignOut(t.Context(), "a"); err != nil || auth.Count("revoke") != 2 {
				t.Errorf("sign out: %v, after %d revocations", err, auth.Count("revoke"))
			}
		})
	}
}

// A before calls a function once, before the first request to a URL that contains a text.
type before struct {
	http.RoundTripper
	text string
	call func()
}

func (b *before) RoundTrip(req *http.Request) (*http.Response, error) {
	if call := b.call; call != nil && strings.Contains(req.URL.String(), b.text) {
		b.call = nil
		call()
	}
	return b.RoundTripper.RoundTrip(req)
}

// A person signs in at a server while another one's sign-in has begun.
func TestTwoSignInsThroughAProxy(t *testing.T) {
	policy, err := corsproxy.New(corsproxy.Config{
		Origins: []string{ide}, Hosts: []string{"*.example.com"}, BindingKeys: []string{"a key that is long enough"},
	})
	if err != nil {
		t.Fatal(err)
	}
	net := registrytest.NewNet(t)
	net.Handle("https://proxy.example", policy.Handler(net))
	rt := &before{RoundTripper: asPage{net}, text: "login-a.example%2F.well-known"}
	r := behindProxy(t, net, rt, new(sync.Map))
	for _, name := range []string{"a", "b"} {
		auth := &registrytest.AuthServer{Issuer: "https://login-" + name + ".example"}
		url := "https://" + name + ".example.com/mcp"
		net.Handle(auth.Issuer, auth)
		net.Handle(strings.TrimSuffix(url, "/mcp"), auth.Protect(url, registrytest.NewServer(nil), nil))
		if err := r.Add(name, registry.ServerConfig{URL: url, Proxy: true}); err != nil {
			t.Fatal(err)
		}
	}
	rt.call = func() {
		if err := r.SignIn(t.Context(), "b"); err != nil {
			t.Errorf("b: %v", err)
		}
	}
	if err := r.SignIn(t.Context(), "a"); err != nil {
		t.Errorf("a: %v", err)
	}
}

// A proxy of another maker signs nothing. Its preflights need not allow a header that is empty.
func TestSignInThroughAForeignProxy(t *testing.T) {
	const server, login = "https://mcp.example.com/mcp", "https://login.example.com"
	net, auth := registrytest.NewNet(t), &registrytest.AuthServer{Issuer: login}
	net.Handle(login, auth)
	net.Handle("https://mcp.example.com", auth.Protect(server, registrytest.NewServer(nil), nil))
	net.Handle("https://proxy.example", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if _, sent := req.Header["X-Portolan-Binding"]; sent {
			t.Errorf("%s %s: it gets X-Portolan-Binding", req.Method, req.URL)
		}
		out, err := http.NewRequestWithContext(req.Context(), req.Method, req.URL.Query().Get("url"), req.Body)
		if err != nil {
			t.Error(err)
			return
		}
		out.Header = req.Header
		res, err := net.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer res.Body.Close()
		maps.Copy(w.Header(), res.Header)
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	r := behindProxy(t, net, net, new(sync.Map))
	if err := r.Add("a", registry.ServerConfig{URL: server, Proxy: true}); err != nil {
		t.Fatal(err)
	}
	if err := r.SignIn(t.Context(), "a"); err != nil {
		t.Error(err)
	}
}
