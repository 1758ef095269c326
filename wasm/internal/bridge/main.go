//go:build js

package bridge

import (
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
)

// Main is a module's main. Once the host has given its options, it serves a registry
// whose sessions compose opens, until the host closes it.
func Main(compose func(*Bridge, api.Start) (registry.Connect, registry.SignIns)) {
	b := &Bridge{finished: make(chan struct{})}
	b.find()
	b.serve(func(options []byte) {
		start, err := api.ParseStart(options)
		if err != nil {
			b.refuse(err)
			return
		}
		start.Options.Connect, start.Options.SignIns = compose(b, start)
		start.Options.Pins = start.Pins.Store(b)
		b.api = api.New(registry.New(&start.Options), b)
	})
}
