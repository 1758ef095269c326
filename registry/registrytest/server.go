package registrytest

//lint:file-ignore SA1019 logs, sampling and roots belong to the versions until 2025-11-25

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServerOptions configure a [Server]. The zero value is a server that keeps
// sessions, speaks the versions up to 2025-11-25 and answers with event streams.
type ServerOptions struct {
	Versions []string // protocol versions; all that it can speak if empty
	Modern   bool     // keep no sessions, as 2026-07-28 has it
	JSON     bool     // answer with application/json
	PageSize int      // tools on a page; all if 0
	Extra    int      // so many more tools, named extra_0000 and so on
	Older    bool     // tools that use sampling and roots
}

// A Server is a real MCP server with a tool for each thing that a session must
// carry, resources and a prompt. It serves streamable HTTP at /mcp and legacy SSE at /sse.
type Server struct {
	MCP *mcp.Server

	mux       *http.ServeMux
	waiting   chan struct{}
	cancelled chan struct{}
}

// NewServer returns a server; opts may be nil.
func NewServer(opts *ServerOptions) *Server {
	if opts == nil {
		opts = new(ServerOptions)
	}
	s := &Server{mux: http.NewServeMux(), waiting: make(chan struct{}, 100), cancelled: make(chan struct{}, 100)}
	s.MCP = mcp.NewServer(&mcp.Implementation{Name: "registrytest", Version: "1.2.3"}, &mcp.ServerOptions{
		Instructions: "Use echo.", PageSize: opts.PageSize, SupportedProtocolVersions: opts.Versions,
		CompletionHandler:  complete,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.addTools()
	s.addOffers()
	if opts.Older {
		s.addOlder()
	}
	for i := range opts.Extra {
		s.MCP.AddTool(&mcp.Tool{Name: fmt.Sprintf("extra_%04d", i), InputSchema: anyObject}, textTool)
	}
	one := func(*http.Request) *mcp.Server { return s.MCP }
	s.mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(one, &mcp.StreamableHTTPOptions{JSONResponse: opts.JSON, Stateless: opts.Modern}))
	s.mux.Handle("/sse", mcp.NewSSEHandler(one, nil))
	return s
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) { s.mux.ServeHTTP(w, req) }

// Waiting receives when a call of the tool "wait" has begun.
func (s *Server) Waiting() <-chan struct{} { return s.waiting }

// Cancelled receives when a call of the tool "wait" was cancelled by the client.
func (s *Server) Cancelled() <-chan struct{} { return s.cancelled }

var anyObject = json.RawMessage(`{"type":"object"}`)

func textTool(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
}

// addTools adds, among others, "echo", which answers with the text of its
// arguments, and "wait", which answers when it is cancelled.
func (s *Server) addTools() {
	add := func(name, schema string, handler mcp.ToolHandler) {
		s.MCP.AddTool(&mcp.Tool{Name: name, Description: "The tool " + name + ".", InputSchema: json.RawMessage(schema)}, handler)
	}
	add("echo", `{"type":"object","properties":{"text":{"type":"string"}}}`, textTool)
	add("fail", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "it does not work"}}}, nil
	})
	add("rich", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{
			StructuredContent: json.RawMessage(`{"id":12345678901234567890}`),
			Content: []mcp.Content{
				&mcp.TextContent{Text: "a picture"},
				&mcp.ImageContent{MIMEType: "image/png", Data: []byte("png")},
				&mcp.ResourceLink{URI: "file:///a", Name: "a"},
			},
		}, nil
	})
	add("count", `{"type":"object"}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			if token := req.Params.GetProgressToken(); token != nil {
				req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
					ProgressToken: token, Progress: float64(i + 1), Total: 3, Message: "step",
				})
			}
		}
		return textTool(ctx, req)
	})
	add("wait", `{"type":"object"}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.waiting <- struct{}{}
		<-ctx.Done()
		s.cancelled <- struct{}{}
		return nil, ctx.Err()
	})
	add("region", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"depth":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`, textTool)
	add("big", `{"type":"object"}`, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.Repeat("x", 1<<20)}}}, nil
	})
	// "log" writes messages of three levels to the log of its caller's session.
	add("log", `{"type":"object"}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for _, m := range []mcp.LoggingMessageParams{
			{Level: "info", Data: "fine"}, {Level: "error", Data: map[string]any{"depth": 7}}, {Level: "critical", Data: "sinking"},
		} {
			m.Logger = "quay"
			if err := req.Session.Log(ctx, &m); err != nil {
				return nil, err
			}
		}
		return textTool(ctx, req)
	})
	add("grow", `{"type":"object"}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.MCP.AddTool(&mcp.Tool{Name: "grown", InputSchema: anyObject}, textTool)
		return textTool(ctx, req)
	})
	// "ask" puts a question to the user, the way the negotiated version has for it.
	add("ask", `{"type":"object"}`, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if answer, ok := req.Params.InputResponses["q"]; ok {
			text, err := json.Marshal(map[string]any{"state": req.Params.RequestState, "answer": answer})
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, err
		}
		question := &mcp.ElicitParams{Mode: "form", Message: "Which colour?", RequestedSchema: json.RawMessage(
			`{"type":"object","properties":{"colour":{"type":"string"}}}`)}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": question}, RequestState: "s1"}, nil
	})
}
