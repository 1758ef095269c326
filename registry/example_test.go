package registry_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
)

// greeter is an MCP server on this machine.
func greeter() *httptest.Server {
	type greeting struct {
		Name string `json:"name"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "Says hello."},
		func(_ context.Context, _ *mcp.CallToolRequest, in greeting) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Ahoy, " + in.Name + "!"}}}, nil, nil
		})
	return httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
}

func Example() {
	server := greeter()
	defer server.Close()

	ctx := context.Background()
	platform := nethttp.New(nil)
	defer platform.Close()
	r := registry.New(&registry.Options{Connect: client.New(platform, nil).Connect})
	defer func() { _ = r.Close() }()
	if err := r.Add("port", registry.ServerConfig{URL: server.URL}); err != nil {
		log.Fatal(err)
	}
	if err := r.Discover(ctx); err != nil {
		log.Fatal(err)
	}
	for _, tool := range r.Tools(registry.Filter{}) {
		fmt.Println(tool.Name)
	}
	result, err := r.Dispatch(ctx, registry.Call{Name: "port__greet", Arguments: []byte(`{"name": "Palma"}`)})
	if err != nil {
		log.Fatal(err)
	}
	text, _, _ := result.Text(0)
	fmt.Println(text)
	// Output:
	// port__greet
	// Ahoy, Palma!
}
