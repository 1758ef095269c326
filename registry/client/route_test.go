package client

import (
	"strconv"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A nowhere is a platform without a network.
type nowhere struct{ started int }

func (*nowhere) Join(registry.Limits, Sink)                    {}
func (*nowhere) Resolve(base, _ string) (string, string, bool) { return base, base, true }
func (n *nowhere) Start(*Exchange)                             { n.started++ }
func (*nowhere) Cancel(uint32)                                 {}
func (*nowhere) Text(uint32, uint32) ([]byte, error)           { return []byte("{}"), nil }
func (*nowhere) Pin(uint32, uint32) string                     { return "" }
func (*nowhere) Risky(_, _ uint32, done func(bool))            { done(false) }
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
		mail := d.c.mailbox(s, OpOther) // its id is 4
		d.c.Deliver(mail.id, &Event{Kind: Message, Text: text})
		for _, e := range mail.events {
			if e.Kind == End {
				t.Fatalf("%q broke the session", text)
			}
			if rpc := rpcError([]byte(e.Text)); rpc != nil {
				_ = rpc.Error()
			}
		}
		s.shut()
		<-s.idle
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

// Ids are those of a client, and so a server may guess another server's.
func TestAnswersOfOtherSessionsAreIgnored(t *testing.T) {
	d := &dial{c: New(&nowhere{}, nil), notify: func(registry.Notice) {}}
	own, other := d.session(registry.SessionInfo{}), d.session(registry.SessionInfo{})
	defer own.shut()
	defer other.shut()
	from, to := d.c.mailbox(own, OpOther), d.c.mailbox(other, OpCall)
	for _, id := range []int64{int64(to.id), int64(to.id) + 1<<32, 0, -1} {
		d.c.Deliver(from.id, &Event{Kind: Output, RPC: id, Table: 1})
		d.c.Deliver(from.id, &Event{Kind: Progress, RPC: id})
		d.c.Deliver(from.id, &Event{Kind: Message, Text: `{"id":` + strconv.FormatInt(id, 10) + `,"error":{"code":1}}`})
	}
	if len(to.events) != 0 {
		t.Errorf("the other session's request got %d events", len(to.events))
	}
	d.c.Deliver(to.id, &Event{Kind: Output, RPC: int64(to.id), Table: 1})
	if len(to.events) != 1 {
		t.Errorf("the request got %d events of its own, want 1", len(to.events))
	}
	from.close()
	to.close()
	if n := len(d.c.waiting); n != 0 {
		t.Errorf("%d mailboxes are held", n)
	}
}

// While a request waits, as for a sign-in, its server may answer it over and over on another stream.
func TestOneAnswerIsKept(t *testing.T) {
	d := &dial{c: New(&nowhere{}, nil), notify: func(registry.Notice) {}}
	s := d.session(registry.SessionInfo{})
	defer s.shut()
	stream, mail := d.c.mailbox(s, OpOther), d.c.mailbox(s, OpCall)
	id := strconv.Itoa(int(mail.id))
	for range 1000 {
		d.c.Deliver(stream.id, &Event{Kind: Message, Text: `{"id":` + id + `,"result":{"n":1}}`})
		d.c.Deliver(stream.id, &Event{Kind: Output, RPC: int64(mail.id), Table: 1})
	}
	d.c.Deliver(mail.id, &Event{Kind: End, Last: true})
	if len(mail.events) != 2 || mail.events[0].Kind != Message || mail.events[1].Kind != End {
		t.Errorf("%d events are kept, want the first answer and the end", len(mail.events))
	}
}

// Words beyond what people see cost a server nothing, and the client time for each secret.
func TestLongWordsAreCutFirst(t *testing.T) {
	d := &dial{c: New(&nowhere{}, nil), headers: []string{"Authorization", "Bearer abcdefgh"}}
	if got := d.cleaned(strings.Repeat("x", 1<<20)); len(got) != maxCleaned {
		t.Errorf("%d bytes are looked at", len(got))
	}
}
