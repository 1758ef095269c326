package registry

import (
	"context"
	"time"

	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/resulttext"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/validate"
)

// A Call is a model's request to run a tool.
type Call struct {
	// ID, if not 0, is the caller's own number for the call; see CallID.
	ID int
	// Name is the tool's model name, as in Tools.
	Name string
	// App says that an app of the tool's server calls. Only then can Name be that of a tool
	// for apps.
	App bool
	// Arguments is the JSON text of one object; empty means {}.
	Arguments []byte
	// Timeout bounds the whole call, and the time without progress; 0 means the registry's own.
	Timeout time.Duration
	// Detach has the server run the call as a task, if it can. The result is then a Task
	// that [Registry.WaitTask] follows.
	Detach bool
	// Meta, if not empty, is the JSON text of an object whose members go along in _meta, such
	// as traceparent, tracestate and baggage (SEP-414). The protocol's own members replace them.
	Meta []byte
	// Attempts is how often the call is sent at most, from 1 to 5; 0 means the server's
	// configuration. See [ServerConfig.Attempts].
	Attempts int
	// OnRetry, if not nil, is called before the call waits for another attempt, which is
	// number attempt. err is what ended the last one. It must not block, nor use the registry.
	OnRetry func(attempt int, wait time.Duration, err error)
	// OnProgress, if not nil, gets the server's progress, in order, before Dispatch
	// returns. It must not block.
	OnProgress func(Progress)
	// OnQueue, if not nil, is called with true when the call waits for others to end, and
	// with false when it is sent. Its deadlines begin then. It must not block, nor use the
	// registry.
	OnQueue func(waits bool)
}

// A Result is a server's answer to a call, whole.
type Result struct {
	Server   string // the server that answered
	Tool     string // the server's own name for the tool or the prompt, or ""
	IsError  bool   // the tool says that it failed; its content says why
	Duration time.Duration
	Payload  Payload // the CallToolResult object of the spec
	Task     []byte  // the JSON text of a Task object of the spec, in place of Payload, or nil
	Origin   string  // of the server's URL; the answer is that server's and untrusted

	r *Registry
}

// Text returns the answer as one text for a model, at most maxBytes long
// (0: no limit), and whether it was cut: then the text names a handle for
// [Registry.ReadResult]. See package resulttext.
func (res *Result) Text(maxBytes int) (text string, truncated bool, err error) {
	raw, err := res.Payload.JSON()
	if err != nil {
		return "", false, err
	}
	var keep func(string) string
	if res.r != nil {
		keep = res.r.kept.Keep
	}
	text, truncated, err = resulttext.Of(raw, maxBytes, keep)
	if err != nil {
		err = Because(ErrProtocol, err.Error())
	}
	return text, truncated, err
}

// ReadResult reads on in a result that [Result.Text] has cut. It divides no
// character; a length of 0 means 20,000. The error is [ErrGone] once newer results
// have replaced this one.
func (r *Registry) ReadResult(handle string, offset, length int) (resulttext.Part, error) {
	part, ok := r.kept.Read(handle, offset, length)
	if !ok {
		return part, ErrGone
	}
	return part, nil
}

// Dispatch runs a tool on the server that offers it and returns the whole
// answer; an answer with isError is an answer. Without an answer it returns an error that
// [Explain] classifies. The tool is unknown, its server is disabled or suspended, the
// arguments do not fit, or the call failed or took too long.
//
// Ending ctx cancels the call on the server as well. Unless [ServerConfig.Attempts]
// or [Call.Attempts] allows more, a call is sent again only if the server answered that it had not run it.
func (r *Registry) Dispatch(ctx context.Context, call Call) (*Result, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	type outcome struct {
		result *Result
		err    error
	}
	ended := make(chan outcome, 1)
	p := r.Start(call, func(result *Result, err error) { ended <- outcome{result, err} })
	var o outcome
	select {
	case o = <-ended:
	case <-ctx.Done():
		p.Stop(context.Cause(ctx))
		o = <-ended
	}
	return o.result, o.err
}

// find looks a model name up, and the override of its tool. The error says why the tool
// cannot be called.
func (r *Registry) find(name string, app bool) (s *server, t *Tool, override []byte, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, nil, ErrClosed
	}
	t = r.tools.Get(name)
	var held *Tool
	if t == nil {
		t, held = r.unoffered(name, app)
	}
	if t == nil {
		err = Because(ErrUnknownTool, text.Plain(name, 200))
		if held != nil {
			err = onServer(held.Server, "call "+held.RawName, Because(ErrHeld, held.Hold.Reason))
		}
		return nil, nil, nil, err
	}
	if s = r.servers[t.Server]; s.cfg.Disabled {
		err = onServer(s.name, "call "+t.RawName, ErrDisabled)
	}
	return s, t, rawjson.Get(s.cfg.Overrides, t.RawName), err
}

// unoffered looks for a listed tool of that name that models do not have: one that only apps may call, or one that is
// held. The caller holds r.mu.
func (r *Registry) unoffered(name string, app bool) (ofApps, held *Tool) {
	for _, s := range r.servers {
		for i := range s.listed {
			switch t := &s.listed[i]; {
			case t.Name != name:
			case app && t.AppOnly && t.Hold == nil && s.cfg.offers(t.RawName):
				ofApps = t
			case t.Hold != nil && !t.Withheld:
				held = t
			}
		}
	}
	return ofApps, held
}

func (r *Registry) checkArguments(t *Tool, args []byte) error {
	if err := validate.Arguments(args); err != nil {
		return err
	}
	if r.opts.Validate == nil || t.Def == nil {
		return nil
	}
	def, err := t.Def.JSON()
	if err != nil {
		return nil // the list was replaced meanwhile; the server checks too
	}
	schema := rawjson.Get(def, "inputSchema")
	if schema == nil {
		return nil
	}
	return r.opts.Validate(schema, args)
}

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
