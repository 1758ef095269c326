package bridge

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

// Tasks of protocol version 2025-11-25: a client begins a call of a tool, and fetches the
// result later. The bridge keeps them, so the extension sees ordinary calls.

// Bounds on tasks. A client that asks for a longer time gets the longest.
const (
	maxTasks      = 50  // of one session
	maxAllTasks   = 256 // of all; the oldest that has ended makes room
	usualTaskTime = time.Hour
	maxTaskTime   = 24 * time.Hour
	taskPoll      = 2 * time.Second
)

// metaTask carries the param "task" of tools/call, which go-sdk's type lacks.
const metaTask = "portolan/task"

// A task is a call whose client does not wait for it.
type task struct {
	id      string
	session string
	began   time.Time
	ttl     time.Duration
	cancel  context.CancelFunc
	done    chan struct{} // closed at the end

	mu      sync.Mutex
	status  string // of the spec: working, completed, failed or cancelled
	changed time.Time
	result  json.RawMessage
	err     error
}

// tasks are the tasks of all clients. The zero value is ready.
type tasks struct {
	mu  sync.Mutex
	all map[string]*task // by id
}

// taskState is the spec's Task.
type taskState struct {
	ID        string `json:"taskId"`
	Status    string `json:"status"`
	Created   string `json:"createdAt"`
	Updated   string `json:"lastUpdatedAt"`
	TTL       int64  `json:"ttl"`          // ms
	PollAfter int64  `json:"pollInterval"` // ms
}

func (t *task) state() taskState {
	t.mu.Lock()
	defer t.mu.Unlock()
	return taskState{
		ID: t.id, Status: t.status, Created: t.began.UTC().Format(time.RFC3339Nano),
		Updated: t.changed.UTC().Format(time.RFC3339Nano), TTL: t.ttl.Milliseconds(), PollAfter: taskPoll.Milliseconds(),
	}
}

// end ends a task once. It reports whether the task was under way.
func (t *task) end(status string, result json.RawMessage, err error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.status != "working" {
		return false
	}
	t.status, t.result, t.err, t.changed = status, result, err, time.Now()
	close(t.done)
	return true
}

// begin adds a task of a session.
func (ts *tasks) begin(session string, ttl time.Duration, cancel context.CancelFunc) (*task, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	own := 0
	for id, t := range ts.all {
		if time.Since(t.began) > t.ttl {
			t.cancel()
			delete(ts.all, id)
		} else if t.session == session {
			own++
		}
	}
	if own >= maxTasks {
		return nil, fmt.Errorf("%d tasks of this client are kept; wait until their time is over", maxTasks)
	}
	if len(ts.all) >= maxAllTasks && !ts.makeRoom() {
		return nil, fmt.Errorf("%d tasks are under way; try again when one has ended", maxAllTasks)
	}
	if ts.all == nil {
		ts.all = make(map[string]*task)
	}
	now := time.Now()
	t := &task{
		id: rand.Text(), session: session, began: now, changed: now, ttl: ttl, cancel: cancel,
		done: make(chan struct{}), status: "working",
	}
	ts.all[t.id] = t
	return t, nil
}

// makeRoom removes the oldest task that has ended. The caller holds mu.
func (ts *tasks) makeRoom() bool {
	var oldest *task
	for _, t := range ts.all {
		if t.state().Status != "working" && (oldest == nil || t.began.Before(oldest.began)) {
			oldest = t
		}
	}
	if oldest != nil {
		delete(ts.all, oldest.id)
	}
	return oldest != nil
}

// leave removes the tasks of a session that has ended.
func (ts *tasks) leave(session string) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for id, t := range ts.all {
		if t.session == session {
			t.cancel()
			delete(ts.all, id)
		}
	}
}

// find returns a task of a session.
func (ts *tasks) find(session, id string) (*task, error) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t := ts.all[id]; t != nil && t.session == session && time.Since(t.began) <= t.ttl {
		return t, nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no such task of this client any more"}
}

// list returns the tasks of a session, the oldest first.
func (ts *tasks) list(session string) []taskState {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	out := []taskState{}
	for _, t := range ts.all {
		if t.session == session {
			out = append(out, t.state())
		}
	}
	slices.SortFunc(out, func(a, b taskState) int { return strings.Compare(a.Created+a.ID, b.Created+b.ID) })
	return out
}

// startTask begins a call as a task, and returns the spec's CreateTaskResult.
func (r *relay) startTask(ctx context.Context, s *sender, req *mcp.CallToolRequest, wish json.RawMessage) (mcp.Result, error) {
	if !r.takesTasks(ctx, req.Params.Name) {
		message := fmt.Sprintf("%q cannot be called as a task", req.Params.Name)
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: message}
	}
	var given struct {
		TTL *float64 `json:"ttl"`
	}
	ttl := usualTaskTime
	if json.Unmarshal(wish, &given) == nil && given.TTL != nil && *given.TTL > 0 {
		ttl = time.Duration(min(*given.TTL, float64(maxTaskTime.Milliseconds()))) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ttl)
	t, err := r.bridge.tasks.begin(s.key, ttl, cancel)
	if err != nil {
		cancel()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	go func() {
		defer cancel()
		defer func() {
			if recover() != nil {
				t.end("failed", nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "a fault of the bridge"})
			}
		}()
		result, err := r.call(ctx, s, req, s.caller(req))
		var text json.RawMessage
		if err == nil {
			text, err = json.Marshal(result)
		}
		switch {
		case err != nil:
			t.end("failed", nil, err)
		case failedResult(text):
			t.end("failed", text, nil)
		default:
			t.end("completed", text, nil)
		}
	}()
	return taskResult(map[string]any{"task": t.state()})
}

// takesTasks reports whether the extension says that a tool may be called as a task.
func (r *relay) takesTasks(ctx context.Context, tool string) bool {
	l, err := r.bridge.await(ctx, r.profile)
	if err != nil {
		return false
	}
	text, _ := l.listed()
	var list struct {
		Tools []struct {
			Name      string `json:"name"`
			Execution struct {
				TaskSupport string `json:"taskSupport"`
			} `json:"execution"`
		} `json:"tools"`
	}
	if json.Unmarshal(text, &list) != nil {
		return false
	}
	for _, t := range list.Tools {
		if t.Name == tool {
			return t.Execution.TaskSupport == "optional" || t.Execution.TaskSupport == "required"
		}
	}
	return false
}

func failedResult(text json.RawMessage) bool {
	var result struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(text, &result) == nil && result.IsError
}

func taskResult(value any) (mcp.Result, error) {
	text, err := json.Marshal(value)
	return &rawmsg.Result{Text: text}, err
}

// taskParams are the params of the methods about tasks.
type taskParams struct {
	mcp.ParamsBase
	ID string `json:"taskId"`
}

// serveTasks adds the methods about tasks to the relay's server.
func (r *relay) serveTasks() {
	own := func(session *mcp.ServerSession) string { return r.id + session.ID() }
	add := func(method string, serve func(ctx context.Context, t *task) (mcp.Result, error)) {
		_ = mcp.AddReceivingCustomMethod(r.server, method,
			func(ctx context.Context, session *mcp.ServerSession, params *taskParams) (mcp.Result, error) {
				if params == nil {
					params = &taskParams{}
				}
				t, err := r.bridge.tasks.find(own(session), params.ID)
				if err != nil {
					return nil, err
				}
				return serve(ctx, t)
			})
	}
	add("tasks/get", func(_ context.Context, t *task) (mcp.Result, error) { return taskResult(t.state()) })
	add("tasks/cancel", func(_ context.Context, t *task) (mcp.Result, error) {
		if !t.end("cancelled", nil, errors.New("the task was cancelled")) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the task has ended: " + t.state().Status}
		}
		t.cancel()
		return taskResult(t.state())
	})
	add("tasks/result", func(ctx context.Context, t *task) (mcp.Result, error) {
		select {
		case <-t.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if t.err != nil {
			return nil, t.err
		}
		return related(t)
	})
	_ = mcp.AddReceivingCustomMethod(r.server, "tasks/list",
		func(_ context.Context, session *mcp.ServerSession, _ *taskParams) (mcp.Result, error) {
			return taskResult(map[string]any{"tasks": r.bridge.tasks.list(own(session))})
		})
}

// related returns the result of a task, whose _meta names it.
func related(t *task) (mcp.Result, error) {
	var result, meta map[string]json.RawMessage
	if err := json.Unmarshal(t.result, &result); err != nil {
		return nil, err
	}
	if json.Unmarshal(result["_meta"], &meta) != nil || meta == nil {
		meta = make(map[string]json.RawMessage)
	}
	meta["io.modelcontextprotocol/related-task"], _ = json.Marshal(map[string]string{"taskId": t.id})
	result["_meta"], _ = json.Marshal(meta)
	return taskResult(result)
}

// announceTasks adds the capability to a result of initialize.
func announceTasks(init *mcp.InitializeResult) (mcp.Result, error) {
	text, err := json.Marshal(init)
	if err != nil {
		return nil, err
	}
	var result, capabilities map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(text, &result), json.Unmarshal(result["capabilities"], &capabilities)); err != nil {
		return nil, err
	}
	capabilities["tasks"] = json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`)
	if result["capabilities"], err = json.Marshal(capabilities); err != nil {
		return nil, err
	}
	return taskResult(result)
}

// withTask moves the param "task" of tools/call into _meta, where it passes go-sdk. The
// methods about tasks get params, because go-sdk's custom methods fail without them. What is
// no such request comes back unchanged.
func withTask(method string, params json.RawMessage) json.RawMessage {
	if strings.HasPrefix(method, "tasks/") && (len(params) == 0 || string(params) == "null") {
		return json.RawMessage(`{}`)
	}
	if method != "tools/call" || !bytes.Contains(params, []byte(`"task"`)) {
		return params
	}
	var all, meta map[string]json.RawMessage
	if json.Unmarshal(params, &all) != nil || all["task"] == nil {
		return params
	}
	if json.Unmarshal(all["_meta"], &meta) != nil || meta == nil {
		meta = make(map[string]json.RawMessage)
	}
	meta[metaTask] = all["task"]
	delete(all, "task")
	text, err := json.Marshal(meta)
	if err != nil {
		return params
	}
	all["_meta"] = text
	if text, err = json.Marshal(all); err != nil {
		return params
	}
	return text
}

// withTaskBody does the same with the body of a request over HTTP.
func withTaskBody(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"task`)) {
		return body
	}
	var message map[string]json.RawMessage
	var method string
	if json.Unmarshal(body, &message) != nil || json.Unmarshal(message["method"], &method) != nil {
		return body
	}
	params := withTask(method, message["params"])
	if params == nil || bytes.Equal(params, message["params"]) {
		return body
	}
	message["params"] = params
	if text, err := json.Marshal(message); err == nil {
		return text
	}
	return body
}
