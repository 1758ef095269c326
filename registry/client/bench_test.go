package client

import (
	"testing"

	"github.com/portolan-mcp/portolan/registry"
)

// An instant is a platform that answers every call at once.
type instant struct {
	nowhere
	sink Sink
	work chan func()
}

func (p *instant) Join(_ registry.Limits, sink Sink) { p.sink = sink }

func (p *instant) Start(x *Exchange) {
	id := x.Awaits
	p.work <- func() { p.sink.Deliver(x.ID, &Event{Kind: Output, Last: true, RPC: id, Table: 1, Bytes: 100}) }
}

// BenchmarkCall is what Go itself spends on one call.
func BenchmarkCall(b *testing.B) {
	p := &instant{work: make(chan func(), 1)}
	go func() {
		for f := range p.work {
			f()
		}
	}()
	defer close(p.work)
	for name, version := range map[string]string{"legacy": legacy, "modern": modern} {
		b.Run(name, func(b *testing.B) {
			d := &dial{c: New(p, nil), href: testEndpoint, notify: func(registry.Notice) {}, headers: []string{"Authorization", "Bearer x"}}
			s := d.session(registry.SessionInfo{Transport: "streamable-http", ProtocolVersion: version})
			defer s.shut()
			call := registry.ToolCall{Tool: "echo", Arguments: []byte(`{"text":"hello"}`)}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.CallTool(b.Context(), call); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
