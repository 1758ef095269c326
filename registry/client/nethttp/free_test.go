//go:build !js

// In a page the host takes results over.

package nethttp_test

import (
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// A result is freed once nobody has it any more.
func TestResultsAreFreed(t *testing.T) {
	server := httptest.NewServer(registrytest.NewServer(nil))
	defer server.Close()
	p := nethttp.New(nil)
	defer p.Close()
	s, err := client.New(p, nil).Connect(t.Context(), "a", registry.ServerConfig{URL: server.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	before, _ := p.Held()
	var last *registry.ToolOutput
	for range 10 {
		if last, err = s.CallTool(t.Context(), registry.ToolCall{Tool: "echo"}); err != nil {
			t.Fatal(err)
		}
	}
	held := before + 10
	for i := 0; held > before+1 && i < 1000; i++ {
		runtime.GC() // cleanups run on a goroutine of their own
		held, _ = p.Held()
	}
	if held > before+1 {
		t.Errorf("%d tables are held, %d before", held, before)
	}
	if text, err := last.Result.JSON(); err != nil || len(text) == 0 {
		t.Errorf("the result that is still used: %q, %v", text, err)
	}
}
