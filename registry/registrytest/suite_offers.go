package registrytest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// ask sends a request that has to be answered, and returns its result.
func (p *peer) ask(method, params, about string) map[string]any {
	p.t.Helper()
	payload, err := p.offerer().Ask(p.ctx, registry.Request{Method: method, Params: []byte(params), About: about})
	if err != nil {
		p.t.Fatalf("%s: %v", method, err)
	}
	return decode(p.t, payload)
}

func (p *peer) offerer() registry.Offerer {
	p.t.Helper()
	o, ok := p.Session.(registry.Offerer)
	if !ok {
		p.t.Fatal("the session is no Offerer")
	}
	return o
}

// at returns what stands at a path of keys and indices, as text.
func at(v any, path ...any) string {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := v.(map[string]any)
			v = object[step]
		case int:
			list, _ := v.([]any)
			if step >= len(list) {
				return ""
			}
			v = list[step]
		}
	}
	return fmt.Sprint(v)
}

// testOffers asks a real server for all that is not a tool.
func testOffers(t *testing.T, dial Dial) {
	for name, row := range map[string]struct {
		opts ServerOptions
		url  string
	}{
		"2025-11-25": {ServerOptions{}, endpoint},
		"2025-06-18": {ServerOptions{Versions: []string{"2025-06-18"}}, endpoint},
		"2026-07-28": {ServerOptions{Modern: true}, endpoint},
		"HTTP+SSE":   {ServerOptions{}, origin + "/sse"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := NewServer(&row.opts)
			p := connectTo(t, dial, server, Options{}, registry.ServerConfig{URL: row.url})
			has, err := p.offerer().Capabilities(p.ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range [][]string{{"tools"}, {"resources"}, {"resources", "subscribe"}, {"prompts"}, {"completions"}} {
				if !has.Has(path...) {
					t.Errorf("capabilities %s lack %v", has, path)
				}
			}
			if has.Has("tasks") || has.Has("resources", "none") {
				t.Errorf("capabilities %s have what they have not", has)
			}
			if uri := at(p.ask("resources/list", `{}`, ""), "resources", 0, "uri"); uri != "demo://harbour" {
				t.Errorf("resource %q", uri)
			}
			if uri := at(p.ask("resources/templates/list", `{}`, ""), "resourceTemplates", 0, "uriTemplate"); uri != "demo://tide/{day}" {
				t.Errorf("template %q", uri)
			}
			for uri, want := range map[string]string{"demo://harbour": "deep enough", "demo://tide/monday": "tide of demo://tide/monday"} {
				if text := at(p.ask("resources/read", `{"uri":"`+uri+`"}`, uri), "contents", 0, "text"); text != want {
					t.Errorf("%s reads %q", uri, text)
				}
			}
			if prompt := at(p.ask("prompts/list", `{}`, ""), "prompts", 0, "name"); prompt != "greet" {
				t.Errorf("prompt %q", prompt)
			}
			got := p.ask("prompts/get", `{"name":"greet","arguments":{"who":"Ada"}}`, "greet")
			if text := at(got, "messages", 0, "content", "text"); text != "Hello, Ada." {
				t.Errorf("message %q", text)
			}
			complete := `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"A"}}`
			if value := at(p.ask("completion/complete", complete, ""), "completion", "values", 1); value != "Alan" {
				t.Errorf("completion %q", value)
			}
			_, err = p.offerer().Ask(p.ctx, registry.Request{Method: "resources/read", Params: []byte(`{"uri":"demo://none"}`), About: "demo://none"})
			var rpc *registry.RPCError
			if !errors.As(err, &rpc) || rpc.Code != -32002 && rpc.Code != -32602 {
				t.Errorf("unknown resource: %v", err)
			}
		})
	}
}

// testFollowing has a real server report changes of its lists and of a resource.
func testFollowing(t *testing.T, dial Dial) {
	for name, row := range map[string]struct {
		opts ServerOptions
		url  string
	}{
		"GET stream": {ServerOptions{}, endpoint},
		"HTTP+SSE":   {ServerOptions{}, origin + "/sse"},
		"listen":     {ServerOptions{Modern: true}, endpoint},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := NewServer(&row.opts)
			p := connectTo(t, dial, server, Options{}, registry.ServerConfig{URL: row.url})
			follow := func(f registry.Following) {
				t.Helper()
				if _, err := p.offerer().Follow(p.ctx, f); err != nil {
					t.Fatal(err)
				}
			}
			// The server says what is new until the stream is open that brings it.
			await := func(trigger func(), matches func(registry.Notice) bool) {
				t.Helper()
				for p.ctx.Err() == nil {
					trigger()
					pause := time.After(100 * time.Millisecond)
					for waiting := true; waiting; {
						select {
						case n := <-p.notices:
							if matches(n) {
								return
							}
						case <-pause:
							waiting = false
						}
					}
				}
				t.Fatal("no notice")
			}
			follow(registry.Following{Prompts: true})
			await(server.ChangePrompts, func(n registry.Notice) bool { return n.PromptsChanged })
			const uri = "demo://harbour"
			follow(registry.Following{Prompts: true, Resources: true, URIs: []string{uri}})
			await(func() { server.Touch(uri) }, func(n registry.Notice) bool { return n.Updated == uri })
			await(server.ChangeResources, func(n registry.Notice) bool { return n.ResourcesChanged })
			await(server.ChangePrompts, func(n registry.Notice) bool { return n.PromptsChanged })
			follow(registry.Following{Prompts: true})
			await(server.ChangePrompts, func(n registry.Notice) bool { return n.PromptsChanged })
		})
	}
}

// testOfferFaults asks servers that are not what they should be.
func testOfferFaults(t *testing.T, dial Dial) {
	t.Run("a question", func(t *testing.T) {
		t.Parallel()
		const ask = `{"resultType":"input_required","requestState":"s1","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"Which?","requestedSchema":{"type":"object","properties":{}}}}}}`
		s := &Script{Modern: true}
		s.On("prompts/get", func(w http.ResponseWriter, _ *http.Request, m Message) {
			if !strings.Contains(string(m.Params), `"inputResponses":{"q":{"action":"accept","content":{"colour":"red"}}}`) {
				Reply(w, m, ask)
				return
			}
			Reply(w, m, `{"resultType":"complete","messages":[]}`)
		})
		p := connect(t, dial, s, Options{Elicit: accept})
		p.ask("prompts/get", `{"name":"é"}`, "é")
		for _, m := range s.Received("prompts/get") {
			if m.Header.Get("Mcp-Name") == "" || m.Header.Get("Mcp-Name") == "é" {
				t.Errorf("Mcp-Name %q", m.Header.Get("Mcp-Name"))
			}
		}
	})
	t.Run("an unknown type of result", func(t *testing.T) {
		t.Parallel()
		s := (&Script{Modern: true}).On("resources/list", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"resultType":"future","resources":[]}}`))
		p := connect(t, dial, s, Options{})
		_, err := p.offerer().Ask(p.ctx, registry.Request{Method: "resources/list"})
		if !errors.Is(err, registry.ErrUnsupported) {
			t.Errorf("error %v, want ErrUnsupported", err)
		}
	})
	refuses := func(t *testing.T, s *Script) {
		t.Helper()
		p := connect(t, dial, s, Options{})
		reported, err := p.offerer().Follow(p.ctx, registry.Following{URIs: []string{"demo://a"}})
		if !errors.Is(err, registry.ErrUnsupported) && (err != nil || slices.Contains(reported, "demo://a")) {
			t.Errorf("%v are reported, error %v, want ErrUnsupported", reported, err)
		}
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		refuses(t, new(Script))
		refuses(t, &Script{Modern: true})
	})
	t.Run("not acknowledged", func(t *testing.T) {
		t.Parallel()
		acknowledge := "data: " + `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["demo://b"]}}}` + "\n\n"
		s := &Script{Modern: true}
		s.On("subscriptions/listen", Then(Body("text/event-stream", acknowledge), Silent))
		refuses(t, s)
		if m := s.Received("subscriptions/listen"); len(m) != 1 || !strings.Contains(string(m[0].Params), `"resourceSubscriptions":["demo://a"]`) {
			t.Errorf("asked %v", m)
		}
	})
}

// testLogs has a real server write its log.
func testLogs(t *testing.T, dial Dial) {
	server := NewServer(nil)
	p := connect(t, dial, server, Options{})
	await := func(level, text string) {
		t.Helper()
		for p.ctx.Err() == nil {
			select {
			case n := <-p.notices:
				if n.Log != nil && n.Log.Level == level && n.Log.Logger == "quay" && n.Log.Text == text {
					return
				}
			case <-p.ctx.Done():
			}
		}
		t.Fatalf("no message %q", text)
	}
	if payload, err := p.offerer().Ask(p.ctx, registry.Request{Method: "logging/setLevel", Params: []byte(`{"level":"warning"}`)}); err != nil {
		t.Fatal(err, payload)
	}
	p.text("log", `{}`) // writes at info, which is too little, and at error
	await("error", `{"depth":7}`)
	await("critical", "sinking")
}
