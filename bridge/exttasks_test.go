package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

//lint:file-ignore SA1019 roots belong to the versions that the bridge speaks

// lasting returns an extension some of whose tools may be tasks, and one of which must be.
func lasting() *extension {
	e := asking()
	e.server.AddTool(&mcp.Tool{Name: "broken", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return nil, &jsonrpc.Error{Code: -32050, Message: "sunk"}
		})
	support := map[string]string{"quiz": "optional", "wait": "optional", "count": "required", "broken": "optional"}
	e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, req)
			list, ok := result.(*mcp.ListToolsResult)
			if err != nil || !ok {
				return result, err
			}
			var tools []map[string]any
			for _, tool := range list.Tools {
				tools = append(tools, map[string]any{
					"name": tool.Name, "inputSchema": tool.InputSchema, "execution": map[string]string{"taskSupport": support[tool.Name]},
				})
			}
			text, err := json.Marshal(map[string]any{"tools": tools})
			return &rawmsg.Result{Text: text}, err
		}
	})
	return e
}

// A rawClient sends requests of 2026-07-28 as they are.
type rawClient struct {
	name string
	can  string // its capabilities
	send func(t *testing.T, method string, body []byte) []byte
}

const knowsTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

func (c rawClient) request(t *testing.T, method string, params map[string]any) (map[string]any, *jsonrpc.Error) {
	t.Helper()
	params["_meta"] = map[string]any{
		mcp.MetaKeyProtocolVersion: modern, mcp.MetaKeyClientCapabilities: json.RawMessage(c.can),
		mcp.MetaKeyClientInfo: map[string]string{"name": c.name, "version": "1"},
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result map[string]any
		Error  *jsonrpc.Error
	}
	text := c.send(t, method, body)
	if err := json.Unmarshal(text, &answer); err != nil {
		t.Fatalf("%s: %s", method, text)
	}
	return answer.Result, answer.Error
}

// state asks for a task until its status is none of those given.
func (c rawClient) state(t *testing.T, id any, not ...string) map[string]any {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		state, err := c.request(t, "tasks/get", map[string]any{"taskId": id})
		if err != nil || state["resultType"] != "complete" || state["taskId"] != id {
			t.Fatalf("tasks/get: %v, %v", state, err)
		}
		if status, _ := state["status"].(string); !strings.Contains(strings.Join(not, " "), status) {
			return state
		}
		if time.Now().After(deadline) {
			t.Fatalf("the task stays so: %v", state)
		}
	}
}

func rawHTTP(t *testing.T, b *bridge.Bridge, name, can string) rawClient {
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return rawClient{name, can, func(t *testing.T, method string, body []byte) []byte {
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+b.Addr()+"/mcp", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		var target struct {
			Params struct{ Name, TaskID string }
		}
		if err := json.Unmarshal(body, &target); err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": modern,
			"Mcp-Method": method, "Mcp-Name": target.Params.Name + target.Params.TaskID, "Authorization": "Bearer " + token,
		} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var text bytes.Buffer
		if _, err := text.ReadFrom(res.Body); err != nil {
			t.Fatal(err)
		}
		if _, after, ok := strings.Cut(text.String(), "data: "); ok {
			return []byte(after)
		}
		return text.Bytes()
	}}
}

func rawStdio(t *testing.T, b *bridge.Bridge, name, can string) (rawClient, func()) {
	transport, end := overStdio(t, b, "")
	c, err := transport.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rawClient{name, can, func(t *testing.T, _ string, body []byte) []byte {
		m, err := jsonrpc.DecodeMessage(body)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		for {
			m, err := c.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, ok := m.(*jsonrpc.Response); ok {
				text, err := jsonrpc.EncodeMessage(m)
				if err != nil {
					t.Fatal(err)
				}
				return text
			}
		}
	}}, end
}

// listed waits until the bridge has the extension's tools.
func listed(t *testing.T, b *bridge.Bridge) {
	newDesktopOf(t, modern, overHTTP(t, b, ""), nil).names(t, true)
}

func begun(t *testing.T, c rawClient, tool string) any {
	t.Helper()
	params := map[string]any{"name": tool, "arguments": map[string]any{"text": tool}}
	state, err := c.request(t, "tools/call", params)
	if err != nil || state["resultType"] != "task" || state["status"] != "working" || state["ttlMs"] != 3600000.0 {
		t.Fatalf("%s: %v, %v", tool, state, err)
	}
	return state["taskId"]
}

// S9: a long tool is a task for a client with the extension of 2026-07-28, over HTTP and stdio.
func TestExtensionTasks(t *testing.T) {
	b := start(t, nil)
	e := lasting()
	e.pair(t, b)
	e.connect(t, b)
	listed(t, b)
	overStdio, end := rawStdio(t, b, "own", knowsTasks)
	defer end()
	for kind, c := range map[string]rawClient{"HTTP": rawHTTP(t, b, "own", knowsTasks), "stdio": overStdio} {
		t.Run(kind, func(t *testing.T) {
			found, wrong := c.request(t, "server/discover", map[string]any{})
			text, _ := json.Marshal(found["capabilities"])
			if wrong != nil || !strings.Contains(string(text), `"extensions":{"io.modelcontextprotocol/tasks":{}}`) {
				t.Errorf("discover: %s, %v", text, wrong)
			}
			// Questions, and the result.
			id := begun(t, c, "quiz")
			for n := range 2 {
				state := c.state(t, id, "working")
				requests, _ := state["inputRequests"].(map[string]any)
				if state["status"] != "input_required" || len(requests) != 1 {
					t.Fatalf("question %d: %v", n, state)
				}
				answers := map[string]any{"unknown": map[string]any{"ignored": true}}
				for round := range 2 { // the first update has no answer
					if round == 1 {
						for key := range requests {
							answers[key] = map[string]any{"action": "accept", "content": map[string]any{"name": key}}
						}
					}
					if done, err := c.request(t, "tasks/update", map[string]any{"taskId": id, "inputResponses": answers}); err != nil ||
						done["resultType"] != "complete" || done["status"] != nil {
						t.Fatalf("update: %v, %v", done, err)
					}
				}
				for state := range requests { // an answered question does not come again
					for deadline := time.Now().Add(patience); ; {
						next := c.state(t, id)
						if open, _ := next["inputRequests"].(map[string]any); open[state] == nil {
							break
						} else if time.Now().After(deadline) {
							t.Fatal("the question stays open")
						}
					}
				}
			}
			state := c.state(t, id, "working")
			text, _ = json.Marshal(state["result"])
			if state["status"] != "completed" || !strings.Contains(string(text), "accept question-1, accept question-2") {
				t.Errorf("quiz: %v", state)
			}
			if strings.Contains(string(text), "related-task") || state["statusMessage"] != "asking" {
				t.Errorf("the end has %v", state)
			}
			// An error of the protocol.
			state = c.state(t, begun(t, c, "broken"), "working")
			if failed, _ := state["error"].(map[string]any); state["status"] != "failed" || failed["code"] != -32050.0 || state["result"] != nil {
				t.Errorf("broken: %v", state)
			}
			// A tool that must be a task has one, and its progress.
			state = c.state(t, begun(t, c, "count"), "working")
			if state["status"] != "completed" || state["statusMessage"] != "count" {
				t.Errorf("count: %v", state)
			}
			// The client cancels, and may do so again.
			id = begun(t, c, "wait")
			next(t, e.waiting)
			for range 2 {
				if done, err := c.request(t, "tasks/cancel", map[string]any{"taskId": id}); err != nil || done["resultType"] != "complete" {
					t.Fatalf("cancel: %v, %v", done, err)
				}
			}
			next(t, e.cancelled)
			if state := c.state(t, id); state["status"] != "cancelled" {
				t.Errorf("after cancel: %v", state)
			}
			// The task belongs to its client.
			for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
				if _, err := rawHTTP(t, b, "foreign", knowsTasks).request(t, method, map[string]any{"taskId": id}); err == nil || err.Code != jsonrpc.CodeInvalidParams {
					t.Errorf("%s of a foreign client: %v", method, err)
				}
			}
			for _, method := range []string{"tasks/list", "tasks/result"} {
				if _, err := c.request(t, method, map[string]any{"taskId": id}); err == nil || err.Code != jsonrpc.CodeMethodNotFound {
					t.Errorf("%s: %v", method, err)
				}
			}
		})
	}
}

// The bridge's own results have what 2026-07-28 requires.
func TestResultsBeforeAPairing(t *testing.T) {
	c := rawHTTP(t, start(t, nil), "early", `{}`)
	list, err := c.request(t, "tools/list", map[string]any{})
	tools, _ := list["tools"].([]any)
	if err != nil || list["resultType"] != "complete" || list["cacheScope"] != "private" || list["ttlMs"] != 0.0 || len(tools) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	for name, fails := range map[string]any{"portolan_pair": nil, "bookmark_get": true} {
		result, err := c.request(t, "tools/call", map[string]any{"name": name})
		if err != nil || result["resultType"] != "complete" || result["isError"] != fails || result["content"] == nil {
			t.Errorf("%s: %v, %v", name, result, err)
		}
	}
}

// S9: a client that does not declare the extension gets no task, and may ask for none.
func TestExtensionTasksNeedTheCapability(t *testing.T) {
	b := start(t, nil)
	e := lasting()
	e.pair(t, b)
	e.connect(t, b)
	listed(t, b)
	c := rawHTTP(t, b, "plain", `{}`)
	if result, err := c.request(t, "tools/call", map[string]any{"name": "broken"}); err == nil || err.Code != -32050 {
		t.Errorf("a tool that may be a task is called at once: %v, %v", result, err)
	}
	for method, params := range map[string]map[string]any{
		"tools/call": {"name": "count"}, "tasks/get": {"taskId": "a"}, "tasks/update": {"taskId": "a"}, "tasks/cancel": {"taskId": "a"},
		"subscriptions/listen": {"notifications": map[string]any{"taskIds": []string{"a"}}},
	} {
		_, err := c.request(t, method, params)
		if err == nil || err.Code != mcp.CodeMissingRequiredClientCapabilities || !strings.Contains(string(err.Data), "io.modelcontextprotocol/tasks") {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// S9: tasks end with their session, and with the bridge.
func TestExtensionTasksEnd(t *testing.T) {
	checkLeaks(t)
	b, stop := run(t, nil)
	e := lasting()
	e.pair(t, b)
	e.connect(t, b)
	listed(t, b)
	c, end := rawStdio(t, b, "short", knowsTasks)
	begun(t, c, "wait")
	next(t, e.waiting)
	end()
	next(t, e.cancelled)
	begun(t, rawHTTP(t, b, "long", knowsTasks), "wait")
	next(t, e.waiting)
	stop()
	next(t, e.cancelled)
}

// S9: a question that the client does not answer in time ends with an error, and the call goes on.
func TestAQuestionOfATaskExpires(t *testing.T) {
	b := start(t, nil)
	b.SetPause(20 * time.Millisecond)
	e := lasting()
	e.pair(t, b)
	e.connect(t, b)
	listed(t, b)
	c := rawHTTP(t, b, "slow", knowsTasks)
	state := c.state(t, begun(t, c, "quiz"), "working", "input_required")
	text, _ := json.Marshal(state)
	if state["status"] != "failed" || !strings.Contains(string(text), "the client did not answer: it took too long") {
		t.Errorf("%s", text)
	}
}

// A task of 2025-11-25 asks its client after the request that began it has ended.
func TestATaskOverHTTPAsksItsClient(t *testing.T) {
	b := start(t, nil)
	e := lasting()
	e.pair(t, b)
	e.connect(t, b)
	listed(t, b)
	asked := make(chan string, 1)
	client := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- req.Params.Message
			return namer(ctx, req)
		},
	})
	client.AddRoots(&mcp.Root{URI: "file:///home/ann/harbour"})
	session, err := client.Connect(t.Context(), overHTTP(t, b, ""), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	d := &desktop{ClientSession: session, changed: make(chan struct{}, 100)}
	if _, err := d.CallTool(t.Context(), &mcp.CallToolParams{
		Meta: mcp.Meta{"portolan/task": map[string]any{}}, Name: "quiz", Arguments: map[string]any{"text": "name"},
	}); err != nil {
		t.Fatal(err)
	}
	next(t, asked)
	if got := d.who(t); got != [2]string{"1 harbour", "harbour"} {
		t.Errorf("after a task the client is %q", got)
	}
}

// The params of the methods about tasks of 2025-11-25, and what the test reads of their results. go-sdk lacks them.
type coreParams struct {
	mcp.ParamsBase
	ID string `json:"taskId"`
}

type coreResult struct {
	mcp.ResultBase
	Tasks []struct {
		ID     string `json:"taskId"`
		Status string `json:"status"`
	} `json:"tasks"`
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

// Without a standalone stream, a task of 2025-11-25 asks its client on the response to tasks/result.
func TestATaskAsksOnTheResponseToTasksResult(t *testing.T) {
	b := start(t, nil)
	e := lasting()
	e.pair(t, b)
	e.connect(t, b)
	listed(t, b)
	related := make(chan string, 2)
	client := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			related <- fmt.Sprint(req.Params.Meta["io.modelcontextprotocol/related-task"])
			return namer(ctx, req)
		},
	})
	for _, method := range []string{"tasks/list", "tasks/result"} {
		if err := mcp.AddSendingCustomMethod[*coreParams, *coreResult](client, method); err != nil {
			t.Fatal(err)
		}
	}
	transport := overHTTP(t, b, "").(*mcp.StreamableClientTransport)
	transport.DisableStandaloneSSE = true
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{
		Meta: mcp.Meta{"portolan/task": map[string]any{}}, Name: "quiz", Arguments: map[string]any{"text": "name"},
	}); err != nil {
		t.Fatal(err)
	}
	ask := func(method, id string) *coreResult {
		t.Helper()
		got, err := mcp.CallCustomMethod[*coreParams, *coreResult](t.Context(), session, method, &coreParams{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	tasks := ask("tasks/list", "").Tasks
	for deadline := time.Now().Add(patience); len(tasks) == 1 && tasks[0].Status == "working"; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the task does not ask")
		}
		tasks = ask("tasks/list", "").Tasks
	}
	if len(tasks) != 1 || tasks[0].Status != "input_required" {
		t.Fatalf("tasks %v", tasks)
	}
	result := ask("tasks/result", tasks[0].ID)
	if len(result.Content) != 1 || result.Content[0].Text != "accept to question 0, accept to question 1" {
		t.Errorf("the result is %v", result.Content)
	}
	for range 2 {
		if got := next(t, related); got != "map[taskId:"+tasks[0].ID+"]" {
			t.Errorf("the question belongs to the task %s", got)
		}
	}
}
