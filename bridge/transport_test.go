package bridge

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// unconnected returns a link of a bridge that does not run.
func unconnected(t *testing.T) *link {
	b, err := New(&Options{Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	return newLink(b, Pairing{}, nil)
}

// FuzzHandleRequest sends messages of an extension to a link. A message without the tag
// of a call must not reach the client of that call.
func FuzzHandleRequest(f *testing.F) {
	f.Add("notifications/progress", []byte(`{"progressToken":"tools/call#1","progress":1}`))
	f.Add("notifications/message", []byte(`{"level":"info","data":1,"_meta":{"portolan/call":"tools/call#1"}}`))
	f.Add("notifications/message", []byte(`{"level":"info","data":1}`))
	f.Add("notifications/progress", []byte(`{"progressToken":"tools/call#2","progress":1}`))
	f.Add("notifications/cancelled", []byte(`{"requestId":1.5}`))
	f.Add("notifications/portolan/origins", []byte(`{"origins":["https://a.example","*"]}`))
	f.Fuzz(func(t *testing.T, method string, params []byte) {
		if !json.Valid(params) || method == "elicitation/create" || method == "notifications/tools/list_changed" {
			return // those write to the socket
		}
		l := unconnected(t)
		call, err := l.begin(t.Context(), "a", "tools/call")
		if err != nil {
			t.Fatal(err)
		}
		l.handleRequest(&jsonrpc.Request{Method: method, Params: params})
		var p progress
		_ = json.Unmarshal(params, &p)
		if len(call.events) > 0 && p.Token != call.id && callTag(params) != call.id {
			t.Errorf("%s %s reached a call that it is not about", method, params)
		}
		for _, o := range l.approvedPages() {
			if !loopback.PageOrigin(o) {
				t.Errorf("%q is approved", o)
			}
		}
	})
}

// TestASlowClientLosesProgressOnly checks that the queue is bounded and the response arrives.
func TestASlowClientLosesProgressOnly(t *testing.T) {
	l := unconnected(t)
	f, err := l.begin(t.Context(), "a", "tools/call")
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 * eventQueue {
		l.handleRequest(&jsonrpc.Request{Method: "notifications/progress",
			Params: json.RawMessage(`{"progressToken":"` + f.id + `","progress":` + strconv.Itoa(i) + `}`)})
	}
	id, _ := jsonrpc.MakeID(f.id)
	for range 2 { // the second is ignored
		l.handle(&jsonrpc.Response{ID: id, Result: json.RawMessage(`1`)})
	}
	heard := new(counter)
	if r := f.wait(context.Background(), l.gone, heard); r == nil || heard.n != eventQueue {
		t.Errorf("%v after %d events", r, heard.n)
	}
	l.finish(f)
	l.handle(&jsonrpc.Response{ID: id, Result: json.RawMessage(`2`)}) // too late
}

type counter struct {
	noCaller
	n int
}

func (c *counter) progress(context.Context, progress) { c.n++ }
