package registrytest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

func testCalls(t *testing.T, dial Dial) {
	for _, opts := range []ServerOptions{{}, {JSON: true}, {Modern: true}, {Modern: true, JSON: true}} {
		p := connect(t, dial, NewServer(&opts), Options{})
		const arguments = `{"n":12345678901234567890,"f":1.10,"s":"\u2028 é"}`
		if got := p.text("echo", arguments); !strings.Contains(got, "12345678901234567890") || !strings.Contains(got, "1.10") {
			t.Errorf("%+v: echo %s", opts, got)
		}
		out, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "fail", Arguments: []byte(`{}`)})
		if err != nil || !out.IsError {
			t.Errorf("%+v: fail: %v, %v, want isError and no error", opts, out, err)
		}
		rich, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "rich"})
		if err != nil {
			t.Fatal(err)
		}
		text, err := rich.Result.JSON()
		if err != nil || !strings.Contains(string(text), `"id":12345678901234567890`) {
			t.Errorf("%+v: structured content %s, %v", opts, text, err)
		}
		if content := decode(t, rich.Result)["content"].([]any); len(content) != 3 {
			t.Errorf("%+v: content %v", opts, content)
		}
		if got := p.text("big", `{}`); len(got) != 1<<20 {
			t.Errorf("%+v: big: %d bytes", opts, len(got))
		}
		_, err = p.CallTool(p.ctx, registry.ToolCall{Tool: "nonexistent", Arguments: []byte(`{}`)})
		var rpc *registry.RPCError
		if !errors.As(err, &rpc) || rpc.Code != -32602 {
			t.Errorf("%+v: unknown tool: %v, want a JSON-RPC error -32602", opts, err)
		}
	}
	t.Run("many at once", func(t *testing.T) {
		p := connect(t, dial, NewServer(nil), Options{})
		errs := make(chan error, 32)
		for i := range cap(errs) {
			go func() {
				want, _ := json.Marshal(map[string]int{"i": i})
				out, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "echo", Arguments: want})
				if err == nil {
					if text, _ := out.Result.JSON(); !strings.Contains(string(text), strings.ReplaceAll(string(want), `"`, `\"`)) {
						err = errors.New("another call's answer: " + string(text))
					}
				}
				errs <- err
			}()
		}
		for range cap(errs) {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
	})
}

func testProgress(t *testing.T, dial Dial) {
	for _, modern := range []bool{false, true} {
		p := connect(t, dial, NewServer(&ServerOptions{Modern: modern}), Options{})
		var got []registry.Progress
		_, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "count", Arguments: []byte(`{}`), OnProgress: func(x registry.Progress) { got = append(got, x) }})
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "progress", []registry.Progress{{Progress: 1, Total: 3, Message: "step"}, {Progress: 2, Total: 3, Message: "step"}, {Progress: 3, Total: 3, Message: "step"}}, got)
		if got := p.text("count", `{}`); got != `{}` {
			t.Errorf("without progress: %s", got)
		}
	}
	t.Run("more than a number holds", func(t *testing.T) {
		p := connect(t, dial, new(Script).On("tools/call", Body("text/event-stream",
			"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$id,\"progress\":1e400}}\n\n"+
				"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$id,\"progress\":1,\"total\":1e400}}\n\n"+
				"data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[]}}\n\n")), Options{})
		var got []registry.Progress
		if _, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "t", OnProgress: func(x registry.Progress) { got = append(got, x) }}); err != nil {
			t.Fatal(err)
		}
		diff(t, "progress", []registry.Progress{{Progress: 1}}, got)
	})
}

func testCancel(t *testing.T, dial Dial) {
	for _, url := range []string{endpoint, origin + "/sse"} {
		server := NewServer(nil)
		p := connectTo(t, dial, server, Options{}, registry.ServerConfig{URL: url})
		ctx, cancel := context.WithCancel(p.ctx)
		done := make(chan error, 1)
		go func() {
			_, err := p.CallTool(ctx, registry.ToolCall{Tool: "wait", Arguments: []byte(`{}`)})
			done <- err
		}()
		select {
		case <-server.Waiting():
		case <-p.ctx.Done():
			t.Fatalf("%s: the call did not begin", url)
		}
		cancel()
		select {
		case err := <-done:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v, want context.Canceled", url, err)
			}
		case <-time.After(promptly):
			t.Fatalf("%s: the call outlives its context", url)
		}
		select {
		case <-server.Cancelled():
		case <-p.ctx.Done():
			t.Errorf("%s: the server heard nothing", url)
		}
		if got := p.text("echo", `{"after":1}`); got != `{"after":1}` {
			t.Errorf("%s: echo after a cancelled call: %s", url, got)
		}
	}
}

func testDeadlines(t *testing.T, dial Dial) {
	const deadline = 100 * time.Millisecond
	limited := func(t *testing.T, do func(ctx context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		begin := time.Now()
		err := do(ctx)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want context.DeadlineExceeded", err)
		}
		if took := time.Since(begin); took > deadline+promptly {
			t.Errorf("returned after %v", took)
		}
	}
	drip := Then(Body("text/event-stream", ": hello\n\n"), Silent)
	for name, script := range map[string]*Script{
		"silent":           new(Script).On("server/discover", Silent).On("initialize", Silent),
		"stream of naught": new(Script).On("server/discover", drip).On("initialize", drip),
		"body without end": new(Script).On("initialize", Then(Body("application/json", `{"jsonrpc":`), Silent)),
	} {
		t.Run("connect "+name, func(t *testing.T) {
			net := NewNet(t)
			net.Handle(origin, script)
			connect := dial(net, Options{})
			limited(t, func(ctx context.Context) error {
				_, err := connect(ctx, "a", registry.ServerConfig{URL: endpoint}, nil)
				return err
			})
		})
	}
	t.Run("silence to notifications/initialized", func(t *testing.T) {
		p := connect(t, dial, new(Script).On("notifications/initialized", Silent), Options{})
		p.list(nil)
	})
	for name, step := range map[string]Step{
		"silent":           Silent,
		"stream of naught": drip,
		"body without end": Then(Body("application/json", `{"jsonrpc":`), Silent),
	} {
		t.Run("call "+name, func(t *testing.T) {
			s := new(Script).On("tools/call", step).On("tools/list", step)
			p := connect(t, dial, s, Options{})
			limited(t, func(ctx context.Context) error {
				_, err := p.CallTool(ctx, registry.ToolCall{Tool: "t", Arguments: []byte(`{}`)})
				return err
			})
			limited(t, func(ctx context.Context) error {
				_, err := p.ListTools(ctx, nil)
				return err
			})
			if m, ok := s.Await("notifications/cancelled", p.ctx.Done()); !ok || !strings.Contains(string(m.Params), `"reason":"`) {
				t.Errorf("the server heard %s", m.Params)
			}
		})
	}
	t.Run("call, and closed at once", func(t *testing.T) {
		s := new(Script).On("tools/call", Silent)
		p := connect(t, dial, s, Options{})
		limited(t, func(ctx context.Context) error {
			_, err := p.CallTool(ctx, registry.ToolCall{Tool: "t", Arguments: []byte(`{}`)})
			return err
		})
		if err := p.Close(p.ctx); err != nil {
			t.Error(err)
		}
		if _, ok := s.Await("notifications/cancelled", p.ctx.Done()); !ok {
			t.Error("the server heard nothing")
		}
	})
}

func testInputRequired(t *testing.T, dial Dial) {
	var asked []string
	elicit := func(_ context.Context, server string, params []byte) ([]byte, error) {
		asked = append(asked, server+" "+string(params))
		return []byte(`{"action":"accept","content":{"colour":"red"}}`), nil
	}
	p := connect(t, dial, NewServer(&ServerOptions{Modern: true}), Options{Elicit: elicit})
	got := p.text("ask", `{}`)
	if !strings.Contains(got, `"state":"s1"`) || !strings.Contains(got, `"colour":"red"`) {
		t.Errorf("answer %s", got)
	}
	if len(asked) != 1 || !strings.HasPrefix(asked[0], "a {") || !strings.Contains(asked[0], "Which colour?") {
		t.Errorf("asked %q", asked)
	}
	t.Run("for ever", func(t *testing.T) {
		s := &Script{Modern: true}
		s.On("tools/call", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}},"requestState":"again"}}`))
		p := connect(t, dial, s, Options{Elicit: elicit})
		if _, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "t", Arguments: []byte(`{}`)}); !errors.Is(err, registry.ErrProtocol) {
			t.Errorf("%v, want ErrProtocol", err)
		}
		if n := len(s.Received("tools/call")); n > 11 {
			t.Errorf("%d calls", n)
		}
	})
	t.Run("nobody to ask", func(t *testing.T) {
		s := &Script{Modern: true}
		s.On("tools/call", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}}}}`))
		p := connect(t, dial, s, Options{})
		if _, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "t", Arguments: []byte(`{}`)}); err == nil {
			t.Error("no error")
		}
	})
}

func testElicitation(t *testing.T, dial Dial) {
	elicit := func(_ context.Context, server string, params []byte) ([]byte, error) {
		if server != "a" || !strings.Contains(string(params), "Which colour?") {
			return nil, errors.New("unexpected question")
		}
		return []byte(`{"action":"accept","content":{"colour":"blue"}}`), nil
	}
	for _, url := range []string{endpoint, origin + "/sse"} {
		p := connectTo(t, dial, NewServer(nil), Options{Elicit: elicit}, registry.ServerConfig{URL: url})
		if got := p.text("ask", `{}`); !strings.Contains(got, `"colour":"blue"`) {
			t.Errorf("%s: answer %s", url, got)
		}
	}
	t.Run("hostile questions", func(t *testing.T) {
		ask := func(params string) string {
			return "data: {\"jsonrpc\":\"2.0\",\"id\":\"e\",\"method\":\"elicitation/create\",\"params\":" + params + "}\n\n"
		}
		for _, params := range []string{
			`{"message":"m","requestedSchema":{"$ref":"#"}}`,
			`{"message":"m","requestedSchema":{"properties":{"a":` + strings.Repeat(`{"properties":{"a":`, 1000) + `1` + strings.Repeat(`}}`, 1000) + `}}}`,
			`{"message":7,"requestedSchema":[]}`, `[]`, `null`, `{"mode":"url","url":"javascript:alert(1)","elicitationId":"1","message":"m"}`,
		} {
			s := new(Script).On("tools/call", Body("text/event-stream", strings.Repeat(ask(params), 10)+"data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[]}}\n\n"))
			p := connect(t, dial, s, Options{Elicit: func(context.Context, string, []byte) ([]byte, error) {
				return []byte(`{"action":"accept","content":{}}`), nil
			}})
			p.call("t", `{}`)
			p.list(nil)
		}
	})
	t.Run("on the GET stream", func(t *testing.T) {
		ask := make(chan struct{})
		s := &Script{Session: "s1"}
		s.On("GET", func(w http.ResponseWriter, req *http.Request, m Message) {
			Body("text/event-stream", ": open\n\n")(w, req, m)
			select {
			case <-ask:
				Body("", "data: {\"jsonrpc\":\"2.0\",\"id\":\"e\",\"method\":\"elicitation/create\",\"params\":{\"message\":\"Which colour?\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{}}}}\n\n")(w, req, m)
			case <-req.Context().Done():
			}
			<-req.Context().Done()
		})
		s.On("tools/call", func(w http.ResponseWriter, req *http.Request, m Message) {
			select {
			case ask <- struct{}{}: // what is sent while no stream is open is lost
			case <-req.Context().Done():
			}
			answer, _ := s.Await("", req.Context().Done())
			Reply(w, m, `{"content":[{"type":"text","text":`+strconv.Quote(string(answer.Result))+`}]}`)
		})
		p := connect(t, dial, s, Options{Elicit: func(context.Context, string, []byte) ([]byte, error) { return []byte(`{"action":"decline"}`), nil }})
		out, err := p.CallTool(p.ctx, registry.ToolCall{Tool: "t", Arguments: []byte(`{}`)})
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := out.Result.JSON(); !strings.Contains(string(text), "decline") {
			t.Errorf("result %s", text)
		}
	})
	s := new(Script)
	connect(t, dial, s, Options{})
	if m := s.Received("initialize"); strings.Contains(string(m[0].Params), "elicitation") || strings.Contains(string(m[0].Params), "roots") {
		t.Errorf("capabilities that nobody offers: %s", m[0].Params)
	}
}

func testServerRequests(t *testing.T, dial Dial) {
	s := new(Script)
	s.On("tools/call", func(w http.ResponseWriter, req *http.Request, m Message) {
		Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n"+
			"data: {\"jsonrpc\":\"2.0\",\"id\":\"u\",\"method\":\"no/such\",\"params\":{}}\n\n")(w, req, m)
		s.await("", 2, req.Context().Done())
		Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"content\":[]}}\n\n")(w, req, m)
	})
	p := connect(t, dial, s, Options{})
	p.call("t", `{}`)
	answers := map[string]string{}
	for _, m := range s.Received("") {
		answers[string(m.ID)] = string(m.Result) + string(m.Error)
	}
	if answers[`"p"`] != `{}` || !strings.Contains(answers[`"u"`], "-32601") {
		t.Errorf("answers %v, want {} to the ping and -32601 to the unknown method", answers)
	}
}
