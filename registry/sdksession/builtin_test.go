package sdksession_test

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
	"github.com/portolan-mcp/portolan/registry/sdksession"
)

// A server that is not HTTP is reached through the SDK's own transports.
func TestBuiltinServers(t *testing.T) {
	server := registrytest.NewServer(nil)
	c := sdksession.New(&sdksession.Options{Transports: map[string]func() mcp.Transport{
		"builtin:demo": func() mcp.Transport {
			near, far := mcp.NewInMemoryTransports()
			go server.MCP.Run(t.Context(), far)
			return near
		},
	}})
	notices := make(chan registry.Notice, 10)
	s, err := c.Connect(t.Context(), "a", registry.ServerConfig{URL: "builtin:demo"}, func(n registry.Notice) { notices <- n })
	if err != nil {
		t.Fatal(err)
	}
	if info := s.Info(); info.Transport != "" || info.ProtocolVersion != "2026-07-28" || info.ServerName != "registrytest" {
		t.Errorf("info %+v", info)
	}
	page, err := s.ListTools(t.Context(), nil)
	if err != nil || len(page.Tools) != 9 {
		t.Fatalf("%v, %v", page, err)
	}
	var steps int
	out, err := s.CallTool(t.Context(), registry.ToolCall{Tool: "count", OnProgress: func(registry.Progress) { steps++ }})
	if err != nil || out.IsError || steps != 3 {
		t.Errorf("%v, %v, %d steps", out, err, steps)
	}
	// It is called from a goroutine whose panic would end the process.
	if _, err := s.CallTool(t.Context(), registry.ToolCall{Tool: "count", OnProgress: func(registry.Progress) { panic("a fault of the host's") }}); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-server.Waiting()
		cancel()
	}()
	if _, err := s.CallTool(ctx, registry.ToolCall{Tool: "wait"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	<-server.Cancelled()
	if _, err := s.CallTool(t.Context(), registry.ToolCall{Tool: "grow"}); err != nil {
		t.Error(err)
	}
	if n := <-notices; !n.ToolsChanged {
		t.Errorf("notice %+v", n)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
