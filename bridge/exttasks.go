package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tasks extension of 2026-07-28 (SEP-2663). The bridge makes a task of each call of a tool that may be one, if the
// client declares the extension. The client polls, and gets questions and the result with the state.

const tasksExtension = "io.modelcontextprotocol/tasks"

// An extTask is the extension's Task and its derived shapes.
type extTask struct {
	Kind      string              `json:"resultType"`
	ID        string              `json:"taskId"`
	Status    string              `json:"status"`
	Message   string              `json:"statusMessage,omitempty"`
	Created   string              `json:"createdAt"`
	Updated   string              `json:"lastUpdatedAt"`
	TTL       int64               `json:"ttlMs"`
	PollAfter int64               `json:"pollIntervalMs"`
	Requests  mcp.InputRequestMap `json:"inputRequests,omitempty"`
	Result    json.RawMessage     `json:"result,omitempty"`
	Error     *jsonrpc.Error      `json:"error,omitempty"`
}

// extended returns the state of a task, with its questions, result or error.
func (t *task) extended() extTask {
	var requests mcp.InputRequestMap
	if t.asks != nil {
		requests = t.asks.requests()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	out := extTask{
		Kind: "complete", ID: t.id, Status: t.status, Message: t.message, Created: t.began.UTC().Format(time.RFC3339Nano),
		Updated: t.changed.UTC().Format(time.RFC3339Nano), TTL: t.ttl.Milliseconds(), PollAfter: taskPoll.Milliseconds(),
	}
	switch {
	case t.status == "working" && len(requests) > 0:
		out.Status, out.Requests = "input_required", requests
	case t.status == "completed":
		out.Result = t.result
	case t.status == "failed":
		out.Message = t.err.Error()
		if !errors.As(t.err, &out.Error) {
			out.Error = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: t.err.Error()}
		}
	}
	return out
}

// knowsTasks reports whether a client declares the extension.
func (s *sender) knowsTasks() bool {
	_, ok := s.can.Extensions[tasksExtension]
	return ok
}

// needsTasks is the error of a request that only clients with the extension may make.
func needsTasks() error {
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the request needs the client capability " + tasksExtension,
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + tasksExtension + `":{}}}}`),
	}
}

// withTasks returns a server's capabilities with the extension.
func withTasks(can *mcp.ServerCapabilities) *mcp.ServerCapabilities {
	own := *can
	own.Extensions = maps.Clone(can.Extensions)
	own.AddExtension(tasksExtension, nil)
	return &own
}

// startExtTask begins a call as a task, if its tool may be one. It returns nil if the call is to be made at once.
func (r *relay) startExtTask(ctx context.Context, s *sender, req *mcp.CallToolRequest) (mcp.Result, error) {
	support, _ := r.taskSupport(ctx, s, req.Params.Name) // without a browser, the call says so
	switch {
	case support != "optional" && support != "required", support == "optional" && !s.knowsTasks():
		return nil, nil
	case !s.knowsTasks():
		return nil, needsTasks()
	}
	asks := newQuestions(s.can.Elicitation)
	t, err := r.startTask(s, req, usualTaskTime, asks, absent{asks: asks, limit: r.bridge.rounds.limit()})
	if err != nil {
		return nil, err
	}
	state := t.extended()
	state.Kind, state.Status, state.Requests, state.Result, state.Error = "task", "working", nil, nil, nil
	return taskResult(state)
}

// serveExtTask answers a request about a task.
func (r *relay) serveExtTask(s *sender, method string, params *taskParams) (mcp.Result, error) {
	switch method {
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return nil, methodNotFound(method, "in "+modern)
	}
	if !s.knowsTasks() {
		return nil, needsTasks()
	}
	if params == nil {
		params = &taskParams{}
	}
	t, err := r.bridge.tasks.find(s.key, params.ID)
	if err != nil {
		return nil, err
	}
	switch method {
	case "tasks/get":
		return taskResult(t.extended())
	case "tasks/cancel":
		t.end("cancelled", nil, nil)
		t.cancel()
	case "tasks/update":
		answers := make(mcp.InputResponseMap)
		for id, text := range params.Answers {
			var a mcp.ElicitResult
			if json.Unmarshal(text, &a) == nil && a.Action != "" {
				answers[id] = &a
			}
		}
		if t.asks != nil {
			t.asks.give(s.can.Elicitation, answers)
		}
	}
	return taskResult(struct{}{})
}

// An absent client is asked when it polls. It gets no progress and no log messages of its own.
type absent struct {
	noCaller
	asks  *questions
	limit time.Duration // for an answer
}

// ask waits for the answer within the limit.
func (c absent) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	limited, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	result, err := c.asks.ask(limited, method, params)
	if limited.Err() != nil && ctx.Err() == nil {
		err = unanswered(errors.New("it took too long"))
	}
	return result, err
}
