package registry

import (
	"context"
	"time"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A Call is a model's wish to run a tool.
type Call struct {
	// ID, if not 0, is the caller's own number for the call; see CallID.
	ID int
	// Name is the tool's model name, as in Tools.
	Name string
	// Arguments is the JSON text of one object; empty means {}.
	Arguments []byte
	// Timeout bounds the whole call, and the time without progress; 0 means the registry's own.
	Timeout time.Duration
	// OnProgress, if not nil, is told of the server's progress, in order,
	// before Dispatch returns. It must not block.
	OnProgress func(Progress)
}

// A Result is a server's answer to a call, whole.
type Result struct {
	Server   string // that answered
	Tool     string // the server's own name for the tool
	IsError  bool   // the tool says that it failed; its content says why
	Duration time.Duration
	Payload  Payload // the CallToolResult object of the spec
	Origin   string  // the server's: whose word the answer is; it is not to be trusted

	r *Registry
}

// Text returns the answer as one text for a model, at most maxBytes long
// (0: no cap), and whether something was cut out: then the text names a handle
// for [Registry.ReadResult]. See [Text].
func (res *Result) Text(maxBytes int) (text string, truncated bool, err error) {
	raw, err := res.Payload.JSON()
	if err != nil {
		return "", false, err
	}
	var keep func(string) string
	if res.r != nil {
		keep = res.r.kept.keep
	}
	return resultText(raw, maxBytes, keep)
}

// Dispatch runs a tool on the server that offers it and returns the whole
// answer; an answer with isError is an answer. It returns an error that Explain
// classifies when there is none: the tool is unknown, its server disabled or
// suspended, the arguments do not fit, or the call failed or took too long.
//
// Ending ctx cancels the call on the server as well. A call is sent once: it is
// sent again only if the server answered that it had not run it.
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

// find looks a model name up and says why its tool cannot be called, if so.
func (r *Registry) find(name string) (*server, *Tool, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, nil, ErrClosed
	}
	t := r.tools.get(name)
	if t == nil {
		for _, s := range r.servers {
			for i := range s.listed {
				if t := &s.listed[i]; t.Hold != nil && !t.Withheld && t.Name == name {
					return nil, nil, &ServerError{s.name, "call " + t.RawName, Because(ErrHeld, t.Hold.Reason)}
				}
			}
		}
		return nil, nil, Because(ErrUnknownTool, Plain(name, 200))
	}
	s := r.servers[t.Server]
	if s.cfg.Disabled {
		return nil, nil, &ServerError{s.name, "call " + t.RawName, ErrDisabled}
	}
	return s, t, nil
}

func (r *Registry) checkArguments(t *Tool, args []byte) error {
	if err := Arguments(args); err != nil {
		return err
	}
	if r.opts.Validate == nil || t.Def == nil {
		return nil
	}
	def, err := t.Def.JSON()
	if err != nil {
		return nil // the list was replaced meanwhile; the server checks too
	}
	schema, ok := rawjson.Get(def, "inputSchema")
	if !ok {
		return nil
	}
	return r.opts.Validate(schema, args)
}
