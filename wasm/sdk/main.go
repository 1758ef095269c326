//go:build js

// Portolan-sdk.wasm: the registry with the Go SDK as its session. It is for
// hosts to which the protocol's own implementation matters more than the size.
package main

import (
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/sdksession"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
	"github.com/portolan-mcp/portolan/wasm/internal/demo"
	"github.com/portolan-mcp/portolan/wasm/internal/jsbridge"
	"github.com/portolan-mcp/portolan/wasm/sdk/internal/jsfetch"
)

func main() {
	bridge := jsbridge.Open()
	start, err := bridge.Start()
	if err != nil {
		bridge.Refuse(err)
		return
	}
	opts := &sdksession.Options{
		RoundTripper: jsfetch.New(),
		Limits:       start.Options.Limits, Proxy: start.Proxy,
		ClientName: "portolan", ClientVersion: api.Version,
	}
	if start.Elicit {
		opts.Elicit = bridge.Elicit
	}
	start.Options.Connect = demo.Or(sdksession.New(opts).Connect)
	bridge.Serve(registry.New(&start.Options))
}
