//go:build !js

package blackbox

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session connects an MCP client with an MCP server through the proxy, over each transport.
func session(t *testing.T, r running, _ *upstream) {
	server := mcp.NewServer(&mcp.Implementation{Name: "upstream", Version: "1"}, nil)
	type args struct {
		Text string `json:"text"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "say"}, func(ctx context.Context, req *mcp.CallToolRequest,
		in args) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(),
				Progress: float64(i + 1)})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	of := func(*http.Request) *mcp.Server { return server }
	deleted := make(chan struct{}, 1)
	watch := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == "DELETE" {
				deleted <- struct{}{}
			}
			h.ServeHTTP(w, r)
		})
	}
	through := &http.Client{Transport: via{r.url["open"]}}
	for _, row := range []struct {
		name       string
		handler    http.Handler
		transport  func(url string) mcp.Transport
		progresses int
		ends       bool // with a DELETE
	}{
		{"streamable, JSON", mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{JSONResponse: true}),
			func(url string) mcp.Transport {
				return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: through, MaxRetries: -1}
			}, 0, true},
		{"streamable, SSE", mcp.NewStreamableHTTPHandler(of, nil), func(url string) mcp.Transport {
			return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: through, MaxRetries: -1}
		}, 3, true},
		{"HTTP+SSE", mcp.NewSSEHandler(of, nil), func(url string) mcp.Transport {
			return &mcp.SSEClientTransport{Endpoint: url, HTTPClient: through}
		}, 3, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			upstream := httptest.NewServer(watch(row.handler))
			defer upstream.Close()
			defer upstream.CloseClientConnections()
			progress := make(chan float64, 8)
			client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context,
					r *mcp.ProgressNotificationClientRequest) {
					progress <- r.Params.Progress
				},
			})
			session, err := client.Connect(t.Context(), row.transport(upstream.URL+"/mcp"), nil)
			if err != nil {
				t.Fatal(err)
			}
			params := &mcp.CallToolParams{Name: "say", Arguments: args{"héllo, 日本"}}
			params.SetProgressToken("p")
			result, err := session.CallTool(t.Context(), params)
			if err != nil || result.Content[0].(*mcp.TextContent).Text != "héllo, 日本" {
				t.Fatal(result, err)
			}
			for i := range row.progresses {
				if got := <-progress; got != float64(i+1) {
					t.Errorf("progress %v", got)
				}
			}
			if err := session.Close(); err != nil {
				t.Error(err)
			}
			if row.ends {
				<-deleted
			}
		})
	}
}

// via sends requests as a page's registry does: to the proxy, with the server in a header.
type via struct{ proxy string }

func (v via) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	target := r.URL.String()
	u, err := r.URL.Parse(v.proxy + "/")
	if err != nil {
		return nil, err
	}
	out.URL, out.Host = u, ""
	out.Header.Set("Origin", page)
	if out.Header.Get("Accept") == "" {
		out.Header.Set("Accept", "*/*") // as fetch does
	}
	out.Header.Set("X-Portolan-Target", target)
	return client.Transport.RoundTrip(out)
}
