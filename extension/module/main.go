//go:build js

// Tools.wasm: the MCP server of the extension, on the socket that the background passes
// in. The background dials, proves that it is paired and answers pings in TypeScript. It
// loads this module when the bridge sends anything else.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/coder/websocket"
	"github.com/hack-pad/safejs"

	"github.com/portolan-mcp/portolan/bridge/socket"
	"github.com/portolan-mcp/portolan/extension/module/toolserver"
)

// A host is the background's object: functions that this module calls.
type host struct {
	value safejs.Value

	mu    sync.Mutex
	last  int
	calls map[int]*call
}

type call struct {
	ctx    context.Context
	caller toolserver.Caller
	done   chan outcome // receives once
	events chan toolserver.Progress
}

// eventQueue is how many reports of progress of a call may wait.
const eventQueue = 64

type outcome struct {
	result json.RawMessage
	err    error
}

func main() {
	if err := start(); err != nil {
		panic(err) // the background sees that the module has ended
	}
	select {}
}

// start reads what the background has prepared, and offers it the module's methods.
func start() error {
	value, err := safejs.Global().Get("portolan")
	if err != nil {
		return err
	}
	version, err := value.Get("version")
	if err != nil {
		return err
	}
	name, err := version.String()
	if err != nil {
		return err
	}
	h := &host{value: value, calls: make(map[int]*call)}
	server := toolserver.New(name, h.run)
	object, err := safejs.Global().Get("Object")
	if err != nil {
		return err
	}
	module, err := object.New()
	if err != nil {
		return err
	}
	for name, f := range map[string]func(arguments) error{
		"offer":    func(args arguments) error { return offer(server, args) },
		"settle":   h.settle,
		"progress": h.progress,
		"elicit":   h.elicit,
		"serve":    func(args arguments) error { return serveInBackground(server, args) },
	} {
		if err := export(module, name, f); err != nil {
			return err
		}
	}
	_, err = value.Call("ready", module)
	return err
}

// export lets JavaScript call f as a method of module. The method returns the text of
// the error, or null. It lasts as long as the module.
func export(module safejs.Value, name string, f func(arguments) error) error {
	method, err := safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) (result any) {
		defer func() {
			if recover() != nil {
				result = "a fault in " + name
			}
		}()
		if err := f(args); err != nil {
			return err.Error()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return module.Set(name, method)
}

// arguments are what JavaScript passes to a method.
type arguments []safejs.Value

func (a arguments) text(i int) (string, error) { return a[i].String() }

// decode reads the JSON text at i.
func (a arguments) decode(i int, into any) error {
	text, err := a.text(i)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

func offer(server *toolserver.Server, args arguments) error {
	var tools []toolserver.Tool
	if err := args.decode(0, &tools); err != nil {
		return err
	}
	return server.Offer(tools)
}

// serveInBackground calls the function at 0 with the reason, once serving has ended.
func serveInBackground(server *toolserver.Server, args arguments) error {
	done := args[0]
	go func() {
		why := "a fault of the module"
		defer func() {
			_ = recover()
			_, _ = done.Invoke(why)
		}()
		why = serve(server).Error()
	}()
	return nil
}

// serve runs the server on the socket that the scope's WebSocket stands for.
func serve(server *toolserver.Server) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ws, _, err := websocket.Dial(ctx, "ws://bridge/", nil)
	if err != nil {
		return err
	}
	conn := socket.New(ws, nil, socket.Limits{})
	if err := server.Serve(ctx, conn); err != nil {
		return err
	}
	return errors.New("the bridge ended the connection")
}

// run has the background carry out a call.
func (h *host) run(ctx context.Context, c toolserver.Call, caller toolserver.Caller) (json.RawMessage, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	mine := &call{ctx: ctx, caller: caller, done: make(chan outcome, 1), events: make(chan toolserver.Progress, eventQueue)}
	h.mu.Lock()
	h.last++
	id := h.last
	h.calls[id] = mine
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		delete(h.calls, id)
		h.mu.Unlock()
	}()
	if _, err := h.value.Call("call", id, string(text)); err != nil {
		return nil, err
	}
	for {
		select {
		case p := <-mine.events:
			caller.Progress(p)
		case o := <-mine.done:
			for len(mine.events) > 0 { // what came before the answer goes before it
				caller.Progress(<-mine.events)
			}
			return o.result, o.err
		case <-ctx.Done():
			_, _ = h.value.Call("cancel", id)
			return nil, ctx.Err()
		}
	}
}

// find returns the call whose id is the argument at 0, or nil if it has ended.
func (h *host) find(args arguments) (*call, error) {
	id, err := args[0].Int()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[id], nil
}

// settle ends a call with the JSON text at 1, or with the error at 2.
func (h *host) settle(args arguments) error {
	c, err := h.find(args)
	if c == nil || err != nil {
		return err
	}
	var o outcome
	if args[2].IsNull() {
		text, err := args.text(1)
		if err != nil {
			return err
		}
		o.result = json.RawMessage(text)
	} else {
		why, err := args.text(2)
		if err != nil {
			return err
		}
		o.err = errors.New(why)
	}
	select {
	case c.done <- o:
	default: // it was settled already
	}
	return nil
}

// progress never waits: a JavaScript callback may not.
func (h *host) progress(args arguments) error {
	var p toolserver.Progress
	if err := args.decode(1, &p); err != nil {
		return err
	}
	c, err := h.find(args)
	if c == nil || err != nil {
		return err
	}
	select {
	case c.events <- p:
	default: // the next report says more
	}
	return nil
}

// elicit asks the client of a call. The function at 2 is called with the answer, or with
// null and the reason.
func (h *host) elicit(args arguments) error {
	params, err := args.text(1)
	if err != nil {
		return err
	}
	done := args[2]
	c, err := h.find(args)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("the call has ended")
	}
	go func() {
		answer, err := c.caller.Elicit(c.ctx, []byte(params))
		if err != nil {
			_, _ = done.Invoke(nil, err.Error())
			return
		}
		_, _ = done.Invoke(string(answer), nil)
	}()
	return nil
}
