//go:build js

// Tools.wasm: the MCP server of the extension, on the socket that the background
// hands it. The background dials, proves that it is paired and answers pings in
// plain JavaScript; this module is loaded when the bridge says more than that.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"syscall/js"

	"github.com/coder/websocket"

	"github.com/portolan-mcp/portolan/bridge/socket"
	"github.com/portolan-mcp/portolan/extension/module/toolserver"
)

// A host is the background's object: functions that this module calls.
type host struct {
	value js.Value

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
	h := &host{value: js.Global().Get("portolan"), calls: make(map[int]*call)}
	server := toolserver.New(h.value.Get("version").String(), h.run)
	module := js.Global().Get("Object").New()
	export := func(name string, f func(args []js.Value) error) {
		module.Set(name, js.FuncOf(func(_ js.Value, args []js.Value) (result any) {
			defer func() {
				if recover() != nil {
					result = "a fault in " + name
				}
			}()
			if err := f(args); err != nil {
				return err.Error()
			}
			return nil
		}))
	}
	export("offer", func(args []js.Value) error {
		var tools []toolserver.Tool
		if err := json.Unmarshal([]byte(args[0].String()), &tools); err != nil {
			return err
		}
		return server.Offer(tools)
	})
	export("settle", func(args []js.Value) error {
		o := outcome{result: json.RawMessage(args[1].String())}
		if !args[2].IsNull() {
			o = outcome{err: errors.New(args[2].String())}
		}
		h.settle(args[0].Int(), o)
		return nil
	})
	export("progress", func(args []js.Value) error {
		var p toolserver.Progress
		if err := json.Unmarshal([]byte(args[1].String()), &p); err != nil {
			return err
		}
		h.progress(args[0].Int(), p)
		return nil
	})
	export("elicit", func(args []js.Value) error {
		return h.elicit(args[0].Int(), []byte(args[1].String()), args[2])
	})
	export("serve", func(args []js.Value) error {
		done := args[0]
		go func() {
			defer func() {
				if recover() != nil {
					done.Invoke("a fault of the module")
				}
			}()
			done.Invoke(serve(server).Error())
		}()
		return nil
	})
	h.value.Call("ready", module)
	select {}
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
	h.value.Call("call", id, string(text))
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
			h.value.Call("cancel", id)
			return nil, ctx.Err()
		}
	}
}

func (h *host) find(id int) *call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.calls[id]
}

func (h *host) settle(id int, o outcome) {
	if c := h.find(id); c != nil {
		select {
		case c.done <- o:
		default: // answered twice
		}
	}
}

// progress never waits: a JavaScript callback may not.
func (h *host) progress(id int, p toolserver.Progress) {
	if c := h.find(id); c != nil {
		select {
		case c.events <- p:
		default: // the next one says more
		}
	}
}

// elicit asks the client of a call; done is called with the answer, or null and why not.
func (h *host) elicit(id int, params []byte, done js.Value) error {
	c := h.find(id)
	if c == nil {
		return errors.New("the call has ended")
	}
	go func() {
		defer func() { _ = recover() }() // of the background's function
		answer, err := c.caller.Elicit(c.ctx, params)
		if err != nil {
			done.Invoke(js.Null(), err.Error())
			return
		}
		done.Invoke(string(answer), js.Null())
	}()
	return nil
}
