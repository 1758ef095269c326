package client

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// tasksExtension is the extension by which a server of 2026-07-28 may answer a call with a task.
const tasksExtension = `"io.modelcontextprotocol/tasks":{}`

// A task is what a server made of a call: the client asks for its state until it has a
// result (2025-11-25, basic/utilities/tasks; from 2026-07-28 on the extension tasks).
type task struct {
	inputs
	id       string
	polls    int
	failures int           // requests without an answer, in a row
	changed  chan struct{} // gets one at a time when the server reports a change; nil until it is asked to
}

func (s *Session) task(r *rpc, id string) *task {
	return &task{inputs: inputs{s: s, r: r, left: maxRounds, answered: map[string]bool{}}, id: id}
}

// The bounds of a task: its id and its first state in bytes, the time between two polls, and polls without an
// answer in a row.
const (
	maxTaskID      = 1 << 10
	maxTaskState   = 16 << 10
	minPoll        = 500 * time.Millisecond
	maxPoll        = time.Minute
	maxPollFailure = 5
	maxWoken       = 64 // tasks whose changes a session has reported
)

// begunTask returns a task as the output of a detached call.
func (s *Session) begunTask(state []byte) (*registry.ToolOutput, error) {
	if id := rawjson.Text(state, "taskId"); id == "" || len(id) > maxTaskID || len(state) > maxTaskState {
		return nil, registry.Because(registry.ErrProtocol, "the task has no id")
	}
	return &registry.ToolOutput{Task: slices.Clone(state)}, nil
}

// FollowTask implements [registry.Tasker].
func (s *Session) FollowTask(ctx context.Context, taskID string, call registry.ToolCall) (*registry.ToolOutput, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	r := &rpc{op: OpCall, call: call.ID, method: "tasks/get", progress: call.OnProgress, asking: call.OnAsk}
	t := s.task(r, taskID)
	for {
		e, err := t.poll(ctx, OpTask)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
			if !pause(ctx, minPoll<<t.failures) {
				return nil, context.Cause(ctx)
			}
		case e.Kind == Output:
			return s.output(e), nil
		default:
			return t.follow(ctx, rawjson.Get([]byte(e.Text), "result"))
		}
	}
}

// CancelTask implements [registry.Tasker].
func (s *Session) CancelTask(ctx context.Context, taskID string) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	t := s.task(&rpc{}, taskID)
	_, err := t.send(ctx, OpOther, "tasks/cancel", nil)
	return forgotten(err)
}

// forgotten reads the error of tasks/get or tasks/cancel: invalid params means that the server
// does not know the task (2025-11-25, basic/utilities/tasks, protocol errors). The error of
// tasks/result may be that of the call itself.
func forgotten(err error) error {
	if rpc, ok := errors.AsType[*registry.RPCError](err); ok && rpc.Code == codeInvalidParams {
		return registry.Because(registry.ErrGone, "the server does not know the task: "+rpc.Message)
	}
	return err
}

// followTask waits for the result of a task whose first state is given.
func (s *Session) followTask(ctx context.Context, r *rpc, state []byte) (*registry.ToolOutput, error) {
	t := s.task(r, rawjson.Text(state, "taskId"))
	if t.id == "" || len(t.id) > maxTaskID {
		return nil, registry.Because(registry.ErrProtocol, "the task has no id")
	}
	output, err := t.follow(ctx, state)
	if ctx.Err() != nil {
		t.cancel()
	}
	if lost, ok := err.(*expiredError); ok { // which promises that the call has not run
		err = registry.Because(registry.ErrNetwork, lost.Error())
	}
	return output, err
}

func (t *task) follow(ctx context.Context, state []byte) (*registry.ToolOutput, error) {
	defer t.s.forgetTask(t.id)
	for {
		t.report(state)
		op := OpTask
		switch status := rawjson.Text(state, "status"); {
		case status == "working":
		case status == "input_required" && t.s.modern:
			if err := t.update(ctx, rawjson.Get(state, "inputRequests")); err != nil {
				return nil, err
			}
		case !t.s.modern && (status == "input_required" || status == "completed" || status == "failed"):
			op = OpCall // whose response waits for the result, and on whose stream the server asks
		case status == "failed":
			if rpc := rpcError(state); rpc != nil {
				return nil, t.s.d.redactRPC(rpc)
			}
			return nil, t.ended("the task failed", state)
		case status == "cancelled":
			return nil, t.ended("the server cancelled the task", state)
		default:
			return nil, registry.Because(registry.ErrProtocol, "the task has no valid status")
		}
		if (op == OpTask || t.failures > 0) && !t.wait(ctx, t.interval(state)) {
			return nil, context.Cause(ctx)
		}
		e, err := t.poll(ctx, op)
		switch {
		case err != nil:
			return nil, err
		case e == nil: // it is asked again
		case e.Kind == Output:
			return t.s.output(e), nil
		case op == OpCall:
			return nil, registry.Because(registry.ErrProtocol, "the answer to tasks/result is not a result")
		default:
			state = rawjson.Get([]byte(e.Text), "result")
			if id := rawjson.Text(state, "taskId"); id != t.id {
				return nil, registry.Because(registry.ErrProtocol, "the answer to tasks/get is about another task")
			}
		}
	}
}

// wait waits until the next poll. A change that the server reports (notifications/tasks; until
// 2025-11-25 notifications/tasks/status) ends a long wait.
func (t *task) wait(ctx context.Context, interval time.Duration) bool {
	if interval <= 2*minPoll {
		return pause(ctx, interval)
	}
	if t.changed == nil {
		t.changed = t.s.heedTask(t.id)
	}
	return pause(ctx, minPoll) && await(ctx, interval-2*minPoll, t.changed) == nil
}

// heedTask has the server report changes of a task.
func (s *Session) heedTask(id string) chan struct{} {
	changed := make(chan struct{}, 1)
	s.mu.Lock()
	listen := s.modern && len(s.woken) < maxWoken
	if len(s.woken) < maxWoken {
		s.woken[id] = changed
	}
	s.mu.Unlock()
	if listen {
		s.listenAgain()
	}
	return changed
}

func (s *Session) forgetTask(id string) {
	s.mu.Lock()
	delete(s.woken, id)
	s.mu.Unlock()
}

// wake ends the wait for a task.
func (s *Session) wake(id string) {
	s.mu.Lock()
	select {
	case s.woken[id] <- struct{}{}:
	default:
	}
	s.mu.Unlock()
}

// poll asks for the task's state, or by OpCall for the result of the call (2025-11-25). It returns nothing if no answer
// came and it is to be asked again.
func (t *task) poll(ctx context.Context, op int64) (*Event, error) {
	method := "tasks/get"
	if op == OpCall {
		method = "tasks/result"
	} else if !t.s.modern {
		op = OpOther
	}
	e, err := t.send(ctx, op, method, nil)
	if err == nil {
		t.failures = 0
		return e, nil
	}
	_, expired := err.(*expiredError)
	if t.failures++; registry.Explain(err).Retryable && !expired && t.failures < maxPollFailure && ctx.Err() == nil {
		return nil, nil
	}
	if op != OpCall {
		err = forgotten(err)
	}
	return nil, err
}

// send makes a request about the task. Its questions are those of the call.
func (t *task) send(ctx context.Context, op int64, method string, params []byte) (*Event, error) {
	r := &rpc{op: op, call: t.r.call, asking: t.r.asking, method: method, params: joinMembers(member(nil, "taskId", t.id), params)}
	if t.s.modern {
		r.headers = []string{"Mcp-Name", headerValue(t.id)}
	}
	return t.s.send(ctx, r)
}

// report tells the caller that the server is at work.
func (t *task) report(state []byte) {
	if t.r.progress != nil {
		t.polls++
		t.r.progress(registry.Progress{Progress: float64(t.polls), Message: t.s.d.shown(rawjson.Text(state, "statusMessage"))})
	}
}

// interval is the time until the next poll, as the server proposes it. It doubles with each request without an answer: a
// computer that wakes from sleep has its network a few seconds later.
func (t *task) interval(state []byte) time.Duration {
	name := "pollInterval"
	if t.s.modern {
		name = "pollIntervalMs"
	}
	wait, _ := rawjson.Milliseconds(rawjson.Get(state, name))
	return min(min(max(wait, minPoll), maxPoll)<<t.failures, maxPoll)
}

// update answers the questions of a task that were not asked before. The server may leave out those that it has read.
func (t *task) update(ctx context.Context, questions []byte) error {
	answers, err := t.answer(ctx, questions)
	if err != nil || answers == nil {
		return err
	}
	_, err = t.send(ctx, OpOther, "tasks/update", answers)
	return err
}

// ended is the error of a task without a result.
func (t *task) ended(how string, state []byte) error {
	if why := t.s.d.shown(rawjson.Text(state, "statusMessage")); why != "" {
		how += ": " + why
	}
	return &registry.RPCError{Code: codeTaskEnded, Message: how}
}

// cancel tells the server that nobody waits for the task. Close waits for it.
func (t *task) cancel() {
	t.s.goroutine(func() {
		ctx, cancel := context.WithTimeout(t.s.ctx, postTime)
		defer cancel()
		_, _ = t.send(ctx, OpOther, "tasks/cancel", nil)
	})
}
