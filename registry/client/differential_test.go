//go:build !js

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
	"github.com/portolan-mcp/portolan/registry/sdksession"
)

// What a session makes of a server, in a form that can be compared.
type seen struct {
	Info  registry.SessionInfo
	Tools []string
	Defs  []any
	Drops int
	Calls []call
}

type call struct {
	Tool, Arguments string
	Result          any
	IsError         bool
	Failed          bool
	Progress        []registry.Progress
}

// TestSameAsSDK holds the plane against the session on go-sdk, over the same servers.
func TestSameAsSDK(t *testing.T) {
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
				return sdksession.New(&sdksession.Options{RoundTripper: net, Elicit: elicit}).Connect
			})
			got := see(func(net *registrytest.Net) registry.Connect {
				return New(newHTTPPlatform(net), &Options{Elicit: elicit}).Connect
			})
			if row.opts.JSON && !row.opts.Modern {
				// Progress comes on the standalone stream, and may come after the answer.
				want.forgetProgress()
				got.forgetProgress()
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("plane differs (-sdk +plane):\n%s", d)
			}
		})
	}
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
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
