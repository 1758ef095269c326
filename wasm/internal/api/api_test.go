package api_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// A page hears an API as the JavaScript host does.
type page struct {
	mu      sync.Mutex
	answers map[int]string
	order   []string
	states  []string
	tools   map[string][]registry.Tool
	configs []string
	answer  chan int
}

func newPage() *page {
	return &page{answers: map[int]string{}, tools: map[string][]registry.Tool{}, answer: make(chan int, 100)}
}

func (p *page) note(kind string, id int, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = append(p.order, kind)
	if kind != "progress" {
		p.answers[id] = kind + " " + text
		p.answer <- id
	}
}

func (p *page) Reply(id int, result []byte) { p.note("reply", id, string(result)) }
func (p *page) Fail(id int, err []byte)     { p.note("fail", id, string(err)) }
func (p *page) Queued(int, bool)            {}

func (p *page) Progress(id int, json []byte) { p.note("progress", id, string(json)) }
func (p *page) Called(id int, result *registry.Result) {
	text, _ := result.Payload.JSON()
	p.note("called", id, result.Server+" "+result.Tool+" "+string(text))
}

func (p *page) State(event []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = append(p.order, "state")
	p.states = append(p.states, string(event))
}

func (p *page) Config(server string, config []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.configs = append(p.configs, server+" "+string(config))
}

func (p *page) Pins(server, key, pins string, fresh registry.FreshPins) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = append(p.order, "pins")
}

func (p *page) Tools(server string, each func(visit func(*registry.Tool))) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.order = append(p.order, "tools")
	p.tools[server] = nil
	each(func(t *registry.Tool) { p.tools[server] = append(p.tools[server], *t) })
}

// ask calls a method and returns its answer.
func (p *page) ask(a *api.API, id int, method, params string) string {
	a.Call(id, method, []byte(params))
	<-p.answer
	return p.answers[id]
}

// A counter is a server whose one tool reports progress twice. With the argument "wait" it does not end.
type counter struct{}

func (counter) Info() registry.SessionInfo  { return registry.SessionInfo{} }
func (counter) Close(context.Context) error { return nil }

func (counter) ListTools(context.Context, *string) (*registry.ToolPage, error) {
	return &registry.ToolPage{Tools: []registry.ToolDef{{Name: "count", Def: registry.Raw(`{"name":"count"}`)}}}, nil
}

func (counter) CallTool(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	if strings.Contains(string(call.Arguments), "wait") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for i := range 2 {
		call.OnProgress(registry.Progress{Progress: float64(i + 1), Total: 2})
	}
	return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
}

// connect finds a counter at the URL of the demo, and nobody elsewhere.
func connect(_ context.Context, _ string, cfg registry.ServerConfig, _ registry.Notify) (registry.Session, error) {
	if cfg.URL == registry.Demo {
		return counter{}, nil
	}
	return nil, registry.Because(registry.ErrNetwork, "nobody listens")
}

func open(t *testing.T) (*api.API, *page, *registry.Registry) {
	t.Helper()
	reg := registry.New(&registry.Options{Connect: connect})
	t.Cleanup(func() { _ = reg.Close() })
	p := newPage()
	return api.New(reg, p), p, reg
}

func TestMainJobThroughTheAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, reg := open(t)
		if got := p.ask(a, 1, "addServer", `{"name":"demo","config":{"url":"builtin:demo"}}`); got != "reply null" {
			t.Fatal(got)
		}
		if got := p.ask(a, 2, "discover", `{}`); got != "reply null" {
			t.Fatal(got)
		}
		if len(p.tools["demo"]) != 1 {
			t.Fatalf("tools %v", p.tools)
		}
		if last := p.order[len(p.order)-2:]; !cmp.Equal(last, []string{"state", "reply"}) {
			t.Errorf("the reply overtook the state: %v", p.order)
		}
		a.Dispatch(3, "demo__count", []byte(`{}`), 0, true)
		<-p.answer
		if got := p.answers[3]; got != `called demo count {"content":[]}` {
			t.Errorf("answer %s", got)
		}
		if n := strings.Count(strings.Join(p.order, " "), "progress"); n != 2 {
			t.Errorf("%d reports of progress", n)
		}
		a.Dispatch(4, "demo__count", []byte(`{"wait":true}`), 0, false)
		synctest.Wait()
		a.Cancel(4)
		<-p.answer
		if got := p.answers[4]; !strings.Contains(got, `"code":"aborted"`) {
			t.Errorf("answer %s", got)
		}
		_ = reg.Close()
	})
}

// TestCloseTakesNoListAway checks that a page keeps the lists that came just before the end, for
// its next visit.
func TestCloseTakesNoListAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, p, reg := open(t)
		p.ask(a, 1, "addServer", `{"name":"demo","config":{"url":"builtin:demo"}}`)
		_ = reg.Discover(t.Context()) // its list waits for the next event
		if got := p.ask(a, 2, "close", `{}`); got != "reply null" {
			t.Fatal(got)
		}
		time.Sleep(time.Second)
		if len(p.tools["demo"]) != 1 {
			t.Errorf("tools %v after %v", p.tools, p.order)
		}
	})
}

func TestErrorsTeach(t *testing.T) {
	a, p, _ := open(t)
	p.ask(a, 1, "addServer", `{"name":"ok","config":{"url":"builtin:demo"}}`)
	for i, tt := range []struct{ method, params, want string }{
		{"nope", `{}`, `"code":"invalid_option"`},
		{"addServer", `{"name":"x","config":{"url":"ftp://x"}}`, `"code":"invalid_config"`},
		{"addServer", `{"name":"x","config":{"url":"https://x.example","colour":"red"}}`, `unknown field \"colour\"`},
		{"addServer", `{"name":"x","config":{"url":"https://x.example","auth":{"clientid":"a"}}}`, `known are scopes, `},
		{"addServer", `{"name":"x","config":{"url":7}}`, `url is not a string`},
		{"addServer", `{"name":"x","config":null}`, `not an object`},
		{"addServer", `{"name":7,"config":{"url":"builtin:demo"}}`, `name is not a string`},
		{"addServer", `{"name":"ok","config":{"url":"builtin:demo"}}`, `exists`},
		{"addServer", `{"name":"x","config":{"url":"https://x.example","headers":{"A":1}}}`, `header \"A\" is not a string`},
		{"addServer", `{"name":"x","config":{"url":"https://x.example","timeoutMs":-1}}`, `timeoutMs`},
		{"addServer", `{"name":"x","config":{"url":"https://x.example","tools":{"allow":"a"}}}`, `tools.allow`},
		{"updateServer", `{"name":"gone","config":{}}`, `"code":"unknown_server"`},
		{"removeServer", `{"name":"gone"}`, `"code":"unknown_server"`},
		{"setEnabled", `{"name":"ok","enabled":"yes"}`, `not a boolean`},
		{"discover", `{"names":["gone"]}`, `"code":"unknown_server"`},
	} {
		if got := p.ask(a, 10+i, tt.method, tt.params); !strings.HasPrefix(got, "fail ") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s, want %s", tt.method, tt.params, got, tt.want)
		}
	}
}

func TestRootsThatAreNoArray(t *testing.T) {
	a, p, _ := open(t)
	a.SetRoots = func(roots []registry.Root) error { t.Errorf("servers hear of roots %v", roots); return nil }
	for i, params := range []string{`{}`, `{"roots":null}`, `{"roots":{"uri":"file:///a"}}`, `{"roots":"file:///a"}`} {
		if got := p.ask(a, 1+i, "setRoots", params); !strings.Contains(got, `"code":"invalid_option"`) {
			t.Errorf("%s: %s", params, got)
		}
	}
}

// TestSecretsStayInside checks that a header's value leaves in no state, and does
// not follow the server to another origin.
func TestSecretsStayInside(t *testing.T) {
	a, p, reg := open(t)
	p.ask(a, 1, "addServer", `{"name":"s","config":{"url":"https://one.example/mcp","headers":{"Authorization":"Bearer canary"}}}`)
	p.ask(a, 2, "discover", `{}`)
	p.ask(a, 3, "updateServer", `{"name":"s","config":{"headers":{"Authorization":"[redacted]","X-Team":"blue"}}}`)
	cfg, _ := reg.Config("s")
	if diff := cmp.Diff(map[string]string{"Authorization": "Bearer canary", "X-Team": "blue"}, cfg.Headers); diff != "" {
		t.Errorf("headers after a patch (-want +got):\n%s", diff)
	}
	p.ask(a, 4, "updateServer", `{"name":"s","config":{"url":"https://two.example/mcp"}}`)
	if cfg, _ = reg.Config("s"); len(cfg.Headers) != 0 {
		t.Errorf("headers moved to another origin: %v", cfg.Headers)
	}
	all := strings.Join(p.states, "\n")
	for _, text := range p.answers {
		all += text
	}
	if strings.Contains(all, "canary") {
		t.Errorf("the secret left: %s", all)
	}
	if !strings.Contains(all, `"Authorization":"[redacted]"`) {
		t.Error("no redacted header was shown")
	}
}

// TestWireGoldens writes what Go says as TypeScript that tsc checks against
// protocol.ts, so that the two cannot drift apart.
func TestWireGoldens(t *testing.T) {
	var b strings.Builder
	b.WriteString("// Made by: go test ./wasm/internal/api -run WireGoldens -update\n")
	b.WriteString("import type { WireError } from '../../wasm/js/shared/errors.ts'\n")
	b.WriteString("import type { StateEvent } from '../../wasm/js/shared/protocol.ts'\n")
	b.WriteString("import type { ErrorCode, ToolProgress } from '../../wasm/js/shared/types.ts'\n\n")
	golden := func(name, json, typ string) {
		b.WriteString("export const " + name + " = " + json + " satisfies " + typ + "\n")
	}
	when := time.UnixMilli(1_790_000_000_000)
	full := registry.ServerHealth{
		Status: registry.ServerConnected, ToolCount: 2, ToolTotal: 3, Transport: "sse", ProtocolVersion: "2024-11-05",
		Server: registry.Implementation{
			Name: "srv", Version: "1", Title: "Server", Description: "Serves.", WebsiteURL: "https://a.example",
			Icons: []registry.Icon{{Src: "https://a.example/i.png", MIMEType: "image/png", Theme: "dark", Sizes: []string{"48x48"}}, {Src: "data:image/png,"}},
		},
		LastSuccessful: when, LastConnected: when, Latency: 1500 * time.Microsecond,
		Warnings: []string{"tool \"x\" dropped: no name"},
	}
	failing := registry.ServerHealth{
		Status: registry.ServerFailed, Suspended: true, LastError: "http status 503", ErrorCode: "http_status",
		Hint: "later", ConsecutiveFailures: 3, RetryAt: when,
	}
	cfg := registry.ServerConfig{
		URL: "https://a.example/mcp", Headers: map[string]string{"Authorization": "secret"}, Proxy: true,
		Transport: "sse", Timeout: time.Second, AllowTools: []string{"a"}, DenyTools: []string{},
	}
	state := func(h registry.ServerHealth, c registry.ServerConfig) string {
		return `{"event":"state","status":"ready","servers":{"s":` + string(api.EncodeServer(h, c)) + `,"gone":null}}`
	}
	golden("connected", state(full, cfg), "StateEvent")
	golden("suspended", state(failing, registry.ServerConfig{URL: "builtin:demo", Disabled: true}), "StateEvent")
	golden("never", state(registry.ServerHealth{Status: registry.ServerDisconnected}, registry.ServerConfig{URL: "builtin:demo"}), "StateEvent")
	golden("progress", string(api.EncodeProgress(registry.Progress{Progress: 1, Total: 2, Message: "half"})), "ToolProgress")
	golden("refused", string(api.EncodeError(&registry.ServerError{Server: "s", Op: "connect", Err: &registry.StatusError{Code: 401}})), "WireError")

	codes, err := os.ReadFile("../../../registry/wire/errors.go")
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("export const codes: ErrorCode[] = [\n")
	for _, code := range regexp.MustCompile(`Error\{"(\w+)"`).FindAllSubmatch(codes, -1) {
		b.WriteString("  '" + string(code[1]) + "',\n")
	}
	b.WriteString("]\n")

	const file = "../../../testdata/wire/goldens.ts"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("the wire has changed; run with -update and let tsc judge (-want +got):\n%s", diff)
	}
	if strings.Contains(b.String(), "secret") {
		t.Error("a secret is in the goldens")
	}
}

func TestParseStart(t *testing.T) {
	s, err := api.ParseStart([]byte(`{"proxy":"https://p/?u={href}","failureThreshold":5,"timeoutMs":250.5,"limits":{"pages":3},"elicit":true,"hints":"h"}`))
	if err != nil {
		t.Fatal(err)
	}
	if s.Proxy != "https://p/?u={href}" || s.Options.FailureThreshold != 5 || s.Options.Timeout != 250500*time.Microsecond ||
		s.Options.Limits.Pages != 3 || s.Options.Limits.Depth != 128 || !s.Elicit || s.Hints != "h" {
		t.Errorf("start %+v", s)
	}
	for _, bad := range []string{`[]`, `{"colour":1}`, `{"proxy":1}`, `{"limits":{"pages":0}}`, `{"limits":{"toes":10}}`, `{"limits":7}`} {
		if _, err := api.ParseStart([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

func TestProxyHasThreeValues(t *testing.T) {
	for patch, want := range map[string]string{`true`: `"proxy":true`, `false`: `"proxy":false`, `null`: `"proxy":false`, `"auto"`: `"proxy":"auto"`, `"on"`: "", `1`: ""} {
		cfg := registry.ServerConfig{URL: "https://a.example", Proxy: true}
		err := api.ApplyConfig(&cfg, []byte(`{"proxy":`+patch+`}`))
		if (err == nil) != (want != "") || err == nil && !strings.Contains(string(api.EncodeConfig(cfg)), want) {
			t.Errorf("%s: %v, %s", patch, err, api.EncodeConfig(cfg))
		}
	}
}

// An origin may be written in several ways. Another spelling of it keeps the headers.
func TestHeadersStayWithTheirOrigin(t *testing.T) {
	for url, stays := range map[string]bool{
		"https://h.example:443/": true, "HTTPS://H.example/mcp": true, "https://h.example/?a=1": true,
		"https://h.example:444/": false, "http://h.example/": false, "https://h.example.evil/": false,
	} {
		cfg := registry.ServerConfig{URL: "https://h.example/", Headers: map[string]string{"A": "secret"}}
		if err := api.ApplyConfig(&cfg, []byte(`{"url":"`+url+`"}`)); err != nil {
			t.Fatal(err)
		}
		if got := cfg.Headers["A"] == "secret"; got != stays {
			t.Errorf("%s: headers stay %v, want %v", url, got, stays)
		}
	}
}

func FuzzApplyConfig(f *testing.F) {
	f.Add(`{"url":"https://x.example","headers":{"A":"b"},"tools":{"allow":["x"]}}`)
	f.Add(`{"headers":null,"timeoutMs":1e400}`)
	f.Fuzz(func(t *testing.T, patch string) {
		cfg := registry.ServerConfig{URL: "https://a.example", Headers: map[string]string{"A": "secret"}}
		if api.ApplyConfig(&cfg, []byte(patch)) != nil {
			return
		}
		if !json.Valid(api.EncodeConfig(cfg)) {
			t.Errorf("%q gives the invalid %s", patch, api.EncodeConfig(cfg))
		}
		if cfg.Headers["A"] == "secret" && !strings.HasPrefix(strings.ToLower(cfg.URL), "https://a.example") {
			t.Errorf("%q moved the secret to %s", patch, cfg.URL)
		}
	})
}

// TestOneVersion checks that module, script and package carry the same version:
// the handshake refuses to start otherwise.
func TestOneVersion(t *testing.T) {
	for file, want := range map[string]string{
		"../../js/shared/version.ts": "version = '" + api.Version + "'",
		"../../js/package.json":      `"version": "` + api.Version + `"`,
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %s", file, want)
		}
	}
}

// The page stores what the registry made of a change, secrets included, and hears nothing of refused ones.
func TestHostGetsConfigurations(t *testing.T) {
	p := newPage()
	a := api.New(registry.New(&registry.Options{Connect: connect}), p)
	for i, step := range []struct{ method, params, want string }{
		{"addServer", `{"name":"s","config":{"url":"https://h.example/a","enabled":false,"headers":{"K":"hush"},"auth":{"clientId":"c","clientSecret":"hush"}}}`,
			`s {"url":"https://h.example/a","headers":{"K":"hush"},"enabled":false,"auth":{"clientId":"c","clientSecret":"hush"}}`},
		{"updateServer", `{"name":"s","config":{"timeoutMs":5,"headers":{"K":"[redacted]","L":"more"}}}`,
			`s {"url":"https://h.example/a","headers":{"K":"hush","L":"more"},"enabled":false,"timeoutMs":5,"auth":{"clientId":"c","clientSecret":"hush"}}`},
		{"updateServer", `{"name":"s","config":{"url":"https://h.example:443/b","timeoutMs":null}}`,
			`s {"url":"https://h.example:443/b","headers":{"K":"hush","L":"more"},"enabled":false,"auth":{"clientId":"c","clientSecret":"hush"}}`},
		{"updateServer", `{"name":"s","config":{"url":"https://other.example/b"}}`,
			`s {"url":"https://other.example/b","enabled":false,"auth":{"clientId":"c"}}`},
		{"updateServer", `{"name":"s","config":{"timeoutMs":-1}}`, ""},
		{"addServer", `{"name":"s","config":{"url":"https://h.example/a"}}`, ""},
		{"updateServer", `{"name":"gone","config":{}}`, ""},
		{"setEnabled", `{"name":"s","enabled":false}`, `s {"url":"https://other.example/b","enabled":false,"auth":{"clientId":"c"}}`},
		{"updateServer", `{"name":"s","config":{"missingHeaders":["K","L"],"rememberSecrets":false}}`,
			`s {"url":"https://other.example/b","enabled":false,"auth":{"clientId":"c"},"rememberSecrets":false,"missingHeaders":["K","L"]}`},
		{"updateServer", `{"name":"s","config":{"headers":{"K":"[redacted]","L":"again"},"rememberSecrets":null}}`,
			`s {"url":"https://other.example/b","headers":{"L":"again"},"enabled":false,"auth":{"clientId":"c"},"missingHeaders":["K"]}`},
		{"updateServer", `{"name":"s","config":{"headers":{"K":"some"},"missingHeaders":["K","L"],"auth":{"clientId":"c","clientSecret":""}}}`,
			`s {"url":"https://other.example/b","headers":{"K":"some"},"enabled":false,"auth":{"clientId":"c","clientSecret":""},"missingHeaders":["L"]}`},
		{"updateServer", `{"name":"s","config":{"auth":{"clientId":"c","clientSecret":"again"}}}`,
			`s {"url":"https://other.example/b","headers":{"K":"some"},"enabled":false,"auth":{"clientId":"c","clientSecret":"again"},"missingHeaders":["L"]}`},
		{"updateServer", `{"name":"s","config":{"url":"https://h.example/b"}}`,
			`s {"url":"https://h.example/b","enabled":false,"auth":{"clientId":"c"}}`},
		{"removeServer", `{"name":"s"}`, "s "},
	} {
		p.configs = nil
		answer := p.ask(a, i+1, step.method, step.params)
		if got := strings.Join(p.configs, "\n"); got != step.want {
			t.Errorf("%s %s: the host got %q, want %q; %s", step.method, step.params, got, step.want, answer)
		}
	}
	p.ask(a, 100, "close", "{}")
}

// A patch changes its own fields only, also beside another patch of the same server.
func TestPatchesAtOnce(t *testing.T) {
	a, p, reg := open(t)
	for round := range 200 {
		id := 4 * round
		p.ask(a, id+1, "addServer", `{"name":"s","config":{"url":"https://h.example/a","enabled":false}}`)
		a.Call(id+2, "updateServer", []byte(`{"name":"s","config":{"timeoutMs":5}}`))
		a.Call(id+3, "updateServer", []byte(`{"name":"s","config":{"trust":"trust"}}`))
		<-p.answer
		<-p.answer
		if cfg, _ := reg.Config("s"); cfg.Timeout == 0 || cfg.Trust != "trust" {
			t.Fatalf("round %d: a patch was lost: %+v", round, cfg)
		}
		p.ask(a, id+4, "removeServer", `{"name":"s"}`)
	}
}
