//go:build js

// Package browser is the platform of package client in JavaScript: wasm/js/fetch moves
// and parses the bytes, and keeps tool definitions and results. It needs no page: it
// runs in workers, service workers and Node too.
//
// One exchange costs one call into JavaScript ([New]) and, as a rule, one back.
package browser

import (
	"errors"
	"strings"
	"syscall/js"
	"time"
	"unsafe"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/browser/membuf"
)

// New returns the platform behind obj, a Platform of wasm/js/fetch/platform.ts. It lasts
// as long as the module.
func New(obj js.Value) *Platform {
	p := &Platform{obj: obj, number: int32(len(platforms)), buf: make([]byte, 0, 4<<10)}
	platforms = append(platforms, p)
	obj.Call("join", p.number)
	return p
}

// platforms are those of this module, by number: exports are functions of the module.
var platforms []*Platform

// A Platform is a [client.Platform].
type Platform struct {
	obj    js.Value
	number int32
	sink   client.Sink
	buf    []byte // what start reads next
}

// Join implements [client.Platform].
func (p *Platform) Join(limits registry.Limits, sink client.Sink) {
	p.sink = sink
	p.obj.Call("bound", limits.JSON())
}

// Resolve implements [client.Platform].
func (p *Platform) Resolve(base, ref string) (href, origin string, ok bool) {
	v := p.obj.Call("resolve", base, ref)
	if v.Type() != js.TypeString {
		return "", "", false
	}
	origin, href, ok = strings.Cut(v.String(), "\n")
	return href, origin, ok
}

// start reads head (method, URL, names and values of headers, one a line) and
// then body, which follows it.
//
//go:wasmimport portolan start
func start(platform int32, id, group uint32, awaits float64, flags int32, at unsafe.Pointer, head, body int32)

// Start implements [client.Platform].
func (p *Platform) Start(x *client.Exchange) {
	var flags int32
	if x.Head {
		flags |= 1
	}
	if x.Once {
		flags |= 2
	}
	if x.Whole {
		flags |= 4
	}
	b := append(append(append(p.buf[:0], x.Method...), '\n'), x.URL...)
	for _, h := range x.Header {
		b = append(append(b, '\n'), h...)
	}
	head := len(b)
	b = append(b, x.Body...)
	start(p.number, x.ID, x.Group, float64(x.Awaits), flags, membuf.Address(b), int32(head), int32(len(x.Body)))
	if cap(b) <= keptBuffer {
		p.buf = b
	}
}

// keptBuffer bounds the buffer that is kept between exchanges.
const keptBuffer = 64 << 10

// Cancel implements [client.Platform].
func (p *Platform) Cancel(id uint32) { p.obj.Call("cancel", id) }

// Text implements [client.Platform].
func (p *Platform) Text(table, index uint32) ([]byte, error) {
	v := p.obj.Call("text", table, index)
	if v.Type() != js.TypeString {
		return nil, errors.New("the value was released")
	}
	return []byte(v.String()), nil
}

// Pin implements [client.Platform].
func (p *Platform) Pin(table, index uint32) string {
	return p.obj.Call("pin", table, index).String()
}

// Risky implements [client.Platform].
func (p *Platform) Risky(table, index uint32, done func(bool)) {
	p.obj.Call("risky", table, index, once(func(risky js.Value) { done(risky.Truthy()) }))
}

// Fingerprint implements [client.Platform].
func (p *Platform) Fingerprint(table uint32, done func(string)) {
	p.obj.Call("fingerprint", table, once(func(print js.Value) { done(print.String()) }))
}

// once returns a function for JavaScript that is called once.
func once(fn func(js.Value)) js.Func {
	var f js.Func
	f = js.FuncOf(func(_ js.Value, args []js.Value) any {
		f.Release()
		fn(args[0])
		return nil
	})
	return f
}

// Free implements [client.Platform].
func (p *Platform) Free(table uint32) { p.obj.Call("release", table) }

// Multiplexed implements [client.Platform].
func (p *Platform) Multiplexed(origin string) bool {
	return p.obj.Call("multiplexed", origin).Truthy()
}

// The flags of deliver.
const (
	flagLast  = 1
	flagError = 2 // of an Output event: the tool says that it failed
)

// deliver is called by platform.ts. What a, b, c and the two texts are depends on kind.
// It returns 1 if no goroutine has to run now: see [membuf].
//
//go:wasmexport portolan_deliver
func deliver(platform int32, id uint32, kind, flags int32, a, b, c float64, lenA, lenB int32) (calm int32) {
	defer func() {
		if recover() != nil { // a panic here would end the module
			calm = 0
		}
	}()
	textA, textB := membuf.Take(lenA, lenB)
	if int(platform) >= len(platforms) {
		return 1
	}
	p := platforms[platform]
	e := &client.Event{Kind: client.Kind(kind), Last: flags&flagLast != 0, Retry: -1}
	switch e.Kind {
	case client.Head, client.Refused:
		e.Status, e.Header, e.Text = int(a), string(textA), string(textB)
	case client.End:
		e.Why, e.Text, e.LastID = client.Reason(a), string(textA), string(textB)
		if b >= 0 {
			e.Retry = time.Duration(min(b, 1e9)) * time.Millisecond
		}
	case client.Tools:
		e.RPC, e.Table, e.Bytes = int64(a), uint32(b), int(c)
		e.Text, e.Extra = string(textA), string(textB)
	case client.Output:
		e.RPC, e.Table, e.Bytes, e.IsError = int64(a), uint32(b), int(c), flags&flagError != 0
	case client.Progress:
		e.RPC, e.Progress, e.Total, e.Text = int64(a), b, c, string(textA)
	case client.Dropped:
		e.Bytes = int(a)
	case client.Message, client.Endpoint:
		e.Text = string(textA)
	}
	if p.sink.Deliver(id, e) {
		return 1
	}
	return 0
}
