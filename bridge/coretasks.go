package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tasks of protocol version 2025-11-25. The client asks for a task, and its questions and progress come at once.

// A coreTask is the spec's Task.
type coreTask struct {
	ID        string `json:"taskId"`
	Status    string `json:"status"`
	Message   string `json:"statusMessage,omitempty"`
	Created   string `json:"createdAt"`
	Updated   string `json:"lastUpdatedAt"`
	TTL       int64  `json:"ttl"`          // ms
	PollAfter int64  `json:"pollInterval"` // ms
}

// core returns the state of a task. A task whose tool failed has failed.
func (t *task) core() coreTask {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := t.status
	if status == "completed" && failedResult(t.result) {
		status = "failed"
	}
	return coreTask{
		ID: t.id, Status: status, Message: t.message, Created: t.began.UTC().Format(time.RFC3339Nano),
		Updated: t.changed.UTC().Format(time.RFC3339Nano), TTL: t.ttl.Milliseconds(), PollAfter: taskPoll.Milliseconds(),
	}
}

func failedResult(text json.RawMessage) bool {
	var result struct {
		IsError bool `json:"isError"`
	}
	return json.Unmarshal(text, &result) == nil && result.IsError
}

// startCoreTask begins a call as a task, and returns the spec's CreateTaskResult. wish is the param "task".
func (r *relay) startCoreTask(ctx context.Context, s *sender, req *mcp.CallToolRequest, wish json.RawMessage) (mcp.Result, error) {
	if support := r.taskSupport(ctx, req.Params.Name); support != "optional" && support != "required" {
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
	t, err := r.startTask(s, req, ttl, nil, s.caller(req))
	if err != nil {
		return nil, err
	}
	return taskResult(map[string]any{"task": t.core()})
}

// taskParams are the params of the methods about tasks.
type taskParams struct {
	mcp.ParamsBase
	ID      string                     `json:"taskId"`
	Answers map[string]json.RawMessage `json:"inputResponses"` // of tasks/update
}

// serveTasks adds the methods about tasks to the relay's server. Requests of 2026-07-28 do not reach them.
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
	add("tasks/get", func(_ context.Context, t *task) (mcp.Result, error) { return taskResult(t.core()) })
	add("tasks/cancel", func(_ context.Context, t *task) (mcp.Result, error) {
		if !t.end("cancelled", nil, errors.New("the task was cancelled")) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the task has ended: " + t.core().Status}
		}
		t.cancel()
		return taskResult(t.core())
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
			states := []coreTask{}
			for _, t := range r.bridge.tasks.of(own(session)) {
				states = append(states, t.core())
			}
			return taskResult(map[string]any{"tasks": states})
		})
	_ = mcp.AddReceivingCustomMethod(r.server, "tasks/update",
		func(context.Context, *mcp.ServerSession, *taskParams) (mcp.Result, error) {
			return nil, methodNotFound("tasks/update", "before "+modern)
		})
}

func methodNotFound(method, when string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("%q is not offered %s", method, when)}
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
