package client_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// The platform in a browser has the demo. No setting leads elsewhere, and nothing is remembered.
func TestDemo(t *testing.T) {
	hints := client.NewHints(nil, func(endpoint string, _ client.Hint) { t.Errorf("%s was remembered", endpoint) })
	options := &client.Options{Proxy: "https://proxy.example/?url={href}", Hints: hints}
	c := client.New(client.NewPlatform(t, registrytest.NewNet(t)), options)
	for _, cfg := range []registry.ServerConfig{
		{}, {Proxy: true}, {ProxyAuto: true}, {Transport: "sse"}, {Headers: map[string]string{"Authorization": "x"}},
	} {
		cfg.URL = registry.Demo
		s, err := c.Connect(t.Context(), "demo", cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := registry.SessionInfo{
			Transport: "streamable-http", ProtocolVersion: "2026-07-28", Server: registry.Implementation{Name: "portolan-demo", Version: "1"},
			Capabilities: registry.Capabilities(`{"tools":{},"resources":{},"prompts":{},"completions":{}}`),
		}
		if d := cmp.Diff(want, s.Info()); d != "" {
			t.Errorf("info (-want +got):\n%s", d)
		}
		if page, err := s.ListTools(t.Context(), nil); err != nil || len(page.Tools) != 7 {
			t.Errorf("page %v, %v", page, err)
		}
		out, err := s.CallTool(t.Context(), registry.ToolCall{Tool: "add", Arguments: []byte(`{"a":2,"b":3}`)})
		if err != nil {
			t.Fatal(err)
		}
		json, err := out.Result.JSON()
		if want := `{"resultType":"complete","content":[{"type":"text","text":"5"}]}`; err != nil || string(json) != want {
			t.Errorf("result %s, %v", json, err)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
