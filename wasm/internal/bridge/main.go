//go:build js

package bridge

import (
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
)

// Main is a module's main: it serves a registry whose sessions compose opens,
// with the options that the host gives, until the host closes it.
func Main(compose func(*Bridge, api.Start) (registry.Connect, registry.SignIns)) {
	b := &Bridge{finished: make(chan struct{})}
	b.find()
	start, err := b.start()
	if err != nil {
		b.refuse(err)
		return
	}
	start.Options.Connect, start.Options.SignIns = compose(b, start)
	start.Options.Pins = start.Pins.Store(b)
	b.serve(registry.New(&start.Options))
}
