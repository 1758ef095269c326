package registrytest

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

func (p *peer) tryCall() error {
	_, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "t", Arguments: []byte(`{}`)})
	return err
}

func testExpiry(t *testing.T, dial Dial) {
	for name, step := range map[string]Step{
		"404": Status(404, "session not found"),
		"404 with JSON": func(w http.ResponseWriter, _ *http.Request, m Message) {
			ReplyError(w, m, 404, -32001, "Session not found")
		},
		"400": Status(400, "no such session"),
		"400 with JSON": func(w http.ResponseWriter, _ *http.Request, m Message) {
			ReplyError(w, m, 400, -32000, "Bad Request: no valid session ID provided")
		},
		"400 with no body": Status(400, ""),
	} {
		t.Run(name, func(t *testing.T) {
			s := &Script{Session: "s1"}
			p := connect(t, dial, s.On("tools/call", step).On("tools/list", step), Options{})
			if err := p.tryCall(); !errors.Is(err, registry.ErrSessionExpired) {
				t.Errorf("call: %v, want ErrSessionExpired", err)
			}
			if _, err := p.ListTools(p.ctx, nil); !errors.Is(err, registry.ErrSessionExpired) {
				t.Errorf("list: %v, want ErrSessionExpired", err)
			}
			if n := len(s.Received("tools/call")); n != 1 {
				t.Errorf("the call was sent %d times; resending is the registry's", n)
			}
			if n := len(s.Received("initialize")); n != 1 {
				t.Errorf("%d sessions; reconnecting is the registry's", n)
			}
		})
	}
	t.Run("400 for another reason", func(t *testing.T) {
		s := &Script{Session: "s1"}
		s.On("tools/call", func(w http.ResponseWriter, _ *http.Request, m Message) { ReplyError(w, m, 400, -32602, "bad params") })
		var rpc *registry.RPCError
		if err := connect(t, dial, s, Options{}).tryCall(); !errors.As(err, &rpc) || rpc.Code != -32602 {
			t.Errorf("%v, want the JSON-RPC error", err)
		}
	})
	t.Run("404 for an unknown method", func(t *testing.T) {
		s := &Script{Session: "s1"}
		s.On("resources/templates/list", func(w http.ResponseWriter, _ *http.Request, m Message) {
			ReplyError(w, m, 404, -32601, "unknown method")
		})
		p := connect(t, dial, s, Options{})
		var rpc *registry.RPCError
		_, err := p.offerer().Ask(p.ctx, registry.Request{Method: "resources/templates/list"})
		if errors.Is(err, registry.ErrSessionExpired) || !errors.As(err, &rpc) || rpc.Code != -32601 {
			t.Errorf("%v, want the JSON-RPC error", err)
		}
	})
	t.Run("404 without a session", func(t *testing.T) {
		p := connect(t, dial, new(Script).On("tools/call", Status(404, "gone")), Options{})
		if err := p.tryCall(); errors.Is(err, registry.ErrSessionExpired) || !hasStatus(err, 404) {
			t.Errorf("%v, want status 404", err)
		}
	})
}

// testForeignErrors checks that an error body of another protocol does not pass
// for a JSON-RPC error: the HTTP status is what it says.
func testForeignErrors(t *testing.T, dial Dial) {
	for _, code := range []int{404, 429} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			s := new(Script).On("tools/call", func(w http.ResponseWriter, _ *http.Request, _ Message) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Retry-After", time.Now().Add(time.Minute).UTC().Format(http.TimeFormat))
				w.WriteHeader(code)
				_, _ = io.WriteString(w, `{"error":{"message":"not from MCP"}}`)
			})
			err := connect(t, dial, s, Options{}).tryCall()
			var status *registry.StatusError
			if !errors.As(err, &status) || status.Code != code {
				t.Fatalf("%v, want status %d", err, code)
			}
			// A platform passes a date (RFC 9110, section 10.2.3) on as seconds.
			after := strings.Join(status.Header["Retry-After"], "")
			if n, err := strconv.Atoi(after); err != nil || n < 30 || n > 60 {
				t.Errorf("Retry-After %q, want about a minute in seconds", after)
			}
		})
	}
}

func hasStatus(err error, code int) bool {
	var status *registry.StatusError
	return errors.As(err, &status) && status.Code == code
}

func testStatuses(t *testing.T, dial Dial) {
	for _, code := range []int{401, 403, 429, 500, 502, 503} {
		step := Status(code, "because\n of s3cr3t-value")
		t.Run("connect "+http.StatusText(code), func(t *testing.T) {
			s := new(Script).On("server/discover", step).On("initialize", step)
			p, err := connectFails(t, dial, s, registry.ServerConfig{Headers: map[string]string{"Authorization": "Bearer s3cr3t-value"}})
			if !hasStatus(err, code) {
				t.Errorf("%v, want status %d", err, code)
			} else if !strings.Contains(err.Error(), "because") || strings.Contains(err.Error(), "s3cr3t-value") {
				t.Errorf("%q: want the server's words without the header's value", err)
			}
			if code != 429 {
				for _, req := range p.net.Requests() {
					if req.Method == http.MethodGet {
						t.Error("legacy SSE was tried")
					}
				}
			}
		})
		t.Run("call "+http.StatusText(code), func(t *testing.T) {
			s := &Script{Session: "s1"}
			s.On("tools/call", step)
			p := connect(t, dial, s, Options{})
			if err := p.tryCall(); !hasStatus(err, code) {
				t.Errorf("%v, want status %d", err, code)
			}
			if n := len(s.Received("tools/call")); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			p.list(nil) // the session lives
		})
	}
	t.Run("unreachable", func(t *testing.T) {
		_, err := connectFails(t, dial, nil, registry.ServerConfig{})
		if !errors.Is(err, registry.ErrNetwork) {
			t.Errorf("%v, want ErrNetwork", err)
		}
	})
	t.Run("redirect", func(t *testing.T) {
		elsewhere := new(Script)
		p, open := surroundings(t, new(Script).On("tools/call", func(w http.ResponseWriter, _ *http.Request, _ Message) {
			w.Header().Set("Location", "https://elsewhere.example/mcp")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}))
		p.net.Handle("https://elsewhere.example", elsewhere)
		if err := open(dial, Options{}, registry.ServerConfig{Headers: map[string]string{"X-Api-Key": "s3cr3t"}}); err != nil {
			t.Fatal(err)
		}
		if err := p.tryCall(); !errors.Is(err, registry.ErrRedirect) {
			t.Errorf("%v, want ErrRedirect", err)
		}
		if len(elsewhere.Received("tools/call")) > 0 {
			t.Error("the call went to another origin")
		}
	})
	t.Run("redirect within the origin", func(t *testing.T) {
		s := new(Script)
		s.On("tools/call", func(w http.ResponseWriter, req *http.Request, m Message) {
			if req.URL.Path == "/mcp" {
				w.Header().Set("Location", "/other")
				w.WriteHeader(http.StatusTemporaryRedirect)
				return
			}
			Reply(w, m, `{"content":[]}`)
		})
		if err := connect(t, dial, s, Options{}).tryCall(); !errors.Is(err, registry.ErrRedirect) {
			t.Errorf("%v, want ErrRedirect", err)
		}
		if n := len(s.Received("tools/call")); n != 1 {
			t.Errorf("the call was sent %d times", n)
		}
	})
}

func testBadAnswers(t *testing.T, dial Dial) {
	const fine = `{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}`
	for _, row := range []struct {
		name string
		step Step
		want error
	}{
		{"html", Body("text/html", "<html>Hello</html>"), registry.ErrProtocol},
		{"no type", Body("", ""), registry.ErrProtocol},
		{"202", Status(202, ""), registry.ErrProtocol},
		{"no JSON", Body("application/json", "hello"), registry.ErrProtocol},
		{"truncated", Body("application/json", fine[:30]), registry.ErrProtocol},
		{"trailing", Body("application/json", fine+"x"), registry.ErrProtocol},
		{"other id", Body("application/json", `{"jsonrpc":"2.0","id":"other","result":{}}`), registry.ErrProtocol},
		{"no result", Body("application/json", `{"jsonrpc":"2.0","id":$id}`), registry.ErrProtocol},
		{"too deep", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"a":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`}}`), registry.ErrProtocol},
		{"result of a wrong type", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":[]}`), registry.ErrProtocol},
		{"broken", Abort, registry.ErrNetwork},
		{"broken body", Then(Body("application/json", fine[:30]), Abort), registry.ErrNetwork},
		{"stream without answer", Body("text/event-stream", ": hi\n\n"), registry.ErrNetwork},
		{"broken stream", Then(Body("text/event-stream", ": hi\n\n"), Abort), registry.ErrNetwork},
		{"stream of nonsense", Body("text/event-stream", "data: {\"jsonrpc\"\n\n"), registry.ErrProtocol},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := &Script{Session: "s1"}
			p := connect(t, dial, s.On("tools/call", row.step), Options{})
			if err := p.tryCall(); !errors.Is(err, row.want) {
				t.Errorf("%v, want %v", err, row.want)
			}
			if n := len(s.Received("tools/call")); n != 1 {
				t.Errorf("the call was sent %d times", n)
			}
			p.list(nil) // the session lives
		})
	}
	t.Run("error without code or id", func(t *testing.T) {
		for _, step := range []Step{
			Body("application/json", `{"jsonrpc":"2.0","id":$id,"error":{"message":"why"}}`),
			Body("text/event-stream", "data: {\"id\":$id,\"error\":{\"message\":\"why\"}}\n\n"),
			Body("application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"why"}}`),
			Body("application/json", `{"jsonrpc":"2.0","error":{"code":-32600,"message":"why"}}`), // as 2025-11-25 has it
			Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"why\"}}\n\n"),
		} {
			p := connect(t, dial, new(Script).On("tools/call", step), Options{})
			var rpc *registry.RPCError
			if err := p.tryCall(); !errors.As(err, &rpc) || rpc.Message != "why" {
				t.Errorf("%v, want what the server says", err)
			}
			p.list(nil)
		}
	})
	t.Run("html to everything", func(t *testing.T) {
		step := Body("text/html", "<html>Hello</html>")
		_, err := connectFails(t, dial, new(Script).On("server/discover", step).On("initialize", step), registry.ServerConfig{})
		if !errors.Is(err, registry.ErrProtocol) {
			t.Errorf("%v, want ErrProtocol", err)
		}
	})
	t.Run("unknown version", func(t *testing.T) {
		s := new(Script).On("initialize", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}`))
		if _, err := connectFails(t, dial, s, registry.ServerConfig{}); !errors.Is(err, registry.ErrProtocol) {
			t.Errorf("%v, want ErrProtocol", err)
		}
	})
}
