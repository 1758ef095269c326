package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

// Tasks of protocol version 2025-11-25. The client asks for a task, and its progress comes at once.

// relatedTask is the key in _meta of messages that belong to a task.
const relatedTask = "io.modelcontextprotocol/related-task"

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
	switch {
	case status == "completed" && failedResult(t.result):
		status = "failed"
	case status == "working" && t.asking > 0:
		status = "input_required"
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
	// Without a browser, the task's result says so.
	if support, err := r.taskSupport(ctx, s, req.Params.Name); err == nil && support != "optional" && support != "required" {
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
	add := func(method string, serve func(ctx context.Context, session *mcp.ServerSession, t *task) (mcp.Result, error)) {
		_ = mcp.AddReceivingCustomMethod(r.server, method,
			func(ctx context.Context, session *mcp.ServerSession, params *taskParams) (mcp.Result, error) {
				if params == nil {
					params = &taskParams{}
				}
				t, err := r.bridge.tasks.find(own(session), params.ID)
				if err != nil {
					return nil, err
				}
				return serve(ctx, session, t)
			})
	}
	add("tasks/get", func(_ context.Context, _ *mcp.ServerSession, t *task) (mcp.Result, error) {
		return taskResult(t.core())
	})
	add("tasks/cancel", func(_ context.Context, _ *mcp.ServerSession, t *task) (mcp.Result, error) {
		if !t.end("cancelled", nil, errors.New("the task was cancelled")) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the task has ended: " + t.core().Status}
		}
		t.cancel()
		return taskResult(t.core())
	})
	add("tasks/result", func(ctx context.Context, session *mcp.ServerSession, t *task) (mcp.Result, error) {
		for {
			select {
			case q := <-t.unsent:
				result, err := q.send(ctx, session, t)
				q.answer <- questionAnswer{result, err}
				if undelivered(err) { // the client has left
					return nil, err
				}
				continue
			case <-t.done:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			if t.err != nil {
				return nil, t.err
			}
			return related(t)
		}
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

// An unsent is a question of a task that its client has not got yet.
type unsent struct {
	ctx    context.Context // of the question
	method string
	params json.RawMessage
	answer chan questionAnswer
}

// send asks the client, on the response to the request of ctx if there is one.
func (q unsent) send(ctx context.Context, session *mcp.ServerSession, t *task) (json.RawMessage, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.ctx, cancel)()
	return rawmsg.Ask(ctx, session, q.method, q.params, mcp.Meta{relatedTask: map[string]string{"taskId": t.id}})
}

// undelivered reports whether go-sdk had no stream to the client.
func undelivered(err error) bool {
	var wire *jsonrpc.Error
	return errors.As(err, &wire) && wire.Code == -32005
}

// ask asks the client at once if it has a stream for that, and else on the response to tasks/result. The status of the
// task is input_required until the answer comes.
func (c taskCaller) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if c.task.asks != nil {
		return c.caller.ask(ctx, method, params)
	}
	c.task.ask(1)
	defer c.task.ask(-1)
	q := unsent{ctx, method, params, make(chan questionAnswer)}
	result, err := q.send(ctx, c.session, c.task)
	late := time.After(c.limit)
	for ctx.Err() == nil && (undelivered(err) || errors.Is(err, context.Canceled)) { // or that request was cancelled
		select {
		case c.task.unsent <- q:
			a := <-q.answer
			result, err = a.result, a.err
		case <-late:
			return nil, unanswered(errors.New("it took too long"))
		case <-ctx.Done():
		}
	}
	if err != nil {
		err = unanswered(err)
	}
	return result, err
}

// ask counts the open questions of a task.
func (t *task) ask(by int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asking += by
	t.changed = time.Now()
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
	meta[relatedTask] = encoded(map[string]string{"taskId": t.id})
	result["_meta"] = encoded(meta)
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
