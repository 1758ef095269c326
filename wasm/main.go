//go:build js

// Portolan.wasm: the registry with the plane as its session, for the page.
package main

import (
	"cmp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
	"github.com/portolan-mcp/portolan/wasm/internal/demo"
	"github.com/portolan-mcp/portolan/wasm/internal/bridge"
	"github.com/portolan-mcp/portolan/registry/client"
)

func main() {
	jsbridge.Main(func(b *jsbridge.Bridge, start api.Start) (registry.Connect, registry.SignIns) {
		memory := newMemory(start.Hints, b.Remember)
		connector := plane.New(plane.JS(b.Get("plane")), &plane.Options{
			Limits: start.Options.Limits, Proxy: start.Proxy, Elicit: b.Elicit(start),
			ClientName: "portolan", ClientVersion: api.Version,
			Hints: plane.NewHints(memory.known, memory.changed), OAuth: signIns(b, start.SignIn),
		})
		return demo.Or(connector.Connect), connector
	})
}

func signIns(b *jsbridge.Bridge, s api.SignIn) *oauth.Client {
	notary := plane.NewNotary(b.Get("notary"))
	options := oauth.Options{
		Crypto: notary, Ask: b.Authorize, RedirectURL: s.RedirectURL, ClientMetadataURL: s.ClientMetadataURL, ClientName: cmp.Or(s.ClientName, "portolan"),
	}
	if s.Remember {
		options.Load, options.Save, options.Lock = notary.Load, notary.Save, notary.Lock
	}
	return oauth.New(options)
}
