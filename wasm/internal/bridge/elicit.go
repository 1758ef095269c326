//go:build js

package bridge

import (
	"context"
	"errors"
	"sync"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// elicits are the questions that wait for the host's answer.
type elicits struct {
	mu      sync.Mutex
	last    int
	waiting map[int]chan string
}

// Elicit returns the registry.Elicit that asks the host, or nil if the host does not answer.
func (b *Bridge) Elicit(answers bool) registry.Elicit {
	if !answers {
		return nil
	}
	return b.elicit
}

func (b *Bridge) elicit(ctx context.Context, server string, params []byte) ([]byte, error) {
	answer, err := b.ask(ctx, "elicit", server, string(params))
	if err != nil {
		return nil, err
	}
	if refusal := rawjson.Get([]byte(answer), "error"); refusal != nil || answer == "" {
		why, _ := rawjson.String(refusal)
		return nil, errors.New(why)
	}
	return []byte(answer), nil
}

// ask puts a question to the host and waits for its answer, "" if there is nobody to give one.
func (b *Bridge) ask(ctx context.Context, event, server, about string) (string, error) {
	e := &b.elicits
	answer := make(chan string, 1)
	e.mu.Lock()
	if e.waiting == nil {
		e.waiting = make(map[int]chan string)
	}
	e.last++
	ask := e.last
	e.waiting[ask] = answer
	e.mu.Unlock()
	defer func() {
		e.mu.Lock()
		delete(e.waiting, ask)
		e.mu.Unlock()
	}()
	b.boot.Call(event, ask, registry.CallID(ctx), server, about)
	select {
	case said := <-answer:
		return said, nil
	case <-ctx.Done():
		b.boot.Call("unask", ask)
		return "", context.Cause(ctx)
	}
}

func (e *elicits) answer(ask int, said string) {
	e.mu.Lock()
	waiting := e.waiting[ask]
	e.mu.Unlock()
	if waiting != nil {
		select {
		case waiting <- said:
		default: // answered already
		}
	}
}
