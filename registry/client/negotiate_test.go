package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

const (
	testOrigin   = "https://server.example"
	testEndpoint = testOrigin + "/mcp"
)

// A bench is a connector with its network.
type bench struct {
	*Client
	t     *testing.T
	ctx   context.Context
	net   *registrytest.Net
	hints *Hints
}

func newBench(t *testing.T, h http.Handler, opts Options) *bench {
	b := &bench{t: t, net: registrytest.NewNet(t), hints: opts.Hints}
	if h != nil {
		b.net.Handle(testOrigin, h)
	}
	if b.hints == nil {
		b.hints = NewHints(nil, nil)
		opts.Hints = b.hints
	}
	b.Client = New(NewPlatform(t, b.net), &opts)
	var cancel context.CancelFunc
	b.ctx, cancel = context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return b
}

func (b *bench) connect(cfg registry.ServerConfig, notify registry.Notify) registry.Session {
	b.t.Helper()
	if cfg.URL == "" {
		cfg.URL = testEndpoint
	}
	s, err := b.Connect(b.ctx, "a", cfg, notify)
	if err != nil {
		b.t.Fatalf("connect: %v", err)
	}
	b.t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// sent lists what the network saw, as "POST" with its Mcp-Method or "GET".
func (b *bench) sent() []string {
	var all []string
	for _, req := range b.net.Requests() {
		all = append(all, strings.TrimSpace(req.Method+" "+req.Header.Get("Mcp-Method")))
	}
	return all
}

func TestEras(t *testing.T) {
	known := func(h Hint) map[string]Hint { return map[string]Hint{testEndpoint: h} }
	modernHint := Hint{Transport: "streamable-http", Version: modern}
	legacyHint := Hint{Transport: "streamable-http", Version: legacy}
	sseHint := Hint{Transport: "sse", Version: "2024-11-05"}
	for _, row := range []struct {
		name   string
		server *registrytest.Script
		known  map[string]Hint
		sent   []string
		after  Hint
	}{
		{"unknown, modern", &registrytest.Script{Modern: true}, nil,
			[]string{"POST server/discover", "POST tools/list"}, modernHint},
		{"unknown, legacy", &registrytest.Script{Session: "s"}, nil,
			[]string{"POST server/discover", "POST", "POST", "POST"}, legacyHint},
		{"modern as remembered", &registrytest.Script{Modern: true}, known(modernHint),
			[]string{"POST tools/list"}, modernHint},
		{"legacy as remembered", &registrytest.Script{Session: "s"}, known(legacyHint),
			[]string{"POST", "POST", "POST"}, legacyHint},
		{"not SSE as remembered", &registrytest.Script{Session: "s"}, known(sseHint),
			[]string{"GET", "POST server/discover", "POST", "POST", "POST"}, legacyHint},
	} {
		t.Run(row.name, func(t *testing.T) {
			b := newBench(t, row.server, Options{Hints: NewHints(row.known, nil)})
			s := b.connect(registry.ServerConfig{}, nil)
			if _, err := s.ListTools(b.ctx, nil); err != nil {
				t.Fatal(err)
			}
			for len(b.sent()) < len(row.sent) && b.ctx.Err() == nil { // nobody waits for the notification
				time.Sleep(time.Millisecond)
			}
			if d := cmp.Diff(row.sent, b.sent()); d != "" {
				t.Errorf("requests (-want +got):\n%s", d)
			}
			if got := b.hints.get(testEndpoint); got != row.after {
				t.Errorf("remembered %+v, want %+v", got, row.after)
			}
		})
	}
}

// A server that went back to an older version refuses what a remembered era
// sends first; the session ends as one that has expired, and the era is forgotten.
func TestWrongEra(t *testing.T) {
	for name, step := range map[string]registrytest.Step{
		"400":  registrytest.Status(400, "no"),
		"404":  registrytest.Status(404, "no"),
		"HTML": registrytest.Body("text/html", "<p>hello"),
		"version": func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.ReplyError(w, m, 400, codeUnsupportedVersion, "unsupported protocol version")
		},
		"dead": registrytest.Abort,
	} {
		t.Run(name, func(t *testing.T) {
			hints := NewHints(map[string]Hint{testEndpoint: {Transport: "streamable-http", Version: modern}}, nil)
			b := newBench(t, new(registrytest.Script).On("tools/list", step), Options{Hints: hints})
			s := b.connect(registry.ServerConfig{}, nil)
			if _, err := s.ListTools(b.ctx, nil); !errors.Is(err, registry.ErrSessionExpired) {
				t.Errorf("%v, want ErrSessionExpired", err)
			}
			if h := hints.get(testEndpoint); h != (Hint{}) {
				t.Errorf("still remembered: %+v", h)
			}
		})
	}
	t.Run("calls", func(t *testing.T) {
		for code, expired := range map[int]bool{-32601: true, -32600: true, codeUnsupportedVersion: true, -32602: false, -32603: false} {
			hints := NewHints(map[string]Hint{testEndpoint: {Transport: "streamable-http", Version: modern}}, nil)
			s := new(registrytest.Script).On("tools/call", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
				registrytest.ReplyError(w, m, 200, code, "no")
			})
			b := newBench(t, s, Options{Hints: hints})
			_, err := b.connect(registry.ServerConfig{}, nil).CallTool(b.ctx, registry.ToolCall{Tool: "t"})
			if errors.Is(err, registry.ErrSessionExpired) != expired {
				t.Errorf("code %d: %v", code, err)
			}
		}
	})
	t.Run("rights are not an era", func(t *testing.T) {
		hints := NewHints(map[string]Hint{testEndpoint: {Transport: "streamable-http", Version: modern}}, nil)
		b := newBench(t, new(registrytest.Script).On("tools/list", registrytest.Status(401, "no")), Options{Hints: hints})
		s := b.connect(registry.ServerConfig{}, nil)
		if _, err := s.ListTools(b.ctx, nil); err == nil || errors.Is(err, registry.ErrSessionExpired) {
			t.Errorf("%v, want status 401", err)
		}
	})
}

// In a browser a refused preflight looks like no network at all.
func TestErrorsOfTheModernEra(t *testing.T) {
	for _, code := range []int{registry.CodeHeaderMismatch, codeMissingCapability} {
		s := (&registrytest.Script{}).On("server/discover", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.ReplyError(w, m, http.StatusBadRequest, code, "not so")
		})
		b := newBench(t, s, Options{})
		_, err := b.Connect(b.ctx, "a", registry.ServerConfig{URL: testEndpoint}, nil)
		var rpc *registry.RPCError
		if !errors.As(err, &rpc) || rpc.Code != int64(code) {
			t.Errorf("error %v, want the server's %d", err, code)
		}
		if n := len(s.Received("initialize")); n > 0 {
			t.Errorf("after %d the client tried an older version", code)
		}
	}
}

// A remembered era spares server/discover at first. What it answers later is read as at first.
func TestDiscoverAfterAHint(t *testing.T) {
	for _, row := range []struct {
		result     string
		want       error
		remembered bool
	}{
		{`{"resultType":"future","supportedVersions":["2026-07-28"],"capabilities":{}}`, registry.ErrUnsupported, true},
		{`{"resultType":"complete","supportedVersions":["2027-01-01"],"capabilities":{}}`, registry.ErrSessionExpired, false},
		{`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`, nil, true},
	} {
		hints := NewHints(map[string]Hint{testEndpoint: {Transport: "streamable-http", Version: modern}}, nil)
		s := (&registrytest.Script{Modern: true}).On("server/discover", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.Reply(w, m, row.result)
		})
		b := newBench(t, s, Options{Hints: hints})
		_, err := b.connect(registry.ServerConfig{}, nil).(registry.Offerer).Capabilities(b.ctx)
		if !errors.Is(err, row.want) {
			t.Errorf("%s: error %v, want %v", row.result, err, row.want)
		}
		if is := hints.get(testEndpoint) != (Hint{}); is != row.remembered {
			t.Errorf("%s: remembered %v", row.result, is)
		}
	}
}

func TestMuteDiscover(t *testing.T) {
	s := new(registrytest.Script).On("server/discover", registrytest.Abort)
	b := newBench(t, s, Options{})
	if info := b.connect(registry.ServerConfig{}, nil).Info(); info.ProtocolVersion != legacy {
		t.Errorf("version %q", info.ProtocolVersion)
	}
}

// Servers register tools while they handle notifications/initialized.
func TestListWaitsForInitialized(t *testing.T) {
	registered := false
	s := new(registrytest.Script)
	s.On("notifications/initialized", func(w http.ResponseWriter, _ *http.Request, _ registrytest.Message) {
		time.Sleep(50 * time.Millisecond)
		registered = true
		w.WriteHeader(202)
	})
	s.On("tools/list", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		if !registered {
			t.Error("the list overtook notifications/initialized")
		}
		registrytest.Reply(w, m, `{"tools":[]}`)
	})
	b := newBench(t, s, Options{})
	if _, err := b.connect(registry.ServerConfig{}, nil).ListTools(b.ctx, nil); err != nil {
		t.Error(err)
	}
}

func TestProxy(t *testing.T) {
	b := newBench(t, nil, Options{Proxy: "https://proxy.example/?url={href}"})
	real := registrytest.NewServer(nil)
	b.net.Handle("https://proxy.example", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		target := req.URL.Query().Get("url")
		rest, ok := strings.CutPrefix(target, testOrigin)
		if !ok {
			t.Errorf("asked for %q", target)
		}
		in := req.Clone(req.Context())
		in.URL.Path, in.URL.RawQuery, _ = strings.Cut(rest, "?")
		in.URL.RawQuery = strings.TrimPrefix(in.URL.RawQuery, "?")
		real.ServeHTTP(w, in)
	}))
	for _, url := range []string{testEndpoint, testOrigin + "/sse"} {
		s := b.connect(registry.ServerConfig{URL: url, Proxy: true}, nil)
		if page, err := s.ListTools(b.ctx, nil); err != nil || len(page.Tools) == 0 {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestProxyNeedsHref(t *testing.T) {
	b := newBench(t, nil, Options{Proxy: "https://proxy.example/"})
	_, err := b.Connect(b.ctx, "a", registry.ServerConfig{URL: testEndpoint, Proxy: true}, nil)
	if !errors.Is(err, registry.ErrInvalidConfig) {
		t.Errorf("%v, want ErrInvalidConfig", err)
	}
}

func TestHintsTellOfChanges(t *testing.T) {
	var told []Hint
	h := NewHints(nil, func(_ string, hint Hint) { told = append(told, hint) })
	a := Hint{Transport: "sse"}
	h.set("x", a)
	h.set("x", a)
	h.set("x", Hint{})
	if d := cmp.Diff([]Hint{a, {}}, told); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
}

func TestImplementations(t *testing.T) {
	icons := make([]mcp.Icon, 0, 20)
	for _, src := range []string{"http://a.example/i.png", "javascript:alert(1)", "data:text/html,x", "https://a.example/\u202e", "https://a.example/i.png"} {
		icons = append(icons, mcp.Icon{Source: src, MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: mcp.IconThemeDark})
	}
	for range 15 {
		icons = append(icons, mcp.Icon{Source: "data:image/png;base64,AA=="})
	}
	server := mcp.NewServer(&mcp.Implementation{
		Name: "s", Version: "1", Title: "A server", Description: "Serves.",
		WebsiteURL: "javascript:alert(1)", Icons: icons,
	}, nil)
	n := registrytest.NewNet(t)
	n.Handle("https://server.example", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	s, err := New(NewPlatform(t, n), nil).Connect(t.Context(), "a", registry.ServerConfig{URL: "https://server.example/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	data := registry.Icon{Src: "data:image/png;base64,AA=="}
	want := registry.Implementation{
		Name: "s", Version: "1", Title: "A server", Description: "Serves.",
		Icons: []registry.Icon{
			{Src: "https://a.example/i.png", MIMEType: "image/png", Sizes: []string{"48x48"}, Theme: "dark"},
			data, data, data, data, data, data, data,
		},
	}
	if diff := cmp.Diff(want, s.Info().Server); diff != "" {
		t.Error(diff)
	}
}
