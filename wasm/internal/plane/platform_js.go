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
		start: obj.Get("start").Call("bind", obj), scratch: obj.Get("scratch"),
		buf: make([]byte, 0, 4<<10), sinks: map[uint32]Sink{},
	}
	obj.Set("deliver", js.FuncOf(p.deliver))
	return p
}

// scratchBytes is the size of the scratch of plane.ts.
const scratchBytes = 64 << 10

type jsPlatform struct {
	obj, start js.Value
	scratch    js.Value // a Uint8Array of scratchBytes, read by start before it returns

	mu    sync.Mutex
	sinks map[uint32]Sink
	buf   []byte // what goes into scratch next
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

// Start hands method, URL, headers and body over as bytes: a string costs a
// finalizer, and an argument a crossing.
func (p *jsPlatform) Start(x *Exchange, sink Sink) {
	flags := 0
	if x.Head {
		flags |= 1
	}
	if x.Once {
		flags |= 2
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sinks[x.ID] = sink
	b := append(append(append(p.buf[:0], x.Method...), '\n'), x.URL...)
	for _, h := range x.Header {
		b = append(append(b, '\n'), h...)
	}
	head := len(b)
	b = append(b, x.Body...)
	scratch := p.scratch
	if len(b) <= scratchBytes {
		p.buf = b
	} else {
		scratch = js.Global().Get("Uint8Array").New(len(b))
		p.obj.Set("scratch", scratch)
		defer p.obj.Set("scratch", p.scratch)
	}
	js.CopyBytesToJS(scratch, b)
	p.start.Invoke(x.ID, x.Group, float64(x.Awaits), flags, head, len(x.Body))
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
