package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

const proxyTemplate = "https://proxy.example/?url={href}"

// TestProxyRefuses keeps what the proxy says apart from what a server says.
func TestProxyRefuses(t *testing.T) {
	for _, row := range []struct {
		status  int
		refused bool
		code    string
	}{{403, true, "proxy_refused"}, {404, true, "proxy_refused"}, {502, false, "network"}} {
		b := newBench(t, nil, Options{Proxy: proxyTemplate})
		b.net.Handle("https://proxy.example", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Proxy-Error", "some_code")
			w.WriteHeader(row.status)
			_, _ = io.WriteString(w, `{"error":{"code":"some_code","message":"not so","hint":"do this"}}`)
		}))
		_, err := b.Connect(b.ctx, "a", registry.ServerConfig{URL: testEndpoint, Proxy: true}, nil)
		var said *registry.ProxyError
		if !errors.As(err, &said) || said.Code != "some_code" || said.Refused != row.refused {
			t.Fatalf("status %d: %v", row.status, err)
		}
		if x := registry.Explain(err); x.Code != row.code || x.Hint != "do this" {
			t.Errorf("status %d: %+v", row.status, x)
		}
	}
}

// A helpful proxy says of every server the same, and counts what it is asked.
type helpful struct {
	says string // the diagnosis, as JSON; "" for none

	mu                 sync.Mutex
	diagnoses, proxied int
}

func (h *helpful) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !strings.HasPrefix(req.URL.Path, "/diagnose") {
		h.proxied++
		in := req.Clone(req.Context())
		in.URL.Path, in.URL.RawQuery = "/mcp", ""
		registrytest.NewServer(&registrytest.ServerOptions{Versions: []string{"2025-11-25"}, JSON: true}).ServeHTTP(w, in)
		return
	}
	h.diagnoses++
	if h.says == "" {
		w.WriteHeader(404)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+req.URL.Query().Get("id")+`,"result":`+h.says+`}`)
}

// TestProxyAuto has a server that cannot be reached directly: the network has none of its origin.
func TestProxyAuto(t *testing.T) {
	const cors = `{"code":"cors","message":"it does not let this page in","hint":"h"}`
	for _, row := range []struct {
		name, says string
		headers    map[string]string
		connects   bool
		want       string // of the error
	}{
		{"it lacks CORS", cors, nil, true, ""},
		{"it lacks CORS, and there is a secret", cors, map[string]string{"X-Api-Key": "k"}, false, "does not let this page in"},
		{"it is down", `{"code":"down","message":"nothing listens there","hint":"h"}`, nil, false, "nothing listens there (down)"},
		{"the proxy does not say", "", nil, false, "no answer from the server"},
		{"the proxy says nonsense", `{"x":[1]}`, nil, false, "no answer from the server"},
	} {
		t.Run(row.name, func(t *testing.T) {
			h := &helpful{says: row.says}
			b := newBench(t, nil, Options{Proxy: proxyTemplate})
			b.net.Handle("https://proxy.example", h)
			cfg := registry.ServerConfig{URL: testEndpoint, ProxyAuto: true, Headers: row.headers}
			s, err := b.Connect(b.ctx, "a", cfg, nil)
			if row.connects != (err == nil) {
				t.Fatal(err)
			}
			if err != nil {
				if !errors.Is(err, registry.ErrNetwork) || !strings.Contains(err.Error(), row.want) || h.proxied > 0 {
					t.Errorf("%v, after %d requests through the proxy", err, h.proxied)
				}
				return
			}
			s.Close(b.ctx)
			if again, err := b.Connect(b.ctx, "a", cfg, nil); err != nil || h.diagnoses != 1 {
				t.Errorf("the second time: %v, after %d diagnoses", err, h.diagnoses)
			} else {
				again.Close(b.ctx)
			}
		})
	}
}

// TestProxyAutoForgets tries directly again once the proxy is gone.
func TestProxyAutoForgets(t *testing.T) {
	hints := NewHints(map[string]Hint{testEndpoint: {Transport: "streamable-http", Version: legacy, Proxied: true}}, nil)
	b := newBench(t, registrytest.NewServer(nil), Options{Proxy: proxyTemplate, Hints: hints})
	cfg := registry.ServerConfig{URL: testEndpoint, ProxyAuto: true}
	_, err := b.Connect(b.ctx, "a", cfg, nil)
	if x := registry.Explain(err); x.Code != "network" || !strings.Contains(x.Hint, "Check that it runs") || !strings.Contains(err.Error(), "the proxy https://proxy.example") {
		t.Errorf("a proxy that does not exist: %v, %+v", err, x)
	}
	s, err := b.Connect(b.ctx, "a", cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close(b.ctx)
}
