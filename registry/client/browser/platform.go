//go:build js

package browser

import (
	"errors"
	"strings"
	"sync"
	"syscall/js"
	"time"
	"unsafe"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/browser/membuf"
)

// JS returns the platform behind obj, a Plane of plane.ts. One exchange costs
// one call into JavaScript and, as a rule, one back. The platform lasts as long
// as the module.
func JS(obj js.Value) Platform {
	p := &jsPlatform{obj: obj, number: int32(len(platforms)), buf: make([]byte, 0, 4<<10), sinks: map[uint32]Sink{}}
	platforms = append(platforms, p)
	obj.Call("join", p.number)
	return p
}

// platforms are those of this module, by number: exports are functions of the module.
var platforms []*jsPlatform

type jsPlatform struct {
	obj    js.Value
	number int32

	mu    sync.Mutex
	sinks map[uint32]Sink
	buf   []byte // what start reads next
}

func (p *jsPlatform) Bound(l registry.Limits) {
	p.obj.Call("bound", l.ResponseBytes, l.EventBytes, l.ErrorBytes, l.DefinitionBytes, l.Depth, l.EventsPerSecond,
		l.PingsPerSecond, l.DescriptionBytes, l.SchemaDepth, l.SchemaNodes, l.EnumValues, l.ToolsPerServer, l.ResultValues)
}

func (p *jsPlatform) Resolve(base, ref string) (href, origin string, ok bool) {
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

func (p *jsPlatform) Start(x *Exchange, sink Sink) {
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
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sinks[x.ID] = sink
	b := append(append(append(p.buf[:0], x.Method...), '\n'), x.URL...)
	for _, h := range x.Header {
		b = append(append(b, '\n'), h...)
	}
	head := len(b)
	b = append(b, x.Body...)
	start(p.number, x.ID, x.Group, float64(x.Awaits), flags, crossing.Address(b), int32(head), int32(len(x.Body)))
	if cap(b) <= keptBuffer {
		p.buf = b
	}
}

// keptBuffer bounds the buffer that is kept between exchanges.
const keptBuffer = 64 << 10

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

func (p *jsPlatform) Pin(table, index uint32) string {
	return p.obj.Call("pin", table, index).String()
}

func (p *jsPlatform) Fingerprint(table uint32, done func(string)) {
	var ended js.Func
	ended = js.FuncOf(func(_ js.Value, args []js.Value) any {
		ended.Release()
		done(args[0].String())
		return nil
	})
	p.obj.Call("fingerprint", table, ended)
}

func (p *jsPlatform) Free(table uint32) { p.obj.Call("release", table) }

func (p *jsPlatform) Multiplexed(origin string) bool {
	return p.obj.Call("multiplexed", origin).Truthy()
}

// The flags of deliver.
const (
	flagLast  = 1
	flagError = 2 // of Output: the tool says that it failed
)

// deliver is called by plane.ts. What a, b, c and the two texts are depends on
// kind. It returns whether the module is calm.
//
//go:wasmexport portolan_deliver
func deliver(platform int32, id uint32, kind, flags int32, a, b, c float64, lenA, lenB int32) (calm int32) {
	defer func() {
		if recover() != nil { // a panic here would end the module
			calm = 0
		}
	}()
	textA, textB := crossing.Take(lenA, lenB)
	if int(platform) >= len(platforms) {
		return 1
	}
	p := platforms[platform]
	e := &Event{Kind: Kind(kind), Last: flags&flagLast != 0, Retry: -1}
	switch e.Kind {
	case Head, Refused:
		e.Status, e.Header, e.Text = int(a), string(textA), string(textB)
	case End:
		e.Why, e.Text, e.LastID = Reason(a), string(textA), string(textB)
		if b >= 0 {
			e.Retry = time.Duration(min(b, 1e9)) * time.Millisecond
		}
	case Tools:
		e.RPC, e.Table, e.Bytes = int64(a), uint32(b), int(c)
		e.Text, e.Extra = string(textA), string(textB)
	case Output:
		e.RPC, e.Table, e.Bytes, e.IsError = int64(a), uint32(b), int(c), flags&flagError != 0
	case Progress:
		e.RPC, e.Progress, e.Total, e.Text = int64(a), b, c, string(textA)
	case Dropped:
		e.Bytes = int(a)
	case Message, Endpoint:
		e.Text = string(textA)
	}
	p.mu.Lock()
	sink := p.sinks[id]
	if e.Last {
		delete(p.sinks, id)
	}
	p.mu.Unlock()
	if sink == nil {
		freeEvent(p, e)
		return 1
	}
	sink.Deliver(e)
	return crossing.Calmed()
}
