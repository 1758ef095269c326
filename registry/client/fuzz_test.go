package client_test

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

const endpoint = "https://server.example/mcp"

// FuzzAnswer lets a server answer a call with anything at all. The call ends, what
// it returns is an object, and the session lives.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}`,
		`[{"jsonrpc":"2.0","id":$id,"result":{}},null]`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"x","data":[1]}}`,
		"data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":1}}\n\n",
		"\xef\xbb\xbfid: 1\rretry: 1\rdata: {\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":$id}\r\rdata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":$id}}\r\r",
		"event: endpoint\ndata: http://elsewhere.example\n\n",
	} {
		for kind := range byte(4) {
			f.Add([]byte(s), kind)
		}
	}
	var body []byte
	var kind byte
	s := &registrytest.Script{Session: "s1"}
	s.On("tools/call", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		media := []string{"application/json", "text/event-stream", "text/html", "application/json"}[kind%4]
		w.Header().Set("Content-Type", media)
		if kind%4 == 3 {
			w.WriteHeader(400 + int(kind))
		}
		w.Write(bytes.ReplaceAll(body, []byte("$id"), m.ID))
	})
	var session registry.Session
	f.Cleanup(func() {
		if session != nil {
			session.Close(context.Background())
		}
	})
	net := registrytest.NewNet(f)
	net.Handle("https://server.example", s)
	platform := client.NewPlatform(f, net)
	f.Fuzz(func(t *testing.T, b []byte, k byte) {
		body, kind = b, k
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if session == nil {
			var err error
			if session, err = client.New(platform, nil).Connect(ctx, "a", registry.ServerConfig{URL: endpoint}, func(n registry.Notice) { panic(n.Err) /* nothing that a call is answered with ends the session */ }); err != nil {
				t.Fatal(err)
			}
		}
		short, stop := context.WithTimeout(ctx, 100*time.Millisecond)
		defer stop()
		out, err := session.CallTool(short, registry.ToolCall{Tool: "t"})
		if err == nil {
			if text, err := out.Result.JSON(); err != nil || rawjson.Kind(text) != 'o' || rawjson.Valid(text, 128) != nil {
				t.Errorf("result %q, %v", text, err)
			}
		} else if registry.Explain(err).Code == "internal" {
			t.Errorf("%v is of no kind that a registry explains", err)
		}
		if _, err := session.ListTools(ctx, nil); err != nil {
			t.Fatalf("after %q: %v", b, err)
		}
	})
}

// FuzzServerRequest lets a server ask the client anything while a call runs. The
// answer to the call comes, whatever becomes of the question.
func FuzzServerRequest(f *testing.F) {
	for _, s := range []string{
		`"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"string","default":"x"}}}}`,
		`"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{"$ref":"#"}}`,
		`"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","elicitationId":"1"}`,
		`"method":"elicitation/create","params":null`, `"method":"elicitation/create"`,
		`"method":"sampling/createMessage","params":{}`, `"method":"roots/list"`, `"method":"ping","params":[]`,
	} {
		f.Add([]byte(s))
	}
	var request []byte
	s := new(registrytest.Script)
	s.On("tools/call", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write(slices.Concat([]byte(`data: {"id":"q",`), bytes.ReplaceAll(request, []byte("\n"), nil), []byte("}\n\n")))
		w.Write(slices.Concat([]byte(`data: {"id":`), m.ID, []byte(`,"result":{}}`+"\n\n")))
	})
	elicit := func(_ context.Context, _ string, params []byte) ([]byte, error) {
		if rawjson.Valid(params, 0) != nil {
			panic("the host is asked in no JSON")
		}
		return []byte(`{"action":"accept","content":{}}`), nil
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		request = b
		net := registrytest.NewNet(t)
		net.Handle("https://server.example", s)
		session, err := client.New(client.NewPlatform(t, net), &client.Options{Elicit: elicit}).Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close(t.Context())
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := session.CallTool(ctx, registry.ToolCall{Tool: "t"}); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzHandshake lets a server answer server/discover and initialize with anything.
// Connecting ends, with a session or with an error that a registry explains.
func FuzzHandshake(f *testing.F) {
	for _, s := range []string{
		`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":1}}}`,
		`{"supportedVersions":["2099-01-01","2024-11-05"],"capabilities":null}`,
		`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1","icons":[{}]}}`,
		`{"protocolVersion":"2026-07-28","capabilities":{},"serverInfo":null,"instructions":7}`, `null`, `[]`, `{}`,
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, result []byte, discover bool) {
		step := func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.Reply(w, m, string(result))
		}
		s := new(registrytest.Script).On("initialize", step)
		if discover {
			s.On("server/discover", step)
		}
		net := registrytest.NewNet(t)
		net.Handle("https://server.example", s)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		session, err := client.New(client.NewPlatform(t, net), nil).Connect(ctx, "a", registry.ServerConfig{URL: endpoint}, nil)
		if err != nil {
			if code := registry.Explain(err).Code; code == "internal" || code == "timeout" {
				t.Errorf("%s: %v", code, err)
			}
			return
		}
		if session.Info().ProtocolVersion == "" {
			t.Error("connected without a version")
		}
		session.Close(ctx)
	})
}
