//go:build js

package plane

import (
	"errors"
	"strings"
	"sync"
	"syscall/js"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// JS returns the platform behind obj, a Plane of plane.ts. One exchange costs
// one call into JavaScript and, as a rule, one callback. The platform lasts as
// long as the module.
func JS(obj js.Value) Platform {
	p := &jsPlatform{
		obj:   obj,
		start: obj.Get("start").Call("bind", obj),
		sinks: map[uint32]Sink{},
	}
	obj.Set("deliver", js.FuncOf(p.deliver))
	return p
}

type jsPlatform struct {
	obj, start js.Value

	mu    sync.Mutex
	sinks map[uint32]Sink
}

func (p *jsPlatform) Bound(l registry.Limits) {
	p.obj.Call("bound", l.ResponseBytes, l.EventBytes, l.ErrorBytes, l.DefinitionBytes, l.Depth, l.EventsPerSecond)
}

func (p *jsPlatform) Resolve(base, ref string) (href, origin string, ok bool) {
	v := p.obj.Call("resolve", base, ref)
	if v.Type() != js.TypeString {
		return "", "", false
	}
	origin, href, ok = strings.Cut(v.String(), "\n")
	return href, origin, ok
}

// Start packs method, URL and headers into one string, one a line: each
// argument costs a crossing.
func (p *jsPlatform) Start(x *Exchange, sink Sink) {
	var head strings.Builder
	head.WriteString(x.Method)
	head.WriteByte('\n')
	head.WriteString(x.URL)
	for _, h := range x.Header {
		head.WriteByte('\n')
		head.WriteString(h)
	}
	flags := 0
	if x.Head {
		flags |= 1
	}
	if x.Once {
		flags |= 2
	}
	p.mu.Lock()
	p.sinks[x.ID] = sink
	p.mu.Unlock()
	p.start.Invoke(x.ID, x.Group, float64(x.Awaits), flags, head.String(), string(x.Body))
}

func (p *jsPlatform) Cancel(id uint32) {
	p.mu.Lock()
	_, live := p.sinks[id]
	delete(p.sinks, id)
	p.mu.Unlock()
	if live {
		p.obj.Call("cancel", id)
	}
}

func (p *jsPlatform) Text(table, index uint32) ([]byte, error) {
	v := p.obj.Call("text", table, index)
	if v.Type() != js.TypeString {
		return nil, errors.New("the value was released")
	}
	return []byte(v.String()), nil
}

func (p *jsPlatform) Free(table uint32) { p.obj.Call("release", table) }

func (p *jsPlatform) Multiplexed(origin string) bool {
	return p.obj.Call("multiplexed", origin).Truthy()
}

// deliver is called by plane.ts: (exchange, kind, last, fields of the kind…).
func (p *jsPlatform) deliver(_ js.Value, args []js.Value) any {
	defer func() { _ = recover() }() // a panic here would end the module
	id := uint32(args[0].Int())
	e := &Event{Kind: Kind(args[1].Int()), Last: args[2].Int() != 0, Retry: -1}
	switch e.Kind {
	case Head:
		e.Status, e.Header = args[3].Int(), args[4].String()
	case Refused:
		e.Status, e.Header, e.Text = args[3].Int(), args[4].String(), args[5].String()
	case End:
		e.Why, e.Text, e.LastID = Reason(args[3].Int()), args[4].String(), args[5].String()
		if ms := args[6].Float(); ms >= 0 {
			e.Retry = time.Duration(min(ms, 1e9)) * time.Millisecond
		}
	case Tools:
		e.RPC, e.Table, e.Bytes = int64(args[3].Float()), uint32(args[4].Int()), args[5].Int()
		e.Text, e.Extra = args[6].String(), args[7].String()
	case Output:
		e.RPC, e.Table, e.Bytes = int64(args[3].Float()), uint32(args[4].Int()), args[5].Int()
		e.IsError = args[6].Int() != 0
	case Progress:
		e.RPC, e.Progress, e.Total = int64(args[3].Float()), args[4].Float(), args[5].Float()
		e.Text = args[6].String()
	case Message, Endpoint:
		e.Text = args[3].String()
	}
	p.mu.Lock()
	sink := p.sinks[id]
	if e.Last {
		delete(p.sinks, id)
	}
	p.mu.Unlock()
	if sink == nil {
		freeEvent(p, e)
		return nil
	}
	sink.Deliver(e)
	return nil
}
