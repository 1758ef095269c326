package toolserver_test

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/extension/module/toolserver"
)

// connect serves s to a go-sdk client until the test ends.
func connect(t *testing.T, s *toolserver.Server, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	return connectAs(t, s, opts, 1)
}

// connectAs connects with the number of a connection.
func connectAs(t *testing.T, s *toolserver.Server, opts *mcp.ClientOptions, connection int) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan struct{})
	go func() { defer close(served); _ = s.Serve(ctx, ours, connection) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	session, err := client.Connect(ctx, theirs, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(); cancel(); <-served })
	return session
}

func tool(name, schema string, check bool) toolserver.Tool {
	definition := fmt.Sprintf(`{"name":%q,"inputSchema":%s}`, name, schema)
	return toolserver.Tool{Definition: json.RawMessage(definition), Check: check}
}

const anything = `{"type":"object"}`

func echo(_ context.Context, c toolserver.Call, _ toolserver.Caller) (json.RawMessage, error) {
	text, err := json.Marshal(string(c.Arguments) + string(c.Client))
	return json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`), err
}

func call(t *testing.T, session *mcp.ClientSession, name, args string) (string, bool) {
	t.Helper()
	params := &mcp.CallToolParams{Name: name}
	if args != "" {
		params.Arguments = json.RawMessage(args)
	}
	r, err := session.CallTool(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

func TestToolsAreListedOverPages(t *testing.T) {
	s := toolserver.New("1", echo)
	var tools []toolserver.Tool
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("t%03d", i)
		want = append(want, name)
		tools = append(tools, tool(name, `{"type":"object","description":"`+strings.Repeat("x", 10<<10)+`"}`, false))
	}
	if err := s.Offer(tools); err != nil {
		t.Fatal(err)
	}
	session := connect(t, s, nil)
	var got []string
	pages := 0
	for cursor := ""; ; pages++ {
		page, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range page.Tools {
			got = append(got, tool.Name)
		}
		if cursor = page.NextCursor; cursor == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || pages < 2 {
		t.Errorf("in %d pages (-want +got):\n%s", pages+1, diff)
	}
	for _, cursor := range []string{"0.0", "1.-1", "1.301", "x", "2"} {
		_, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: cursor})
		var rpc *jsonrpc.Error
		if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	}
}

func TestAnotherListIsTold(t *testing.T) {
	s := toolserver.New("1", echo)
	told := make(chan struct{}, 10)
	session := connect(t, s, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- struct{}{} },
	})
	if err := s.Offer([]toolserver.Tool{tool("a", anything, false)}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told:
	case <-time.After(10 * time.Second):
		t.Fatal("no notification came")
	}
	page, err := session.ListTools(t.Context(), nil)
	if err != nil || len(page.Tools) != 1 || page.Tools[0].Name != "a" {
		t.Errorf("%v, %v", page, err)
	}
	for _, bad := range [][]toolserver.Tool{
		{tool("a", anything, false), tool("a", anything, false)},
		{{Definition: json.RawMessage(`{"inputSchema":{}}`)}},
		{{Definition: json.RawMessage(`nonsense`)}},
	} {
		if err := s.Offer(bad); err == nil {
			t.Errorf("%s was taken", bad[0].Definition)
		}
	}
	if page, err := session.ListTools(t.Context(), nil); err != nil || len(page.Tools) != 1 {
		t.Errorf("after refused lists: %v, %v", page, err)
	}
}

func TestArgumentsAreCheckedAndCompleted(t *testing.T) {
	s := toolserver.New("1", echo)
	const schema = `{"type":"object","required":["prompt"],"additionalProperties":false,"properties":{
		"prompt":{"type":"string"},"temperature":{"type":"number","minimum":0,"maximum":1,"default":0.7},
		"model":{"enum":["a","b"],"default":"a"}}}`
	if err := s.Offer([]toolserver.Tool{tool("chat", schema, true), tool("free", schema, false)}); err != nil {
		t.Fatal(err)
	}
	session := connect(t, s, nil)
	for _, tt := range []struct {
		tool, args, want string
		fails            bool
	}{
		{"chat", `{"prompt":"p"}`, `{"model":"a","prompt":"p","temperature":0.7}`, false},
		{"chat", `{"prompt":"p","temperature":0}`, `{"model":"a","prompt":"p","temperature":0}`, false},
		{"chat", `{}`, "Invalid arguments:", true},
		{"chat", ``, "Invalid arguments:", true},
		{"chat", `null`, "Invalid arguments:", true},
		{"chat", `[]`, "Invalid arguments:", true},
		{"chat", `{"prompt":1}`, "Invalid arguments:", true},
		{"chat", `{"prompt":"p","temperature":1.1}`, "Invalid arguments:", true},
		{"chat", `{"prompt":"p","model":"c"}`, "Invalid arguments:", true},
		{"chat", `{"prompt":"p","extra":1}`, "Invalid arguments:", true},
		{"free", `{"id":9007199254740992,"n":-0,"x":0.30000000000000004,"t":"9007199254740993"}`,
			`{"id":9007199254740992,"n":-0,"x":0.30000000000000004,"t":"9007199254740993"}`, false},
		{"free", `{"a":[{"big":12345678901234567890}]}`, "Invalid arguments: 12345678901234567890 has more digits", true},
		{"free", `{"id":9007199254740993}`, "Invalid arguments: 9007199254740993 has more digits", true},
		{"free", ``, `{}`, false},
	} {
		got, fails := call(t, session, tt.tool, tt.args)
		if !strings.HasPrefix(got, tt.want) || fails != tt.fails {
			t.Errorf("%s %s: %q, error %v", tt.tool, tt.args, got, fails)
		}
	}
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "none"}); err == nil {
		t.Error("an unknown tool was called")
	}
}

func TestProgressKeepsItsOrderAndTheClientIsTold(t *testing.T) {
	s := toolserver.New("1", func(_ context.Context, c toolserver.Call, caller toolserver.Caller) (json.RawMessage, error) {
		for i := range 5 {
			caller.Progress(toolserver.Progress{Progress: float64(i), Total: 5, Message: "so far"})
		}
		return echo(context.Background(), c, caller)
	})
	_ = s.Offer([]toolserver.Tool{tool("a", anything, true)})
	seen := make(chan float64, 10)
	onProgress := func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { seen <- r.Params.Progress }
	session := connect(t, s, &mcp.ClientOptions{ProgressNotificationHandler: onProgress})
	params := &mcp.CallToolParams{Name: "a", Meta: mcp.Meta{"portolan/client": map[string]any{"name": "desk"}}}
	params.SetProgressToken("p")
	r, err := session.CallTool(t.Context(), params)
	if err != nil || !strings.Contains(r.Content[0].(*mcp.TextContent).Text, `{"name":"desk"}`) {
		t.Errorf("%v, %v", r, err)
	}
	for i := range 5 {
		if got := <-seen; got != float64(i) {
			t.Errorf("progress %v came as number %d", got, i)
		}
	}
}

func TestFaultsOfOneCallAreItsOwn(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	s := toolserver.New("1", func(ctx context.Context, c toolserver.Call, caller toolserver.Caller) (json.RawMessage, error) {
		switch c.Tool {
		case "panics":
			panic("a secret")
		case "large":
			return json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 2<<20) + `"}]}`), nil
		case "broken":
			return json.RawMessage(`{"content":`), nil
		case "fails":
			return nil, errors.New("the tab was closed (TAB_CLOSED)")
		case "waits":
			close(began)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}
		return echo(ctx, c, caller)
	})
	var tools []toolserver.Tool
	for _, name := range []string{"panics", "large", "broken", "fails", "waits", "good"} {
		tools = append(tools, tool(name, anything, true))
	}
	_ = s.Offer(tools)
	session := connect(t, s, nil)
	for name, want := range map[string]string{
		"panics": "a fault of the extension", "large": "Ask for less", "broken": "cannot be read", "fails": "TAB_CLOSED",
	} {
		got, fails := call(t, session, name, `{}`)
		if !fails || !strings.Contains(got, want) || strings.Contains(got, "a secret") {
			t.Errorf("%s: %q, error %v", name, got, fails)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-began; cancel() }()
	if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "waits"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the cancellation did not arrive")
	}
	if got, fails := call(t, session, "good", `{"a":1}`); fails || !strings.HasPrefix(got, `{"a":1}`) {
		t.Errorf("good: %q", got)
	}
}

func TestAQuestionGoesToTheClientWithItsCall(t *testing.T) {
	s := toolserver.New("1", func(ctx context.Context, _ toolserver.Call, caller toolserver.Caller) (json.RawMessage, error) {
		if _, err := caller.Ask(ctx, "elicitation/create", json.RawMessage(`"nonsense"`)); err == nil {
			return nil, errors.New("nonsense was asked")
		}
		answer, err := caller.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"who?",
			"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`))
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(string(answer))
		return json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`), err
	})
	_ = s.Offer([]toolserver.Tool{tool("a", anything, true)})
	var asked *mcp.ElicitParams
	session := connect(t, s, &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		asked = r.Params
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
	}})
	params := &mcp.CallToolParams{Name: "a", Meta: mcp.Meta{"portolan/call": "tools/call#3"}}
	r, err := session.CallTool(t.Context(), params)
	if err != nil || r.IsError {
		t.Fatalf("%v, %v", r, err)
	}
	got := r.Content[0].(*mcp.TextContent).Text
	if !strings.Contains(got, `"Ada"`) || asked.Message != "who?" || asked.Meta["portolan/call"] != "tools/call#3" {
		t.Errorf("answer %s, asked %+v", got, asked)
	}
}

// Requests about resources and prompts pass with their params and their client, and
// failures become errors of JSON-RPC.
func TestRequestsPassOn(t *testing.T) {
	s := toolserver.New("1", func(ctx context.Context, c toolserver.Call, to toolserver.Caller) (json.RawMessage, error) {
		switch c.Method {
		case "prompts/get":
			if _, err := to.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"Which?","requestedSchema":{"type":"object","properties":{}}}`)); err != nil {
				return nil, err
			}
			return json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":` + string(mustQuote(c.Arguments)) + `}}]}`), nil
		case "resources/read":
			if strings.Contains(string(c.Arguments), "large:") {
				return json.RawMessage(`{"contents":[{"uri":"large:","text":"` + strings.Repeat("a", 2<<20) + `"}]}`), nil
			}
			return json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"none (unknown_resource)"}],"_meta":{"portolan/error":{"code":"unknown_resource"}}}`), nil
		}
		return nil, errors.New("a fault with " + c.Method)
	})
	asked := 0
	session := connect(t, s, &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		asked++
		return &mcp.ElicitResult{Action: "accept"}, nil
	}})
	prompt, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p", Arguments: map[string]string{"a": "1"}})
	if err != nil || asked != 1 {
		t.Fatalf("%v, asked %d times", err, asked)
	}
	if got := prompt.Messages[0].Content.(*mcp.TextContent).Text; got != `{"name":"p","arguments":{"a":"1"}}` && got != `{"arguments":{"a":"1"},"name":"p"}` {
		t.Errorf("params %s", got)
	}
	var rpc *jsonrpc.Error
	if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "a:b"}); !errors.As(err, &rpc) || rpc.Code != -32002 {
		t.Errorf("unknown resource: %v", err)
	}
	_, err = session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "large:"})
	if !errors.As(err, &rpc) || !strings.HasPrefix(rpc.Message, "The answer to resources/read has 2097") ||
		!strings.Contains(rpc.Message, "Ask for a smaller part") || !strings.HasSuffix(rpc.Message, "(too_large)") {
		t.Errorf("too large: %v", err)
	}
	if _, err := session.ListPrompts(t.Context(), nil); !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInternalError || !strings.Contains(rpc.Message, "prompts/list") {
		t.Errorf("a fault: %v", err)
	}
}

func mustQuote(text json.RawMessage) []byte {
	quoted, err := json.Marshal(string(text))
	if err != nil {
		panic(err)
	}
	return quoted
}

func TestChangesAndLogsAreTold(t *testing.T) {
	s := toolserver.New("1", echo)
	heard := make(chan string, 10)
	session := connect(t, s, &mcp.ClientOptions{
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { heard <- "prompts" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { heard <- "resources" },
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			heard <- fmt.Sprint(req.Params.Logger, " ", req.Params.Level, " ", req.Params.Data)
		},
	})
	await := func(want ...string) {
		t.Helper()
		for len(want) > 0 {
			select {
			case got := <-heard:
				want = slices.DeleteFunc(want, func(w string) bool { return w == got })
			case <-time.After(10 * time.Second):
				t.Fatalf("%v did not come", want)
			}
		}
	}
	for range 2 {
		s.Changed()
		await("prompts", "resources")
	}
	if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
		t.Fatal(err)
	}
	s.Log(t.Context(), "files", "info", "calm")
	s.Log(t.Context(), "files", "error", "storm")
	await("files error storm")
}

func TestConnectionsAreServedApart(t *testing.T) {
	s := toolserver.New("1", func(ctx context.Context, c toolserver.Call, caller toolserver.Caller) (json.RawMessage, error) {
		answer, err := caller.Ask(ctx, "elicitation/create",
			json.RawMessage(`{"message":"who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`))
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(fmt.Sprint(c.Connection, " ", string(answer)))
		return json.RawMessage(`{"content":[{"type":"text","text":` + string(text) + `}]}`), err
	})
	told := make(chan int, 10)
	var sessions []*mcp.ClientSession
	for i := 1; i <= 2; i++ {
		name := fmt.Sprint("client", i)
		sessions = append(sessions, connectAs(t, s, &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": name}}, nil
			},
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { told <- i },
		}, i))
	}
	if err := s.Offer([]toolserver.Tool{tool("ask", anything, false)}); err != nil {
		t.Fatal(err)
	}
	for seen := map[int]bool{}; len(seen) < 2; {
		select {
		case i := <-told:
			seen[i] = true
		case <-time.After(10 * time.Second):
			t.Fatalf("only %v learned of the tools", seen)
		}
	}
	for i, session := range sessions {
		text, failed := call(t, session, "ask", "{}")
		if want := fmt.Sprint(i+1, " "); failed || !strings.HasPrefix(text, want) || !strings.Contains(text, fmt.Sprint("client", i+1)) {
			t.Errorf("connection %d: %s", i+1, text)
		}
	}
	if err := sessions[0].Close(); err != nil {
		t.Fatal(err)
	}
	if text, failed := call(t, sessions[1], "ask", "{}"); failed || !strings.HasPrefix(text, "2 ") {
		t.Errorf("after the other connection ended: %s", text)
	}
}

// The bridge of each connection has 64 calls under way, and lets further ones wait.
func TestTheCallsOfOneConnectionKeepNoOtherOut(t *testing.T) {
	const most = 64
	began := make(chan struct{}, most)
	s := toolserver.New("1", func(ctx context.Context, c toolserver.Call, caller toolserver.Caller) (json.RawMessage, error) {
		if c.Connection == 2 {
			return echo(ctx, c, caller)
		}
		began <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if err := s.Offer([]toolserver.Tool{tool("work", anything, false)}); err != nil {
		t.Fatal(err)
	}
	first, second := connectAs(t, s, nil, 1), connectAs(t, s, nil, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for range most {
		calls.Go(func() { _, _ = first.CallTool(ctx, &mcp.CallToolParams{Name: "work"}) })
	}
	for range most {
		<-began
	}
	if text, failed := call(t, first, "work", "{}"); !failed || !strings.HasPrefix(text, "64 calls are under way") {
		t.Errorf("one more: %s", text)
	}
	if text, failed := call(t, second, "work", "{}"); failed {
		t.Errorf("over the other connection: %s", text)
	}
	cancel()
	calls.Wait()
}
