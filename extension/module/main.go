//go:build js

// Tools.wasm is the MCP server of the extension, on connections of the background. In
// TypeScript the background dials, proves the pairing and answers pings. It loads this
// module once a connection is proved.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/coder/websocket"
	"github.com/hack-pad/safejs"

	"github.com/portolan-mcp/portolan/bridge/socket"
	"github.com/portolan-mcp/portolan/extension/module/toolserver"
)

// A background has the functions that this module calls.
type background struct {
	object safejs.Value

	mu    sync.Mutex
	last  int
	calls map[int]*call
}

type call struct {
	ctx    context.Context
	caller toolserver.Caller
	done   chan outcome // receives one outcome
	events chan toolserver.Progress
}

// eventQueue is the number of progress reports of a call that may wait.
const eventQueue = 64

type outcome struct {
	result json.RawMessage
	err    error
}

func main() {
	if err := start(); err != nil {
		panic(err) // ends the module, which the background notices
	}
	select {}
}

// start finds the background's object, and passes it the module's methods.
func start() error {
	object, err := safejs.Global().Get("portolan")
	if err != nil {
		return err
	}
	value, err := object.Get("version")
	if err != nil {
		return err
	}
	version, err := value.String()
	if err != nil {
		return err
	}
	b := &background{object: object, calls: make(map[int]*call)}
	server := toolserver.New(version, b.run)
	module, err := safejs.ValueOf(map[string]any{})
	if err != nil {
		return err
	}
	for name, f := range map[string]func(arguments) error{
		"offer": func(args arguments) error {
			var tools []toolserver.Tool
			if err := args.decode(0, &tools); err != nil {
				return err
			}
			return server.Offer(tools)
		},
		"serve":   func(args arguments) error { return serve(server, args) },
		"changed": func(arguments) error { server.Changed(); return nil },
		"log":     func(args arguments) error { return logTo(server, args) },
		"updated": func(args arguments) error {
			uri, err := args[0].String()
			if err == nil {
				go server.Updated(context.Background(), uri)
			}
			return err
		},
		"settle":   b.settle,
		"progress": b.progress,
		"ask":      b.ask,
	} {
		if err := export(module, name, f); err != nil {
			return err
		}
	}
	_, err = object.Call("ready", module)
	return err
}

// logTo sends a message of a server's log, whose logger, level and text are the arguments.
func logTo(server *toolserver.Server, args arguments) error {
	var words [3]string
	for i := range words {
		var err error
		if words[i], err = args[i].String(); err != nil {
			return err
		}
	}
	go server.Log(context.Background(), words[0], words[1], words[2])
	return nil
}

// export makes f a method of module for JavaScript. The method returns the text of the
// error, or null. It is never released.
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

// arguments are the values that JavaScript passes to a method.
type arguments []safejs.Value

// decode reads the JSON text at i.
func (a arguments) decode(i int, into any) error {
	text, err := a[i].String()
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}

// serve runs the server on the background's connection with the number at 0. The scope's
// WebSocket of that address stands for it. It returns at once, and calls the function at
// 1 with the reason after the last message.
func serve(server *toolserver.Server, args arguments) error {
	number, err := args[0].Int()
	if err != nil {
		return err
	}
	ended := args[1]
	run := func() error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		ws, _, err := websocket.Dial(ctx, "ws://bridge/"+strconv.Itoa(number), nil)
		if err != nil {
			return err
		}
		return server.Serve(ctx, socket.New(ws, nil, socket.Limits{}), number)
	}
	go func() {
		why := "a fault of the module"
		defer func() {
			_ = recover()
			_, _ = ended.Invoke(why)
		}()
		err := run()
		why = "the bridge ended the connection"
		if err != nil {
			why = err.Error()
		}
	}()
	return nil
}

// run passes a call to the background, and waits for its outcome.
func (b *background) run(ctx context.Context, c toolserver.Call, caller toolserver.Caller) (json.RawMessage, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	own := &call{ctx: ctx, caller: caller, done: make(chan outcome, 1), events: make(chan toolserver.Progress, eventQueue)}
	b.mu.Lock()
	b.last++
	id := b.last
	b.calls[id] = own
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.calls, id)
		b.mu.Unlock()
	}()
	if _, err := b.object.Call("call", id, string(text)); err != nil {
		return nil, err
	}
	for {
		select {
		case p := <-own.events:
			caller.Progress(p)
		case o := <-own.done:
			for len(own.events) > 0 { // reports that came before the outcome
				caller.Progress(<-own.events)
			}
			return o.result, o.err
		case <-ctx.Done():
			_, _ = b.object.Call("cancel", id)
			return nil, ctx.Err()
		}
	}
}

// find returns the call whose id is the argument at 0, or nil if it has ended.
func (b *background) find(args arguments) (*call, error) {
	id, err := args[0].Int()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls[id], nil
}

// settle ends a call with the JSON text at 1, or with the error at 2.
func (b *background) settle(args arguments) error {
	c, err := b.find(args)
	if c == nil || err != nil {
		return err
	}
	result, err := args[1].String()
	if err != nil {
		return err
	}
	o := outcome{result: json.RawMessage(result)}
	if !args[2].IsNull() {
		why, err := args[2].String()
		if err != nil {
			return err
		}
		o.err = errors.New(why)
	}
	select {
	case c.done <- o:
	default: // the call has an outcome already
	}
	return nil
}

// progress reports on a call. It never waits, because a JavaScript callback must not.
func (b *background) progress(args arguments) error {
	var p toolserver.Progress
	if err := args.decode(1, &p); err != nil {
		return err
	}
	c, err := b.find(args)
	if c == nil || err != nil {
		return err
	}
	select {
	case c.events <- p:
	default: // the queue is full, and a later report replaces this one
	}
	return nil
}

// ask sends the client of a call the request with the method at 1 and the params at 2. It
// calls the function at 3 with the result, or with null and the reason.
func (b *background) ask(args arguments) error {
	method, err := args[1].String()
	if err != nil {
		return err
	}
	params, err := args[2].String()
	if err != nil {
		return err
	}
	done := args[3]
	c, err := b.find(args)
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("the call has ended")
	}
	go func() {
		answer, err := c.caller.Ask(c.ctx, method, []byte(params))
		if err != nil {
			_, _ = done.Invoke(nil, err.Error())
			return
		}
		_, _ = done.Invoke(string(answer), nil)
	}()
	return nil
}
