package registry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/sdksession"
)

func Example() {
	// A server in memory; for one on the network, sdksession.New(nil) is all it takes.
	type greeting struct {
		Name string `json:"name"`
	}
	connector := sdksession.New(&sdksession.Options{Transports: map[string]func() mcp.Transport{
		"builtin:greeter": func() mcp.Transport {
			server := mcp.NewServer(&mcp.Implementation{Name: "greeter", Version: "1"}, nil)
			mcp.AddTool(server, &mcp.Tool{Name: "greet", Description: "Says hello."},
				func(_ context.Context, _ *mcp.CallToolRequest, in greeting) (*mcp.CallToolResult, any, error) {
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Ahoy, " + in.Name + "!"}}}, nil, nil
				})
			client, end := mcp.NewInMemoryTransports()
			go func() { _ = server.Run(context.Background(), end) }()
			return client
		},
	}})

	ctx := context.Background()
	r := registry.New(&registry.Options{Connect: connector.Connect})
	defer func() { _ = r.Close() }()
	if err := r.Add("port", registry.ServerConfig{URL: "builtin:greeter"}); err != nil {
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
