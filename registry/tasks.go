package registry

import (
	"context"
	"time"

	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/text"
)

// longestTask bounds the wait for a task.
const longestTask = 24 * time.Hour

// WaitTask waits for the result of a task that a detached call became, perhaps in an earlier
// run of the program. tool is the server's own name of the tool. Ending ctx ends the wait,
// not the task. The error is [ErrGone] if the server does not know the task any more.
func (r *Registry) WaitTask(ctx context.Context, server, tool, taskID string, onProgress func(Progress)) (*Result, error) {
	started := r.opts.Clock()
	result := &Result{Server: server, Tool: tool, r: r}
	err := r.onTask(ctx, server, "wait for a task of "+tool, longestTask, func(ctx context.Context, t Tasker, hold func(bool)) error {
		call := ToolCall{ID: CallID(ctx), Tool: tool, OnAsk: hold}
		if onProgress != nil {
			call.OnProgress = func(x Progress) {
				x.Message = text.Visible(x.Message)
				onProgress(x)
			}
		}
		output, err := t.FollowTask(ctx, taskID, call)
		if err == nil {
			result.Payload, result.IsError = output.Result, output.IsError
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	if s := r.servers[server]; s != nil {
		result.Origin = endpoint.Origin(s.cfg.URL)
	}
	r.mu.Unlock()
	result.Duration = r.opts.Clock().Sub(started)
	return result, nil
}

// CancelTask ends a task on its server.
func (r *Registry) CancelTask(ctx context.Context, server, taskID string) error {
	return r.onTask(ctx, server, "cancel a task", r.opts.IdleTimeout, func(ctx context.Context, t Tasker, _ func(bool)) error {
		return t.CancelTask(ctx, taskID)
	})
}

// onTask runs work on a session of the server that knows tasks.
func (r *Registry) onTask(ctx context.Context, server, op string, limit time.Duration, work func(context.Context, Tasker, func(bool)) error) error {
	r.mu.Lock()
	s, err := r.usable(server)
	r.mu.Unlock()
	if err == nil {
		err = r.use(ctx, s, limit, func(ctx context.Context, c *conn, hold func(bool)) error {
			t, ok := c.session.(Tasker)
			if !ok {
				return Because(ErrUnsupported, "the session knows no tasks")
			}
			return work(ctx, t, hold)
		})
	}
	return onServer(server, op, err)
}
