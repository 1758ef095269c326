package client

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A toolCall is one tools/call. As a rule its response ends it in the platform's
// callback. Everything else, such as questions and retries, goes on in a goroutine.
type toolCall struct {
	s    *Session
	r    rpc
	w    wait
	done func(*registry.ToolOutput, error)
	// A task is the output, and is not followed.
	detached bool

	progress sync.Mutex // held while progress is reported, which may come on any stream

	mu     sync.Mutex
	over   bool
	cancel context.CancelCauseFunc // of the goroutine, once there is one
}

// StartTool begins a call: see [registry.Starter].
func (s *Session) StartTool(call registry.ToolCall, done func(*registry.ToolOutput, error)) (stop func(error), inline bool) {
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	params := make([]byte, 0, len(call.Tool)+len(arguments)+32)
	params = rawjson.AppendMember(member(params, "name", call.Tool), "arguments", arguments)
	op := OpCall
	if def, ok := call.Def.(*Value); ok && !s.modern && (def.asTask || (call.Detach || call.Long) && s.tasks && def.mayBeTask()) {
		op, params = OpTask, rawjson.AppendMember(params, "task", []byte("{}"))
	}
	t := &toolCall{s: s, done: done, r: rpc{op: op, call: call.ID, method: "tools/call", params: params, meta: membersOf(call.Meta, isCallers), progress: call.OnProgress, asking: call.OnAsk}, detached: call.Detach}
	if s.modern {
		t.r.headers = append([]string{"Mcp-Name", headerValue(call.Tool)}, s.callHeaders(call)...)
	}
	if !isDone(s.initialized) || !isDone(s.listening) || !s.d.ready() {
		t.detach(func(ctx context.Context) (*Event, error) {
			if err := s.ready(ctx); err != nil {
				return nil, err
			}
			return s.send(ctx, &t.r)
		})
		return t.stop, false
	}
	mail := &mailbox{c: s.d.c, s: s, rpc: &t.r, request: true, take: t.take}
	s.d.c.open(mail, op)
	t.w = wait{s: s, r: &t.r, mail: mail}
	if err := t.w.begin(s.ctx); err != nil {
		t.end(nil, err)
	}
	return t.stop, true
}

// isCallers reports whether a member of _meta is the caller's, and not of the protocol.
func isCallers(name string) bool {
	return name != "progressToken" && !strings.HasPrefix(name, "io.modelcontextprotocol/")
}

// CallTool runs one tool, asking the user on the server's behalf if need be.
func (s *Session) CallTool(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	type outcome struct {
		output *registry.ToolOutput
		err    error
	}
	ended := make(chan outcome, 1)
	stop, _ := s.StartTool(call, func(output *registry.ToolOutput, err error) { ended <- outcome{output, err} })
	var o outcome
	select {
	case o = <-ended:
	case <-ctx.Done():
		stop(context.Cause(ctx))
		o = <-ended
	}
	return o.output, o.err
}

// take handles an event of the call in the platform's callback. It handles progress and
// results itself and leaves other events to a goroutine.
func (t *toolCall) take(e *Event) (handled bool) {
	switch e.Kind {
	case Progress:
		t.progress.Lock()
		defer t.progress.Unlock()
		t.mu.Lock()
		over := t.over
		t.mu.Unlock()
		if t.r.progress != nil && !over {
			t.r.progress(registry.Progress{Progress: e.Progress, Total: e.Total, Message: t.s.d.shown(e.Text)})
		}
	case Output:
		t.progress.Lock() // no progress is being reported any more
		first := t.claim()
		t.progress.Unlock()
		if !first {
			t.s.d.c.free(e)
			return true
		}
		t.w.end()
		t.s.settle()
		t.done(t.s.output(e), nil)
	default:
		if t.w.mail.putFirst(e) {
			t.detach(t.w.finish)
		}
		return false
	}
	return true
}

// detach continues the call in a goroutine: first waits for the response to the request
// under way, and all requests that follow from it run there too.
func (t *toolCall) detach(first func(context.Context) (*Event, error)) {
	ctx, cancel := context.WithCancelCause(registry.WithCall(context.Background(), t.r.call))
	t.mu.Lock()
	t.cancel = cancel
	if t.over {
		cancel(context.Canceled)
	}
	t.mu.Unlock()
	go func() {
		defer cancel(nil)
		t.end(t.slowly(ctx, first))
	}()
}

// slowly makes the call in a goroutine. It turns a panic into an error, so that a message cannot end the module.
func (t *toolCall) slowly(ctx context.Context, first func(context.Context) (*Event, error)) (output *registry.ToolOutput, err error) {
	defer func() {
		if recover() != nil {
			err = registry.Because(registry.ErrProtocol, "a message could not be handled")
		}
	}()
	e, err := t.s.converse(ctx, &t.r, first)
	if err != nil {
		return nil, err
	}
	if e.Kind == Output {
		return t.s.output(e), nil
	}
	state := rawjson.Get([]byte(e.Text), "result")
	if t.r.op == OpTask {
		state = rawjson.Get(state, "task")
	}
	if t.detached {
		return t.s.begunTask(state)
	}
	return t.s.followTask(ctx, &t.r, state)
}

func (s *Session) output(e *Event) *registry.ToolOutput {
	v := &Value{p: s.d.c.platform, table: e.Table, size: e.Bytes}
	if runtime.GOOS != "js" { // there the page takes the result over
		runtime.AddCleanup(v, v.p.Free, v.table)
	}
	return &registry.ToolOutput{Result: v, IsError: e.IsError}
}

// stop ends the call early.
func (t *toolCall) stop(cause error) {
	t.mu.Lock()
	cancel := t.cancel
	t.mu.Unlock()
	if cancel != nil {
		cancel(cause) // the goroutine ends the call
		return
	}
	if t.claim() {
		t.w.giveUp(cause)
		t.w.end()
		t.done(nil, cause)
	}
}

func (t *toolCall) end(output *registry.ToolOutput, err error) {
	if t.claim() {
		t.done(output, err)
	}
}

// claim is true once, for the one that ends the call.
func (t *toolCall) claim() bool {
	t.mu.Lock()
	first := !t.over
	t.over = true
	t.mu.Unlock()
	return first
}
