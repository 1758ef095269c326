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
	bridge := jsbridge.Open()
	start, err := bridge.Start()
	if err != nil {
		bridge.Refuse(err)
		return
	}
	opts := &plane.Options{
		Limits: start.Options.Limits, Proxy: start.Proxy,
		ClientName: "portolan", ClientVersion: api.Version,
	}
	if start.Elicit {
		opts.Elicit = bridge.Elicit
	}
	sessions := plane.New(plane.JS(bridge.Get("plane")), opts)
	start.Options.Connect = demo.Or(sessions.Connect)
	bridge.Serve(registry.New(&start.Options))
}
