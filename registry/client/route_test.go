package client

import (
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
)

// A nowhere is a platform without a network.
type nowhere struct{ started int }

func (*nowhere) Bound(registry.Limits)                         {}
func (*nowhere) Resolve(base, _ string) (string, string, bool) { return base, base, true }
func (n *nowhere) Start(*Exchange, Sink)                       { n.started++ }
func (*nowhere) Cancel(uint32)                                 {}
func (*nowhere) Text(uint32, uint32) ([]byte, error)           { return []byte("{}"), nil }
func (*nowhere) Pin(uint32, uint32) string                     { return "" }
func (*nowhere) Fingerprint(_ uint32, done func(string))       { done("") }
func (*nowhere) Free(uint32)                                   {}
func (*nowhere) Multiplexed(string) bool                       { return true }

// FuzzMessage feeds what a server may say unasked: valid JSON of bounded depth,
// for the platform passes on nothing else.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`, `[]`, `7`, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"id":"x","method":"elicitation/create","params":{}}`,
		`{"id":{},"method":"roots/list"}`, `{"method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"id":4,"result":{}}`, `{"id":4,"error":{"code":1e99,"message":7}}`, `{"id":4,"error":[]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if rawjson.Valid([]byte(text), 128) != nil {
			return
		}
		d := &dial{c: New(&nowhere{}, nil), notify: func(n registry.Notice) { t.Errorf("notice %+v", n) }}
		s := d.session(registry.SessionInfo{ProtocolVersion: legacy})
		mail := newMailbox(d.c.platform)
		s.calls[4] = mail
		r := &route{s: s, mail: mail, exchange: 1}
		r.Deliver(&Event{Kind: Message, Text: text})
		for _, e := range mail.events {
			if e.Kind == End {
				t.Fatalf("%q broke the session", text)
			}
			if rpc := rpcError([]byte(e.Text)); rpc != nil {
				_ = rpc.Error()
			}
		}
		s.shut()
		s.running.Wait()
	})
}

// FuzzPage feeds the extra of a Tools event, which holds a server's words.
func FuzzPage(f *testing.F) {
	f.Add("a\nb", `{"drops":[["x","why"]],"next":"","ttl":1500,"headers":[1]}`)
	f.Add("", `{"drops":7,"next":null,"ttl":-1e300,"headers":[-1,1e9,"x"]}`)
	f.Fuzz(func(t *testing.T, names, extra string) {
		if rawjson.Valid([]byte(extra), 0) != nil {
			return
		}
		d := &dial{c: New(&nowhere{}, nil), notify: func(registry.Notice) {}}
		page := d.session(registry.SessionInfo{ProtocolVersion: modern}).page(&Event{Kind: Tools, Text: names, Extra: extra, Bytes: 100})
		if page.TTL < 0 || page.TTL > maxTTL {
			t.Errorf("TTL %v", page.TTL)
		}
		for _, tool := range page.Tools {
			_ = tool.Def.Len()
		}
	})
}

func TestHeaderMap(t *testing.T) {
	h := headerMap("retry-after\n3\nwww-authenticate\nBearer x=\"y\"")
	if len(h) != 2 || h["Retry-After"][0] != "3" || h["Www-Authenticate"][0] != `Bearer x="y"` {
		t.Errorf("headers %v", h)
	}
}
