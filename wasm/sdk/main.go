//go:build js

// Portolan-sdk.wasm: the registry with the Go SDK as its session. It is for
// hosts to which the protocol's own implementation matters more than the size.
package main

import (
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/sdksession"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
	"github.com/portolan-mcp/portolan/wasm/internal/demo"
	"github.com/portolan-mcp/portolan/wasm/internal/bridge"
	"github.com/portolan-mcp/portolan/wasm/sdk/internal/jsfetch"
)

func main() {
	jsbridge.Main(func(b *jsbridge.Bridge, start api.Start) (registry.Connect, registry.SignIns) {
		connector := sdksession.New(&sdksession.Options{
			RoundTripper: jsfetch.New(),
			Limits:       start.Options.Limits, Proxy: start.Proxy, Elicit: b.Elicit(start),
			ClientName: "portolan", ClientVersion: api.Version,
			SignIn: sdksession.SignIn{Ask: b.Authorize, RedirectURL: start.SignIn.RedirectURL, ClientMetadataURL: start.SignIn.ClientMetadataURL},
		})
		return demo.Or(connector.Connect), connector
	})
}
