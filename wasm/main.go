//go:build js

// Portolan.wasm: the registry with the plane as its session, for the page.
package main

import (
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
	"github.com/portolan-mcp/portolan/wasm/internal/demo"
	"github.com/portolan-mcp/portolan/wasm/internal/jsbridge"
	"github.com/portolan-mcp/portolan/wasm/internal/plane"
)

func main() {
	jsbridge.Main(func(b *jsbridge.Bridge, start api.Start) registry.Connect {
		memory := newMemory(start.Hints, b.Remember)
		return demo.Or(plane.New(plane.JS(b.Get("plane")), &plane.Options{
			Limits: start.Options.Limits, Proxy: start.Proxy, Elicit: b.Elicit(start),
			ClientName: "portolan", ClientVersion: api.Version,
			Hints: plane.NewHints(memory.known, memory.changed),
		}).Connect)
	})
}
