package api

import (
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// Changes are collected for a frame, so that fifty servers that connect at once are a few
// messages and not hundreds. A change that every call makes waits for longer.
const (
	flushDelay = 16 * time.Millisecond
	minorDelay = 250 * time.Millisecond
)

// events gathers what changed and tells the host, in order.
type events struct {
	api *API

	mu     sync.Mutex
	states map[string]bool // servers whose health changed
	tools  map[string]bool // servers whose list changed
	due    time.Duration   // how soon the timer flushes; 0: nothing to flush
	timer  *time.Timer
	ended  bool

	sending sync.Mutex // held while telling the host, so that an older state never comes last
}

func (e *events) init(a *API) {
	e.api = a
	e.states, e.tools = make(map[string]bool), make(map[string]bool)
	e.timer = time.AfterFunc(time.Hour, e.flush)
	e.timer.Stop()
	a.reg.Subscribe(e.note)
}

func (e *events) note(ev registry.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ended {
		return
	}
	if ev.Server != "" {
		e.states[ev.Server] = true
		if ev.Tools {
			e.tools[ev.Server] = true
		}
	}
	delay := flushDelay
	if ev.Minor {
		delay = minorDelay
	}
	if e.due == 0 || delay < e.due {
		e.due = delay
		e.timer.Reset(delay)
	}
}

// flush tells the host all that has changed until now.
func (e *events) flush() {
	defer func() { _ = recover() }() // what JavaScript throws at one event is not the end of the module
	e.sending.Lock()
	defer e.sending.Unlock()
	e.mu.Lock()
	states, tools := e.states, e.tools
	if e.due == 0 {
		e.mu.Unlock()
		return
	}
	e.states, e.tools = make(map[string]bool), make(map[string]bool)
	e.due = 0
	e.timer.Stop()
	e.mu.Unlock()

	reg := e.api.reg
	for name := range tools {
		e.api.host.Tools(name, func(visit func(*registry.Tool)) {
			reg.EachTool(registry.Filter{Servers: []string{name}, Withheld: true, Held: true}, visit)
		})
	}
	e.api.host.State(encodeState(reg, states))
}

// end tells the host the last changes. A registry that closes forgets without a change.
func (e *events) end() {
	e.flush()
	e.mu.Lock()
	e.ended = true
	e.mu.Unlock()
}
