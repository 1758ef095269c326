//go:build !js

package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func newNet(t *testing.T, h http.Handler) *registrytest.Net {
	net := registrytest.NewNet(t)
	net.Handle("https://server.example", h)
	return net
}

// open connects and closes a session once.
func open(t *testing.T, c *client.Client, cfg registry.ServerConfig) error {
	t.Helper()
	s, err := c.Connect(t.Context(), "a", cfg, nil)
	if err == nil {
		err = s.Close(t.Context())
	}
	return err
}

// methods are the JSON-RPC methods of the messages before the first session closed.
func handshakes(s *registrytest.Script) map[string]int {
	return map[string]int{"server/discover": len(s.Received("server/discover")), "initialize": len(s.Received("initialize"))}
}

func TestEraIsRemembered(t *testing.T) {
	s := &registrytest.Script{Session: "s1"}
	c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
	for range 3 {
		if err := open(t, c, registry.ServerConfig{URL: endpoint}); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(map[string]int{"server/discover": 1, "initialize": 3}, handshakes(s)); d != "" {
		t.Errorf("handshakes (-want +got):\n%s", d)
	}
}

// A server that moved on since it was last seen refuses the old handshake.
func TestEraIsForgotten(t *testing.T) {
	s := new(registrytest.Script)
	c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
	if err := open(t, c, registry.ServerConfig{URL: endpoint}); err != nil {
		t.Fatal(err)
	}
	s.On("initialize", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		registrytest.ReplyError(w, m, 404, -32601, "initialize is gone")
	})
	s.On("server/discover", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		registrytest.Reply(w, m, `{"supportedVersions":["2026-07-28"],"capabilities":{}}`)
	})
	if err := open(t, c, registry.ServerConfig{URL: endpoint}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]int{"server/discover": 2, "initialize": 2}, handshakes(s)); d != "" {
		t.Errorf("handshakes (-want +got):\n%s", d)
	}
}

// A 401 to the probe is a 401: asking again would ask the user again.
func TestCredentialsAreAskedForOnce(t *testing.T) {
	s := new(registrytest.Script).On("server/discover", registrytest.Status(401, ""))
	err := open(t, client.New(client.NewPlatform(t, newNet(t, s)), nil), registry.ServerConfig{URL: endpoint})
	var status *registry.StatusError
	if !errors.As(err, &status) || status.Code != 401 {
		t.Errorf("%v, want status 401", err)
	}
	if d := cmp.Diff(map[string]int{"server/discover": 1, "initialize": 0}, handshakes(s)); d != "" {
		t.Errorf("handshakes (-want +got):\n%s", d)
	}
}

// connectsWith connects to a server within 10 s, and checks the version that was agreed.
func connectsWith(t *testing.T, s *registrytest.Script, want string) {
	t.Helper()
	c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	session, err := c.Connect(ctx, "a", registry.ServerConfig{URL: endpoint}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := session.Info().ProtocolVersion; got != want {
		t.Errorf("version %s, want %s", got, want)
	}
	session.Close(ctx)
}

// A server that swallows unknown methods leaves time for the handshake it knows.
func TestProbeLeavesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(registrytest.Script).On("server/discover", registrytest.Silent)
		connectsWith(t, s, "2025-11-25")
	})
}

// A server that starts with the first request answers the probe too late, and refuses the handshake of older versions.
func TestServerThatAnswersTheProbeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Bool
		s := &registrytest.Script{Modern: true}
		s.On("server/discover", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			if !asked.Swap(true) {
				registrytest.Silent(w, req, m)
				return
			}
			registrytest.Reply(w, m, `{"supportedVersions":["2026-07-28"],"capabilities":{}}`)
		})
		s.On("initialize", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.ReplyError(w, m, http.StatusBadRequest, -32022, "unsupported protocol version")
		})
		connectsWith(t, s, "2026-07-28")
	})
}

// A server that has gone from HTTP+SSE to streamable HTTP need not refuse the GET with which an HTTP+SSE session begins.
func TestServerThatLeavesHTTPSSE(t *testing.T) {
	for name, get := range map[string]registrytest.Step{
		"a page of its own": registrytest.Body("application/json", `{"name":"a server"}`),
		"a stream of its own": func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			registrytest.Silent(w, req, m)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hints := client.NewHints(map[string]client.Hint{endpoint: {Transport: "sse", Version: "2024-11-05"}}, nil)
				s := new(registrytest.Script).On("GET", get)
				c := client.New(client.NewPlatform(t, newNet(t, s)), &client.Options{Hints: hints})
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				session, err := c.Connect(ctx, "a", registry.ServerConfig{URL: endpoint}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := session.Info().Transport; got != "streamable-http" {
					t.Errorf("transport %s", got)
				}
				session.Close(ctx)
			})
		})
	}
}

func TestLegacySSEOnOneSignOnly(t *testing.T) {
	for name, step := range map[string]registrytest.Step{
		"JSON-RPC error": func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.ReplyError(w, m, 400, -32602, "bad")
		},
		"500":    registrytest.Status(500, ""),
		"403":    registrytest.Status(403, ""),
		"broken": registrytest.Abort,
		"html":   registrytest.Body("text/html", "hello"),
	} {
		t.Run(name, func(t *testing.T) {
			s := new(registrytest.Script).On("server/discover", step).On("initialize", step)
			if err := open(t, client.New(client.NewPlatform(t, newNet(t, s)), nil), registry.ServerConfig{URL: endpoint}); err == nil {
				t.Error("connected")
			}
			if n := len(s.Received("GET")); n > 0 {
				t.Errorf("legacy SSE was tried %d times", n)
			}
		})
	}
}

// A session that the server has forgotten need not be deleted.
func TestExpiredSessionsAreNotDeleted(t *testing.T) {
	s := (&registrytest.Script{Session: "s1"}).On("tools/list", registrytest.Status(404, ""))
	session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.ListTools(t.Context(), nil); !errors.Is(err, registry.ErrSessionExpired) {
		t.Errorf("%v, want ErrSessionExpired", err)
	}
	session.Close(t.Context())
	if n := len(s.Received("DELETE")); n > 0 {
		t.Errorf("%d DELETEs", n)
	}
}

func TestProxy(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	server := registrytest.NewServer(nil)
	net := registrytest.NewNet(t)
	net.Handle("https://proxy.example", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		target, err := url.Parse(req.URL.Query().Get("url"))
		if err != nil {
			http.Error(w, "no url", http.StatusBadRequest)
			return
		}
		mu.Lock()
		seen = append(seen, req.Method+" "+target.String()+" "+req.Header.Get("X-Api-Key"))
		mu.Unlock()
		req.URL, req.RequestURI = target, target.RequestURI()
		server.ServeHTTP(w, req)
	}))
	c := client.New(client.NewPlatform(t, net), &client.Options{Proxy: "https://proxy.example/?url={href}"})
	for _, path := range []string{"/mcp?a=1&b=ä", "/sse"} {
		cfg := registry.ServerConfig{URL: "https://server.example" + path, Proxy: true, Headers: map[string]string{"X-Api-Key": "k"}}
		if err := open(t, c, cfg); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, request := range seen {
		if !strings.Contains(request, " https://server.example/") || !strings.HasSuffix(request, " k") {
			t.Errorf("the proxy got %q", request)
		}
	}
	err := open(t, client.New(client.NewPlatform(t, net), nil), registry.ServerConfig{URL: endpoint, Proxy: true})
	if !errors.Is(err, registry.ErrInvalidConfig) {
		t.Errorf("without a template: %v, want ErrInvalidConfig", err)
	}
}

func TestBadConfigurations(t *testing.T) {
	c := client.New(client.NewPlatform(t, registrytest.NewNet(t)), nil)
	for _, cfg := range []registry.ServerConfig{
		{}, {URL: "ftp://x"}, {URL: "https://"}, {URL: "builtin:nothing"}, {URL: "https://a.example/%zz"},
		{URL: endpoint, Headers: map[string]string{"Host": "x"}}, {URL: endpoint, Transport: "smoke"},
	} {
		if err := open(t, c, cfg); !errors.Is(err, registry.ErrInvalidConfig) {
			t.Errorf("%+v: %v, want ErrInvalidConfig", cfg, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Connect(ctx, "a", registry.ServerConfig{URL: endpoint}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

// A computer that wakes from sleep has its network a few seconds later. The wait for a task goes on meanwhile.
func TestATaskOutlivesAnOutage(t *testing.T) {
	for name, first := range map[string]string{"followed": `{"taskId":"t","status":"working"}`, "not yet known": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				back := time.Now().Add(12 * time.Second)
				polls := 0
				s := (&registrytest.Script{Modern: true}).On("tasks/get", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
					switch polls++; {
					case polls == 1 && first != "":
						registrytest.Reply(w, m, first)
					case time.Now().Before(back):
						registrytest.Abort(w, req, m)
					default:
						registrytest.Reply(w, m, `{"taskId":"t","status":"completed","result":{"content":[]}}`)
					}
				})
				session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := session.(registry.Tasker).FollowTask(t.Context(), "t", registry.ToolCall{}); err != nil {
					t.Error(err)
				}
				if polls > 8 {
					t.Errorf("%d polls", polls)
				}
				session.Close(t.Context())
			})
		})
	}
}

// TestProxyRefuses keeps what the proxy says apart from what a server says.
func TestProxyRefuses(t *testing.T) {
	for _, row := range []struct {
		status  int
		refused bool
		code    string
	}{{403, true, "proxy_refused"}, {502, false, "network"}} {
		net := registrytest.NewNet(t)
		net.Handle("https://proxy.example", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Proxy-Error", "some_code")
			w.WriteHeader(row.status)
			_, _ = io.WriteString(w, `{"error":{"code":"some_code","message":"not so","hint":"do this"}}`)
		}))
		c := client.New(client.NewPlatform(t, net), &client.Options{Proxy: "https://proxy.example/?url={href}"})
		err := open(t, c, registry.ServerConfig{URL: endpoint, Proxy: true})
		var said *registry.ProxyError
		if !errors.As(err, &said) || said.Code != "some_code" || said.Refused != row.refused {
			t.Fatalf("status %d: %v", row.status, err)
		}
		if x := registry.Explain(err); x.Code != row.code || x.Hint != "do this" {
			t.Errorf("status %d: %+v", row.status, x)
		}
	}
}

// Calls of a server that is removed, switched off or moved learn of that, those that wait for their turn too.
func TestCallsOfAServerThatGoes(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*registry.Registry) error
		want   error
	}{
		"removed":      {func(r *registry.Registry) error { return r.Remove("a") }, registry.ErrServerRemoved},
		"switched off": {func(r *registry.Registry) error { return r.SetEnabled("a", false) }, registry.ErrDisabled},
		"moved": {func(r *registry.Registry) error {
			return r.Update("a", registry.ServerConfig{URL: endpoint + "/2", Concurrency: 4})
		}, registry.ErrServerRemoved},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := (&registrytest.Script{Modern: true}).On("tools/call", registrytest.Silent)
				c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
				r := registry.New(&registry.Options{Connect: c.Connect})
				if err := r.Add("a", registry.ServerConfig{URL: endpoint, Concurrency: 4}); err != nil {
					t.Fatal(err)
				}
				if err := r.Discover(t.Context()); err != nil {
					t.Fatal(err)
				}
				const calls = 12
				ended := make(chan error, calls)
				for range calls {
					r.Start(registry.Call{Name: "a__t"}, func(_ *registry.Result, err error) { ended <- err })
				}
				time.Sleep(time.Second)
				if err := row.change(r); err != nil {
					t.Fatal(err)
				}
				for range calls {
					if err := <-ended; !errors.Is(err, row.want) {
						t.Errorf("%v, want %v", err, row.want)
					}
				}
				time.Sleep(time.Second)
				if n := len(s.Received("tools/call")); n != 4 {
					t.Errorf("%d calls were sent, want 4", n)
				}
				if h, ok := r.Health("a"); ok && h.ConsecutiveFailures > 0 {
					t.Errorf("%+v", h)
				}
				_ = r.Close()
			})
		})
	}
}

// A server may be replaced by one of 2026-07-28 only, which refuses the version of the session.
func TestServerThatGoesToTheModernEra(t *testing.T) {
	for _, session := range []string{"s", ""} {
		s := &registrytest.Script{Session: session}
		c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
		r := registry.New(&registry.Options{Connect: c.Connect})
		if err := r.Add("a", registry.ServerConfig{URL: endpoint}); err != nil {
			t.Fatal(err)
		}
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		older := func(w http.ResponseWriter, m registrytest.Message) bool {
			is := m.Header.Get("MCP-Protocol-Version") != "2026-07-28"
			if is {
				registrytest.ReplyError(w, m, http.StatusBadRequest, -32022, "unsupported protocol version")
			}
			return is
		}
		for method, result := range map[string]string{
			"initialize": "", "tools/call": `{"content":[]}`, "tools/list": `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`,
			"server/discover": `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`,
		} {
			s.On(method, func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
				if !older(w, m) {
					registrytest.Reply(w, m, result)
				}
			})
		}
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "a__t"}); err != nil {
			t.Errorf("session %q: %v", session, err)
		}
		if h, _ := r.Health("a"); h.ProtocolVersion != "2026-07-28" {
			t.Errorf("session %q: version %s", session, h.ProtocolVersion)
		}
		_ = r.Close()
	}
}

// A server of 2026-07-28 may be replaced by one of before, which asks for a session or refuses the version.
func TestServerThatGoesBackToTheLegacyEra(t *testing.T) {
	reply := func(code int, words string) func(http.ResponseWriter, registrytest.Message) {
		return func(w http.ResponseWriter, m registrytest.Message) {
			registrytest.ReplyError(w, m, http.StatusBadRequest, code, words)
		}
	}
	for name, row := range map[string]struct {
		refuse func(http.ResponseWriter, registrytest.Message)
		want   string // the version of the session afterwards
	}{
		"no session":      {reply(-32000, "Bad Request: No valid session ID provided"), "2025-11-25"},
		"another version": {reply(-32000, "Bad Request: Unsupported protocol version (supported versions: 2025-11-25)"), "2025-11-25"},
		"Python":          {reply(-32600, "Bad Request: Missing session ID"), "2025-11-25"},
		"Go": {func(w http.ResponseWriter, _ registrytest.Message) {
			http.Error(w, "Bad Request: Unsupported protocol version", 400)
		}, "2025-11-25"},
		"a fault of a tool": {reply(-32000, "the file is missing"), "2026-07-28"},
		"invalid params":    {reply(-32602, "the session of the theatre is missing"), "2026-07-28"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &registrytest.Script{Session: "s"}
			var legacy atomic.Bool
			for method, result := range map[string]string{
				"tools/call": `{"content":[]}`, "tools/list": `{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`,
				"server/discover": `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`,
			} {
				s.On(method, func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
					if legacy.Load() && m.Header.Get("MCP-Protocol-Version") == "2026-07-28" {
						row.refuse(w, m)
					} else {
						registrytest.Reply(w, m, result)
					}
				})
			}
			c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
			r := registry.New(&registry.Options{Connect: c.Connect})
			defer r.Close()
			if err := r.Add("a", registry.ServerConfig{URL: endpoint}); err != nil {
				t.Fatal(err)
			}
			if err := r.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			legacy.Store(true)
			_, err := r.Dispatch(t.Context(), registry.Call{Name: "a__t"})
			if h, _ := r.Health("a"); h.ProtocolVersion != row.want || (err == nil) != (row.want == "2025-11-25") {
				t.Errorf("version %s: %v", h.ProtocolVersion, err)
			}
			if n := len(s.Received("tools/call")); n != map[string]int{"2025-11-25": 2, "2026-07-28": 1}[row.want] {
				t.Errorf("%d calls were sent", n)
			}
		})
	}
}
