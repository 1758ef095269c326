package nethttp_test

import (
	"strconv"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func session(b *testing.B, server *registrytest.Server) registry.Session {
	net := registrytest.NewNet(b)
	net.Handle("https://server.example", server)
	s, err := client.New(nethttp.New(&nethttp.Options{RoundTripper: net}), nil).Connect(b.Context(), "a",
		registry.ServerConfig{URL: "https://server.example/mcp"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close(b.Context()) })
	return s
}

// The figures include the work of the server, which runs in the same process.

func BenchmarkCall(b *testing.B) {
	for _, tool := range []string{"echo", "big"} {
		b.Run(tool, func(b *testing.B) {
			s := session(b, registrytest.NewServer(&registrytest.ServerOptions{JSON: true}))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.CallTool(b.Context(), registry.ToolCall{Tool: tool}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkList(b *testing.B) {
	for _, n := range []int{100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			s := session(b, registrytest.NewServer(&registrytest.ServerOptions{JSON: true, Extra: n, PageSize: n + 100}))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.ListTools(b.Context(), nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
