package registrytest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

func testParamHeaders(t *testing.T, dial Dial) {
	for _, withDef := range []bool{false, true} {
		p := connect(t, dial, NewServer(&ServerOptions{Modern: true}), Options{})
		page := p.list(nil)
		var def registry.Payload
		for _, tool := range page.Tools {
			if tool.Name == "region" && withDef {
				def = tool.Def
			}
		}
		// The server refuses a call whose headers do not repeat its arguments.
		for _, arguments := range []string{
			`{}`, `{"region":"us-west1"}`, `{"region":"Zürich \n"}`, `{"region":" padded "}`, `{"region":"=?base64?eA==?="}`,
			`{"region":null,"depth":{"n":42}}`, `{"depth":{"n":-7},"region":"a"}`,
		} {
			if _, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "region", Def: def, Arguments: []byte(arguments)}); err != nil {
				t.Errorf("def %v, arguments %s: %v", withDef, arguments, err)
			}
		}
	}
	t.Run("on the wire", func(t *testing.T) {
		s := &Script{Modern: true}
		const def = `{"name":"größe","inputSchema":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"Flag"},"s":{"type":"string","x-mcp-header":"Text"}}}}`
		p := connect(t, dial, s, Options{})
		_, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "größe", Def: registry.Raw(def), Arguments: []byte(`{"b":true,"s":"ß"}`)})
		if err != nil {
			t.Fatal(err)
		}
		h := s.Received("tools/call")[0].Header
		got := map[string]string{}
		for _, name := range []string{"Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Flag", "Mcp-Param-Text"} {
			got[name] = h.Get(name)
		}
		diff(t, "headers", map[string]string{
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "=?base64?Z3LDtsOfZQ==?=",
			"Mcp-Param-Flag": "true", "Mcp-Param-Text": "=?base64?w58=?=",
		}, got)
	})
}

func testHeaders(t *testing.T, dial Dial) {
	s := &Script{Session: "s-1"}
	p := connectTo(t, dial, s, Options{}, registry.ServerConfig{Headers: map[string]string{"Authorization": "Bearer s3cr3t"}})
	p.list(nil)
	p.call("t", `{}`)
	if err := p.Close(p.ctx); err != nil {
		t.Fatal(err)
	}
	for _, method := range []string{"initialize", "notifications/initialized", "tools/list", "tools/call", "DELETE"} {
		m, ok := s.Await(method, p.ctx.Done())
		if !ok {
			t.Errorf("no %s", method)
			continue
		}
		want := map[string]string{"Authorization": "Bearer s3cr3t", "Mcp-Session-Id": "s-1", "Mcp-Protocol-Version": "2025-11-25"}
		if method == "initialize" {
			want = map[string]string{"Authorization": "Bearer s3cr3t", "Mcp-Session-Id": "", "Mcp-Protocol-Version": ""}
		}
		got := map[string]string{}
		for name := range want {
			got[name] = m.Header.Get(name)
		}
		diff(t, method, want, got)
		if accept := m.Header.Get("Accept"); method != "DELETE" && accept != "application/json, text/event-stream" {
			t.Errorf("%s: Accept %q", method, accept)
		}
	}
}

func testClose(t *testing.T, dial Dial) {
	t.Run("tells the server", func(t *testing.T) {
		s := &Script{Session: "s1"}
		p := connect(t, dial, s, Options{})
		for range 2 {
			if err := p.Close(p.ctx); err != nil {
				t.Error(err)
			}
		}
		if n := len(s.Received("DELETE")); n != 1 {
			t.Errorf("%d DELETEs", n)
		}
	})
	t.Run("ends open calls", func(t *testing.T) {
		s := (&Script{Session: "s1", ListChanged: true}).On("tools/call", Silent).On("GET", Silent)
		p := connect(t, dial, s, Options{})
		done := make(chan error, 1)
		go func() { done <- p.tryCall() }()
		s.Await("tools/call", p.ctx.Done())
		if err := p.Close(p.ctx); err != nil {
			t.Error(err)
		}
		select {
		case err := <-done:
			if err == nil {
				t.Error("the call succeeded")
			}
		case <-time.After(promptly):
			t.Error("the call outlives the session")
		}
	})
	t.Run("bounded", func(t *testing.T) {
		s := (&Script{Session: "s1"}).On("DELETE", Silent)
		p := connect(t, dial, s, Options{})
		ctx, cancel := context.WithTimeout(p.ctx, 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		p.Close(ctx)
		if took := time.Since(begin); took > 100*time.Millisecond+promptly {
			t.Errorf("Close took %v", took)
		}
		for len(p.notices) > 0 {
			t.Errorf("notice %+v for a session that was closed", <-p.notices)
		}
	})
}

func testDeath(t *testing.T, dial Dial) {
	end := make(chan struct{})
	legacy := NewServer(nil)
	h := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method != http.MethodGet {
			legacy.ServeHTTP(w, req)
			return
		}
		ctx, cancel := context.WithCancel(req.Context())
		defer cancel()
		go func() {
			select {
			case <-end:
				cancel()
			case <-ctx.Done():
			}
		}()
		legacy.ServeHTTP(w, req.WithContext(ctx))
	})
	p := connectTo(t, dial, h, Options{}, registry.ServerConfig{URL: origin + "/sse", Transport: "sse"})
	p.list(nil)
	close(end)
	select {
	case n := <-p.notices:
		if !errors.Is(n.Err, registry.ErrNetwork) {
			t.Errorf("notice %+v, want ErrNetwork", n)
		}
	case <-p.ctx.Done():
		t.Error("no notice of the stream's end")
	}
	if err := p.tryCall(); !errors.Is(err, registry.ErrNetwork) {
		t.Errorf("call after the end: %v, want ErrNetwork", err)
	}
}
