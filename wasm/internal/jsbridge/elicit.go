//go:build js

package jsbridge

import (
	"context"
	"sync"
	"syscall/js"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/wasm/internal/api"
)

// elicits are the questions that wait for the host's answer.
type elicits struct {
	mu      sync.Mutex
	last    int
	waiting map[int]chan js.Value
}

// Elicit returns the registry.Elicit that asks the host, or nil if the host does not answer.
func (b *Bridge) Elicit(start api.Start) registry.Elicit {
	if !start.Elicit {
		return nil
	}
	return b.elicit
}

func (b *Bridge) elicit(ctx context.Context, server string, params []byte) ([]byte, error) {
	ask, answer, done := b.elicits.ask()
	defer done()
	b.boot.Call("elicit", ask, registry.CallID(ctx), server, string(params))
	select {
	case v := <-answer:
		if v.Type() != js.TypeString {
			return nil, registry.Because(registry.ErrProtocol, "the host could not answer the elicitation")
		}
		return []byte(v.String()), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ask begins a question; done ends it.
func (e *elicits) ask() (ask int, answer <-chan js.Value, done func()) {
	waits := make(chan js.Value, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiting == nil {
		e.waiting = make(map[int]chan js.Value)
	}
	e.last++
	ask = e.last
	e.waiting[ask] = waits
	return ask, waits, func() {
		e.mu.Lock()
		delete(e.waiting, ask)
		e.mu.Unlock()
	}
}

func (e *elicits) answer(ask int, v js.Value) {
	e.mu.Lock()
	waiting := e.waiting[ask]
	e.mu.Unlock()
	if waiting != nil {
		select {
		case waiting <- v:
		default: // answered already
		}
	}
}
