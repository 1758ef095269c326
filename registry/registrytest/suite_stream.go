package registrytest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

func testFraming(t *testing.T, dial Dial) {
	const progress = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}`
	const fine = `{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"ok"}]}}`
	for name, body := range map[string]string{
		"plain":                "data: " + fine + "\n\n",
		"no space":             "data:" + fine + "\n\n",
		"CRLF":                 "event: message\r\ndata: " + fine + "\r\n\r\n",
		"CR":                   "event: message\rdata: " + fine + "\r\r",
		"byte order mark":      "\ufeffdata: " + fine + "\n\n",
		"comments":             ": hi\n\n: there\ndata: " + fine + "\n\n",
		"fields without colon": "data\nevent\nunknown\n\ndata: " + fine + "\n\n",
		"unknown fields":       "x: y\ndata: " + fine + "\n\n",
		"other event":          "event: other\ndata: {}\n\ndata: " + fine + "\n\n",
		"several lines":        "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":$id,\ndata: \"result\":{\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}}\n\n",
		"nonsense before":      "data: nonsense\n\ndata: [1]\n\ndata: " + fine + "\n\n",
		"notification before":  "data: " + progress + "\n\ndata: " + fine + "\n\n",
		"another id before":    "data: {\"jsonrpc\":\"2.0\",\"id\":\"other\",\"result\":{}}\n\ndata: " + fine + "\n\n",
		"odd requests before":  "data: {\"id\":{},\"method\":\"ping\"}\n\ndata: {\"id\":1.5,\"method\":5}\n\ndata: {\"method\":\"notifications/cancelled\",\"params\":7}\n\ndata: {}\n\ndata: " + fine + "\n\n",
		"array of 2025-03-26":  "data: [" + fine + "," + progress + ",7]\n\n",
		"more after":           "data: " + fine + "\n\ndata: " + fine + "\n\n",
		"no end of the event":  "data: " + fine + "\n",
		"no end of the line":   "data: " + fine,
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, dial, new(Script).On("tools/call", Body("text/event-stream; charset=utf-8", body)), Options{})
			for range 2 {
				if got := p.text("t", `{}`); got != "ok" {
					t.Errorf("text %q", got)
				}
			}
		})
	}
	t.Run("stream left open", func(t *testing.T) {
		p := connect(t, dial, new(Script).On("tools/call", Then(Body("text/event-stream", "data: "+fine+"\n\n"), Silent)), Options{})
		p.text("t", `{}`)
	})
	t.Run("resumption", func(t *testing.T) {
		var last atomic.Value
		var id atomic.Value
		s := new(Script)
		s.On("tools/call", func(w http.ResponseWriter, _ *http.Request, m Message) {
			id.Store(m)
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "id: e1\nretry: 1\ndata:\n\n")
		})
		s.On("GET", func(w http.ResponseWriter, req *http.Request, m Message) {
			last.Store(m.Header.Get("Last-Event-Id"))
			Body("text/event-stream", "id: e2\ndata: "+fine+"\n\n")(w, req, id.Load().(Message))
		})
		p := connect(t, dial, s, Options{})
		begin := time.Now()
		if got := p.text("t", `{}`); got != "ok" || last.Load() != "e1" {
			t.Errorf("text %q, resumed from %v", got, last.Load())
		}
		if took := time.Since(begin); took < 400*time.Millisecond {
			t.Errorf("reconnected after %v; a retry of 1 ms is not for others to obey", took)
		}
		if n := len(s.Received("tools/call")); n != 1 {
			t.Errorf("the call was sent %d times", n)
		}
	})
}

// A call whose answer cannot be resumed has no answer, and was run: it must not
// look expired, after which it were sent again.
func testLostAnswers(t *testing.T, dial Dial) {
	for name, step := range map[string]Step{
		"405":  Status(405, ""),
		"404":  Status(404, "gone"),
		"html": Body("text/html", "hello"),
	} {
		t.Run(name, func(t *testing.T) {
			s := &Script{Session: "s1"}
			s.On("tools/call", Body("text/event-stream", "id: e1\ndata:\n\n"))
			p := connect(t, dial, s.On("GET", step), Options{})
			if err := p.tryCall(); err == nil || errors.Is(err, registry.ErrSessionExpired) || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v, want an error that ends the call alone", err)
			}
			if n := len(s.Received("tools/call")); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			// A 404 may rightly be held against the session, for what comes next.
			if _, err := p.ListTools(p.ctx, nil); err != nil && !(name == "404" && errors.Is(err, registry.ErrSessionExpired)) {
				t.Errorf("list tools: %v", err)
			}
		})
	}
}

func testLimits(t *testing.T, dial Dial) {
	large := `{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 100<<10) + `"}]}}`
	endless := func(start, piece string, media string) Step {
		return func(w http.ResponseWriter, req *http.Request, _ Message) {
			w.Header().Set("Content-Type", media)
			io.WriteString(w, start)
			for req.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(piece, 1000)); err != nil {
					return
				}
			}
		}
	}
	for name, step := range map[string]Step{
		"JSON":           Body("application/json", large),
		"event":          Body("text/event-stream", "data: "+large+"\n\n"),
		"endless JSON":   endless(`{"a":"`, "xxxxxxxxxxxxxxxx", "application/json"),
		"endless line":   endless("data: ", "xxxxxxxxxxxxxxxx", "text/event-stream"),
		"endless lines":  endless("", "data: x\n", "text/event-stream"),
		"endless events": endless("", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n", "text/event-stream"),
	} {
		t.Run(name, func(t *testing.T) {
			p := connect(t, dial, new(Script).On("tools/call", step), Options{Limits: registry.Limits{ResponseBytes: 64 << 10, EventBytes: 64 << 10}})
			if err := p.tryCall(); !errors.Is(err, registry.ErrTooLarge) {
				t.Errorf("%v, want ErrTooLarge", err)
			}
			p.list(nil)
		})
	}
	t.Run("endless error", func(t *testing.T) {
		p := connect(t, dial, new(Script).On("tools/call", func(w http.ResponseWriter, req *http.Request, m Message) {
			w.WriteHeader(500)
			endless("", "xxxxxxxxxxxxxxxx", "text/plain")(w, req, m)
		}), Options{})
		if err := p.tryCall(); !hasStatus(err, 500) || len(err.Error()) > 4<<10 {
			t.Errorf("%.100v, want status 500 with a short text", err)
		}
	})
	t.Run("flood of progress", func(t *testing.T) {
		event := strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":1,\"progress\":1}}\n\n", 10000)
		p := connect(t, dial, new(Script).On("tools/call", Body("text/event-stream", event+"data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[]}}\n\n")), Options{})
		n := 0
		if _, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "t", OnProgress: func(registry.Progress) { n++ }}); err != nil {
			t.Fatal(err)
		}
		if n > 2000 {
			t.Errorf("%d notifications were decoded", n)
		}
	})
}

func testLegacy(t *testing.T, dial Dial) {
	t.Run("configured", func(t *testing.T) {
		p := connectTo(t, dial, NewServer(nil), Options{}, registry.ServerConfig{URL: origin + "/sse", Transport: "sse"})
		if p.Info().Transport != "sse" || p.text("echo", `{"a":1}`) != `{"a":1}` {
			t.Errorf("info %+v", p.Info())
		}
		for _, req := range p.net.Requests() {
			if req.Method == http.MethodPost && req.URL.RawQuery == "" {
				t.Error("streamable HTTP was tried")
			}
		}
	})
	for _, code := range []int{400, 404, 405, 406, 415} {
		legacy := NewServer(nil)
		h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodPost && req.URL.RawQuery == "" {
				http.Error(w, "no", code)
				return
			}
			legacy.ServeHTTP(w, req)
		})
		p := connectTo(t, dial, h, Options{}, registry.ServerConfig{URL: origin + "/sse"})
		if p.Info().Transport != "sse" {
			t.Errorf("status %d: transport %q", code, p.Info().Transport)
		}
		p.list(nil)
	}
	t.Run("not configured", func(t *testing.T) {
		p, _ := connectFails(t, dial, new(Script).On("initialize", Status(404, "")).On("server/discover", Status(404, "")), registry.ServerConfig{Transport: "streamable-http"})
		for _, req := range p.net.Requests() {
			if req.Method == http.MethodGet {
				t.Error("legacy SSE was tried")
			}
		}
	})
	t.Run("remembered", func(t *testing.T) {
		net := NewNet(t)
		net.Handle(origin, NewServer(nil))
		connect := dial(net, Options{})
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		posts := 0
		for range 2 {
			s, err := connect(ctx, "a", registry.ServerConfig{URL: origin + "/sse"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			s.Close(ctx)
		}
		for _, req := range net.Requests() {
			if req.Method == http.MethodPost && req.URL.RawQuery == "" {
				posts++
			}
		}
		if posts > 2 {
			t.Errorf("%d POSTs to the SSE endpoint: the second session probed again", posts)
		}
	})
	t.Run("refused call", func(t *testing.T) {
		legacy := NewServer(nil)
		h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodPost {
				body, _ := io.ReadAll(req.Body)
				if strings.Contains(string(body), `"tools/call"`) {
					http.Error(w, "no", http.StatusInternalServerError)
					return
				}
				req.Body = io.NopCloser(strings.NewReader(string(body)))
			}
			legacy.ServeHTTP(w, req)
		})
		p := connectTo(t, dial, h, Options{}, registry.ServerConfig{URL: origin + "/sse", Transport: "sse"})
		if err := p.tryCall(); !hasStatus(err, 500) {
			t.Errorf("%v, want status 500", err)
		}
		p.list(nil) // the session lives
	})
	t.Run("endpoint elsewhere", func(t *testing.T) {
		elsewhere := new(Script)
		h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodGet {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "event: endpoint\ndata: https://elsewhere.example/post\n\n")
				<-req.Context().Done()
			}
		})
		p, open := surroundings(t, h)
		p.net.Handle("https://elsewhere.example", elsewhere)
		err := open(dial, Options{}, registry.ServerConfig{Transport: "sse", Headers: map[string]string{"Authorization": "Bearer s3cr3t"}})
		if !errors.Is(err, registry.ErrProtocol) {
			t.Errorf("%v, want ErrProtocol", err)
		}
		if len(elsewhere.Received("initialize")) > 0 {
			t.Error("the headers went to another origin")
		}
	})
}

func testListChanged(t *testing.T, dial Dial) {
	await := func(t *testing.T, p *peer, trigger func()) {
		t.Helper()
		// The stream opens off the critical path, so the change is repeated until it is there.
		for p.ctx.Err() == nil {
			trigger()
			select {
			case n := <-p.notices:
				if !n.ToolsChanged {
					t.Fatalf("notice %+v", n)
				}
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
		t.Error("no notice")
	}
	for name, row := range map[string]struct {
		opts ServerOptions
		url  string
	}{
		"GET stream":    {ServerOptions{}, endpoint},
		"legacy SSE":    {ServerOptions{}, origin + "/sse"},
		"subscriptions": {ServerOptions{Modern: true}, endpoint},
	} {
		t.Run(name, func(t *testing.T) {
			server := NewServer(&row.opts)
			p := connectTo(t, dial, server, Options{}, registry.ServerConfig{URL: row.url})
			await(t, p, func() { server.MCP.RemoveTools("grown"); p.text("grow", `{}`) })
		})
	}
	t.Run("not announced", func(t *testing.T) {
		s := new(Script)
		p := connect(t, dial, s, Options{})
		p.list(nil)
		p.Close(p.ctx)
		if len(s.Received("GET")) > 0 {
			t.Error("a stream was opened for nothing")
		}
	})
	t.Run("a response to no request before", func(t *testing.T) {
		s := &Script{Session: "s1", ListChanged: true}
		p := connect(t, dial, s.On("GET", Then(Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"), Silent)), Options{})
		p.list(nil)
		await(t, p, func() {})
	})
	t.Run("silent stream", func(t *testing.T) {
		for _, s := range []*Script{{Session: "s1", ListChanged: true}, {Modern: true, ListChanged: true}} {
			s.On("GET", Silent).On("subscriptions/listen", Silent)
			p := connect(t, dial, s, Options{})
			p.list(nil)
			p.call("t", `{}`)
		}
	})
	t.Run("refused stream", func(t *testing.T) {
		for _, step := range []Step{Status(405, ""), Status(404, "no"), Body("text/html", "hello"), Body("application/json", "{}")} {
			s := &Script{Session: "s1", ListChanged: true}
			p := connect(t, dial, s.On("GET", step), Options{})
			s.Await("GET", p.ctx.Done())
			p.list(nil)
			p.call("t", `{}`)
			if n := len(s.Received("GET")); n > 1 {
				t.Errorf("%d GETs after a refusal", n)
			}
		}
	})
}
