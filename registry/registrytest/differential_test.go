package registrytest_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// The session of a server, in a form that can be compared.
type seen struct {
	Info  registry.SessionInfo
	Tools []string
	Defs  []any
	Drops int
	Calls []call
}

const testOrigin = "https://server.example"

type call struct {
	Tool, Arguments string
	Result          any
	IsError         bool
	Failed          bool
	Progress        []registry.Progress
}

// TestSameAsOfficialClient holds the client against the official one, over the same servers.
func TestSameAsOfficialClient(t *testing.T) {
	elicit := func(context.Context, string, []byte) ([]byte, error) {
		return []byte(`{"action":"accept","content":{"colour":"blue"}}`), nil
	}
	for name, row := range map[string]struct {
		opts registrytest.ServerOptions
		path string
	}{
		"2026-07-28":      {registrytest.ServerOptions{Modern: true}, "/mcp"},
		"2026-07-28 JSON": {registrytest.ServerOptions{Modern: true, JSON: true, PageSize: 3}, "/mcp"},
		"2025-11-25":      {registrytest.ServerOptions{Versions: []string{"2025-11-25"}, PageSize: 4}, "/mcp"},
		"2025-06-18":      {registrytest.ServerOptions{Versions: []string{"2025-06-18"}, JSON: true}, "/mcp"},
		"2025-03-26":      {registrytest.ServerOptions{Versions: []string{"2025-03-26"}}, "/mcp"},
		"2024-11-05":      {registrytest.ServerOptions{Versions: []string{"2024-11-05"}}, "/sse"},
		"many":            {registrytest.ServerOptions{Extra: 500}, "/mcp"},
	} {
		t.Run(name, func(t *testing.T) {
			see := func(connect func(*registrytest.Net) registry.Connect) seen {
				net := registrytest.NewNet(t)
				net.Handle(testOrigin, registrytest.NewServer(&row.opts))
				return observe(t, connect(net), testOrigin+row.path)
			}
			want := see(func(net *registrytest.Net) registry.Connect {
				return registrytest.Oracle(net, registrytest.Options{Elicit: elicit})
			})
			got := see(func(net *registrytest.Net) registry.Connect {
				return client.New(nethttp.New(&nethttp.Options{RoundTripper: net}), &client.Options{Elicit: elicit}).Connect
			})
			if steps := got.progress(); len(steps) != 3 && !row.opts.JSON {
				t.Errorf("progress %+v", steps) // with JSON it comes on the standalone stream, perhaps late
			}
			// The official client hands progress to a goroutine that a call does not wait for.
			want.forgetProgress()
			got.forgetProgress()
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("the client differs (-official +ours):\n%s", d)
			}
		})
	}
}

func (s *seen) progress() (all []registry.Progress) {
	for _, c := range s.Calls {
		all = append(all, c.Progress...)
	}
	return all
}

func (s *seen) forgetProgress() {
	for i := range s.Calls {
		s.Calls[i].Progress = nil
	}
}

func observe(t *testing.T, connect registry.Connect, url string) (s seen) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	session, err := connect(ctx, "a", registry.ServerConfig{URL: url}, func(registry.Notice) {})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close(ctx)
	s.Info = session.Info()
	s.Info.Capabilities = nil // go-sdk reads them into a struct
	defs := map[string]registry.Payload{}
	var cursor *string
	for {
		page, err := session.ListTools(ctx, cursor)
		if err != nil {
			t.Fatal(err)
		}
		s.Drops += len(page.Dropped)
		for _, tool := range page.Tools {
			s.Tools = append(s.Tools, tool.Name)
			s.Defs = append(s.Defs, decoded(t, tool.Def))
			defs[tool.Name] = tool.Def
		}
		if cursor = page.NextCursor; cursor == nil {
			break
		}
	}
	for _, c := range []call{
		{Tool: "echo", Arguments: `{"text":"größe \u0000","n":12345678901234567890}`},
		{Tool: "fail", Arguments: `{}`}, {Tool: "rich", Arguments: `{}`}, {Tool: "count", Arguments: `{"a":1}`},
		{Tool: "region", Arguments: `{"region":" ü ","depth":{"n":3}}`}, {Tool: "big", Arguments: `{}`},
		{Tool: "ask", Arguments: `{}`}, {Tool: "no such tool", Arguments: `{}`},
	} {
		out, err := session.CallTool(ctx, registry.ToolCall{
			Tool: c.Tool, Def: defs[c.Tool], Arguments: []byte(c.Arguments),
			OnProgress: func(p registry.Progress) { c.Progress = append(c.Progress, p) },
		})
		if c.Failed = err != nil; !c.Failed {
			c.Result, c.IsError = decoded(t, out.Result), out.IsError
		}
		s.Calls = append(s.Calls, c)
	}
	return s
}

func decoded(t *testing.T, p registry.Payload) any {
	text, err := p.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var v any // with numbers as the official client reads them, which loses digits
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
