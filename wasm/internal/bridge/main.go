//go:build js

package bridge

import (
	"context"
	"syscall/js"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
)

// A Client opens sessions, signs people in, and tells servers the roots.
type Client interface {
	Connect(ctx context.Context, name string, cfg registry.ServerConfig, notify registry.Notify) (registry.Session, error)
	registry.SignIns
	SetRoots([]registry.Root) error
}

// Main is a module's main. Once the host has given its options, it serves a registry
// whose sessions compose opens, until the host closes it.
func Main(compose func(*Bridge, api.Start) Client) {
	// The scope that the loader made for this module alone has this name, not the page's globals.
	b := &Bridge{boot: js.Global().Get("portolan"), finished: make(chan struct{})}
	b.serve(func(options []byte) {
		start, err := api.ParseStart(options)
		if err != nil {
			b.boot.Call("refused", string(api.EncodeError(err)))
			return
		}
		c := compose(b, start)
		start.Options.Connect, start.Options.SignIns = c.Connect, c
		start.Options.Pins = start.Pins.Store(b)
		b.api = api.New(registry.New(&start.Options), b)
		b.api.SetRoots = c.SetRoots
	})
}
