package registrytest

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addOffers adds a resource, a template whose resources are called tides, a prompt, and
// completion of the prompt's argument.
func (s *Server) addOffers() {
	s.MCP.AddResource(&mcp.Resource{URI: "demo://harbour", Name: "harbour", Title: "The harbour", MIMEType: "text/plain"}, readResource)
	s.MCP.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "demo://tide/{day}", Name: "tide", MIMEType: "text/plain"}, readResource)
	s.MCP.AddPrompt(&mcp.Prompt{
		Name: "greet", Title: "Greet somebody", Description: "A greeting.",
		Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}, {Name: "how"}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		text := &mcp.TextContent{Text: "Hello, " + req.Params.Arguments["who"] + "."}
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: text}}}, nil
	})
}

func readResource(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri, text := req.Params.URI, "deep enough"
	if strings.HasPrefix(uri, "demo://tide/") {
		text = "tide of " + uri
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "text/plain", Text: text}}}, nil
}

func complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var values []string
	for _, name := range []string{"Ada", "Alan", "Grace"} {
		if strings.HasPrefix(name, req.Params.Argument.Value) {
			values = append(values, name)
		}
	}
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}

// Touch says that a resource was updated.
func (s *Server) Touch(uri string) {
	_ = s.MCP.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
}

// ChangePrompts changes the list of prompts.
func (s *Server) ChangePrompts() {
	s.MCP.RemovePrompts("extra")
	s.MCP.AddPrompt(&mcp.Prompt{Name: "extra"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return new(mcp.GetPromptResult), nil
	})
}

// ChangeResources changes the list of resources.
func (s *Server) ChangeResources() {
	s.MCP.RemoveResources("demo://extra")
	s.MCP.AddResource(&mcp.Resource{URI: "demo://extra", Name: "extra"}, readResource)
}
