//go:build js

// Package bridge carries package api across the JavaScript boundary. The host
// (wasm/js/host/host.ts) leaves one object for the module to find, with functions
// that the module calls; the module puts functions into it that the host calls.
// Everything crosses as numbers, JSON text or handles, once.
package bridge

import (
	"strings"
	"syscall/js"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
)

// A Bridge is the module's end of the boundary.
type Bridge struct {
	boot     js.Value
	api      *api.API
	elicits  elicits
	finished chan struct{}
	names    []byte // that called reads next
}

// Get returns a property of the host's object, for what only one kind of module needs.
func (b *Bridge) Get(name string) js.Value { return b.boot.Get(name) }

// Remember hands the host what to give back as the "hints" option at the next start.
func (b *Bridge) Remember(hints string) { b.boot.Call("hints", hints) }

// serve answers the host until it closes the registry. start gets the options, before any request.
func (b *Bridge) serve(start func(options []byte)) {
	serving = b
	module := js.Global().Get("Object").New()
	entries := map[string]func(args []js.Value){
		"start": func(args []js.Value) { start([]byte(args[0].String())) },
		"call": func(args []js.Value) {
			method := args[1].String()
			b.api.Call(args[0].Int(), method, []byte(args[2].String()))
		},
		"elicited": func(args []js.Value) { b.elicits.answer(args[0].Int(), args[1].String()) },
		"exit":     func([]js.Value) { close(b.finished) },
	}
	for name, entry := range entries {
		fn := js.FuncOf(func(_ js.Value, args []js.Value) any {
			defer caught(name)
			entry(args)
			return nil
		})
		defer fn.Release()
		module.Set(name, fn)
	}
	b.boot.Call("ready", module, api.Version)
	<-b.finished
}

// Reply, Called, Fail, Queued, Progress, Config, State and Tools make a Bridge the api.Host.

// Reply ends a request with a JSON result.
func (b *Bridge) Reply(id int, result []byte) { b.boot.Call("reply", id, string(result)) }

// Fail ends a request with a WireError.
func (b *Bridge) Fail(id int, err []byte) { b.boot.Call("fail", id, string(err)) }

// Queued says that a call waits for its turn, or does not any more.
func (b *Bridge) Queued(id int, waits bool) { b.boot.Call("queued", id, waits) }

// Progress reports on a request.
func (b *Bridge) Progress(id int, progress []byte) { b.boot.Call("progress", id, string(progress)) }

// Pins has the host keep what is approved.
func (b *Bridge) Pins(server, key, pins string, fresh registry.FreshPins) {
	b.boot.Call("pins", server, key, pins, strings.Join(fresh.Tools, "\n"), fresh.ByUser)
}

// Config hands the host a server's configuration as it is now; "" if the server was removed.
func (b *Bridge) Config(server string, config []byte) { b.boot.Call("config", server, string(config)) }

// State tells what changed.
func (b *Bridge) State(event []byte) { b.boot.Call("state", string(event)) }
