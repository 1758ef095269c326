package registrytest

//lint:file-ignore SA1019 logs, sampling and roots belong to the versions until 2025-11-25

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
)

// addOlder adds tools for what 2026-07-28 deprecates (SEP-2577): "sample" asks the client's
// model, and "roots" lists the client's roots.
func (s *Server) addOlder() {
	say := func(value any, err error) (*mcp.CallToolResult, error) {
		text, _ := json.Marshal(value)
		if err != nil {
			text = []byte(err.Error())
		}
		return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
	}
	s.MCP.AddTool(&mcp.Tool{Name: "sample", InputSchema: anyObject}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return say(req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{
			MaxTokens: 50, SystemPrompt: "Be brief.",
			Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Which harbour?"}}},
		}))
	})
	s.MCP.AddTool(&mcp.Tool{Name: "roots", InputSchema: anyObject}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return say(req.Session.ListRoots(ctx, nil))
	})
}

// testOlder proves sampling and roots: clients announce them to servers of the versions
// until 2025-11-25 only.
func testOlder(t *testing.T, dial Dial) {
	var asked []string
	sample := func(_ context.Context, server string, params []byte) ([]byte, error) {
		asked = append(asked, server+" "+string(params))
		return []byte(`{"role":"assistant","model":"m","content":{"type":"text","text":"Ostia"}}`), nil
	}
	opts := Options{Sample: sample, Roots: []string{"file:///home/a"}}
	for _, url := range []string{endpoint, origin + "/sse"} {
		asked = nil
		p := connectTo(t, dial, NewServer(&ServerOptions{Older: true}), opts, registry.ServerConfig{URL: url})
		if got := p.text("sample", `{}`); !strings.Contains(got, `"Ostia"`) {
			t.Errorf("%s: answer %s", url, got)
		}
		if len(asked) != 1 || !strings.HasPrefix(asked[0], "a {") || !strings.Contains(asked[0], "Which harbour?") || !strings.Contains(asked[0], "Be brief.") {
			t.Errorf("asked %q", asked)
		}
		if got := p.text("roots", `{}`); !strings.Contains(got, `"uri":"file:///home/a"`) {
			t.Errorf("%s: roots %s", url, got)
		}
	}
	t.Run("the user refuses", func(t *testing.T) {
		p := connect(t, dial, NewServer(&ServerOptions{Older: true}), Options{Sample: func(context.Context, string, []byte) ([]byte, error) {
			return nil, errors.New("no")
		}})
		if result := p.call("sample", `{}`); result["isError"] != true {
			t.Errorf("%v", result)
		}
	})
}

// testSamplingBounds proves bounds that the official client has not.
func testSamplingBounds(t *testing.T, dial Dial) {
	ask := func(params string) string {
		return "data: {\"jsonrpc\":\"2.0\",\"id\":\"e\",\"method\":\"sampling/createMessage\",\"params\":" + params + "}\n\n"
	}
	for _, row := range []struct{ name, params, answer, want string }{
		{"tools", `{"messages":[],"maxTokens":1,"tools":[]}`, `{}`, `-32602`},
		{"no messages", `{"messages":"m","maxTokens":1}`, `{}`, `-32602`},
		{"a secret", `{"messages":[{"role":"user","content":{"type":"text","text":"it is s3cret-token-1234"}}],"maxTokens":1}`, `{}`, `-32602`},
		{"too long", `{"messages":[{"role":"user","content":{"type":"text","text":"` + strings.Repeat("x", 300<<10) + `"}}],"maxTokens":1}`, `{}`, `-32602`},
		{"no message", `{"messages":[],"maxTokens":1}`, `{"role":"assistant"}`, `-32603`},
		{"fine", `{"messages":[],"maxTokens":1}`, `{"role":"assistant","model":"m","content":{"type":"text","text":"a"}}`, `"assistant"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := new(Script)
			s.On("tools/call", func(w http.ResponseWriter, req *http.Request, m Message) {
				Body("text/event-stream", ask(row.params))(w, req, m)
				s.await("", 1, req.Context().Done())
				Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[]}}\n\n")(w, req, m)
			})
			p := connectTo(t, dial, s, Options{Sample: func(context.Context, string, []byte) ([]byte, error) {
				return []byte(row.answer), nil
			}}, registry.ServerConfig{Headers: map[string]string{"Authorization": "Bearer s3cret-token-1234"}})
			p.call("t", `{}`)
			answer := s.Received("")[0]
			if got := string(answer.Result) + string(answer.Error); !strings.Contains(got, row.want) {
				t.Errorf("answered %s, want %s", got, row.want)
			}
		})
	}
	t.Run("not announced", func(t *testing.T) {
		older := Options{Sample: func(context.Context, string, []byte) ([]byte, error) {
			t.Error("asked")
			return nil, errors.New("no")
		}, Roots: []string{"file:///home/a"}}
		for _, row := range []struct {
			opts   Options
			server ServerOptions
		}{{Options{}, ServerOptions{Older: true}}, {older, ServerOptions{Older: true, Modern: true}}} {
			p := connect(t, dial, NewServer(&row.server), row.opts)
			for _, tool := range []string{"sample", "roots"} {
				if result := p.call(tool, `{}`); result["isError"] != true {
					t.Errorf("%s: %v", tool, result)
				}
			}
		}
	})
	t.Run("six in a minute", func(t *testing.T) {
		n := 0
		p := connect(t, dial, NewServer(&ServerOptions{Older: true}), Options{Sample: func(context.Context, string, []byte) ([]byte, error) {
			n++
			return []byte(`{"role":"assistant","model":"m","content":{"type":"text","text":"a"}}`), nil
		}})
		for range 5 {
			p.text("sample", `{}`)
		}
		if result := p.call("sample", `{}`); result["isError"] != true || n != 5 {
			t.Errorf("%v after %d", result, n)
		}
	})
}
