package nethttp_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// An event stream that is closed at the awaited response closes its connection. Over
// HTTP/1.1 each call would then need a new connection.
func TestConnectionsAreReused(t *testing.T) {
	var opened atomic.Int32
	server := httptest.NewUnstartedServer(registrytest.NewServer(nil))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	platform := nethttp.New(nil)
	defer platform.Close()
	s, err := client.New(platform, nil).
		Connect(t.Context(), "a", registry.ServerConfig{URL: server.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	for range 100 {
		if _, err := s.CallTool(t.Context(), registry.ToolCall{Tool: "echo"}); err != nil {
			t.Fatal(err)
		}
	}
	if n := opened.Load(); n > 10 {
		t.Errorf("%d connections for 100 calls", n)
	}
}
