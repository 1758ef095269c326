//go:build js

// Portolan.wasm: the registry for the page.
package main

import (
	"cmp"

	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/browser"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
	"github.com/portolan-mcp/portolan/wasm/internal/bridge"
)

func main() {
	bridge.Main(func(b *bridge.Bridge, start api.Start) bridge.Client {
		memory := newMemory(start.Hints, b.Remember)
		return client.New(browser.New(b.Get("platform")), &client.Options{
			Limits: start.Options.Limits, Proxy: start.Proxy,
			Elicit: b.Elicit(start.Elicit), ElicitURL: b.Elicit(start.ElicitURL), ElicitTime: start.ElicitTime,
			Sample: b.Elicit(start.Sample), SampleTools: start.SampleTools, Roots: start.Roots, Apps: start.Apps,
			ClientName: "portolan", ClientVersion: api.Version,
			Hints: client.NewHints(memory.learned, memory.changed), OAuth: signIns(b, start.SignIn), Early: start.Early,
		})
	})
}

func signIns(b *bridge.Bridge, s api.SignIn) *oauth.Client {
	crypto := browser.NewCrypto(b.Get("crypto"))
	options := oauth.Options{
		Crypto: crypto, Ask: b.Authorize, RedirectURL: s.RedirectURL, ClientMetadataURL: s.ClientMetadataURL, ClientName: cmp.Or(s.ClientName, "portolan"),
	}
	if s.Remember {
		options.Load, options.Save, options.Lock = crypto.Load, crypto.Save, crypto.Lock
	}
	return oauth.New(options)
}
