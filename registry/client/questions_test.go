package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
	"github.com/portolan-mcp/portolan/registry/validate"
)

// sse is an event with a message of the server.
func sse(message string) string { return "data: " + message + "\n\n" }

// asks is a tool that puts a question to the user and answers with the user's answer.
func asks(params string) *registrytest.Script { return asksBy("elicitation/create", params) }

func asksBy(method, params string) *registrytest.Script {
	s := &registrytest.Script{Session: "s"}
	return s.On("tools/call", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
		registrytest.Body("text/event-stream", sse(`{"jsonrpc":"2.0","id":"q","method":"`+method+`","params":`+params+`}`))(w, req, m)
		answer, _ := s.Await("", req.Context().Done())
		result := string(answer.Result)
		if result == "" {
			result = string(answer.Error)
		}
		registrytest.Body("", sse(`{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"content":[],"structuredContent":`+result+`}}`))(w, req, m)
	})
}

func TestQuestions(t *testing.T) {
	const form = `{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":3}},"required":["n"]}}`
	accept := func(content string) registry.Elicit {
		return func(context.Context, string, []byte) ([]byte, error) {
			return []byte(`{"action":"accept","content":` + content + `}`), nil
		}
	}
	never := func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	address := func(url string) string {
		return `{"mode":"url","message":"Pay","url":"` + url + `","elicitationId":"1"}`
	}
	nested := strings.Replace(form, `"type":"integer"`, `"type":"object"`, 1)
	for _, row := range []struct {
		name, params string
		options      Options
		want         string // in the user's answer, as the server gets it
	}{
		{"accepted", form, Options{Elicit: accept(`{"n":1}`)}, `{"action":"accept","content":{"n":1}}`},
		{"a default", form, Options{Elicit: accept(`{}`)}, `{"action":"accept","content":{"n":3}}`},
		{"an answer that does not fit", form, Options{Elicit: accept(`{"n":"one"}`)}, "-32602"},
		{"nobody answers in time", form, Options{Elicit: never, ElicitTime: 20 * time.Millisecond}, cancelled},
		{"a schema that is not flat", nested, Options{Elicit: accept(`{}`)}, cancelled},
		{"an address", address("https://pay.example/x"), Options{ElicitURL: accept("{}")}, `"action":"accept"`},
		{"an address that nobody opens in time", address("https://pay.example/x"), Options{ElicitURL: never, ElicitTime: 20 * time.Millisecond}, cancelled},
		{"an address where nobody announced the mode", address("https://pay.example/x"), Options{Elicit: accept("{}")}, "-32602"},
		{"an address without TLS", address("http://pay.example/x"), Options{ElicitURL: accept("{}")}, "-32602"},
		{"an address in the private network", address("https://192.168.0.1/x"), Options{ElicitURL: accept("{}")}, "-32602"},
		{"a script", address("javascript:alert(1)"), Options{ElicitURL: accept("{}")}, "-32602"},
		{"an address with a name and a password", address("https://bank.example@pay.example/"), Options{ElicitURL: accept("{}")}, "-32602"},
		{"a mode that nobody knows", `{"mode":"voice","message":"?"}`, Options{Elicit: accept("{}"), ElicitURL: accept("{}")}, "-32602"},
	} {
		t.Run(row.name, func(t *testing.T) {
			row.options.Validate = validate.Schema
			b := newBench(t, asks(row.params), row.options)
			var open atomic.Int32
			out, err := b.connect(registry.ServerConfig{}, nil).CallTool(b.ctx, registry.ToolCall{ID: 7, Tool: "t", OnAsk: func(asks bool) {
				if asks {
					open.Add(1)
				} else {
					open.Add(-1)
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := out.Result.JSON(); !strings.Contains(string(got), row.want) {
				t.Errorf("the server got %s, want %s", got, row.want)
			}
			if n := open.Load(); n != 0 {
				t.Errorf("%d questions are open after the call", n)
			}
		})
	}
}

func TestAddressesOfAnError(t *testing.T) {
	const refusal = `{"code":-32042,"message":"Sign up first","data":{"elicitations":[{"mode":"url","elicitationId":"one","message":"Sign up","url":"https://pay.example/1"}]}}`
	var shown []string
	sends := 0
	s := &registrytest.Script{Session: "s"}
	s.On("tools/call", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
		if sends++; sends == 2 {
			registrytest.Reply(w, m, `{"content":[]}`)
			return
		}
		registrytest.Body("application/json", `{"jsonrpc":"2.0","id":$id,"error":`+refusal+`}`)(w, req, m)
	})
	visited := make(chan struct{})
	s.On("GET", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
		registrytest.Body("text/event-stream", ": open\n\n")(w, req, m)
		select {
		case <-visited:
			registrytest.Body("", sse(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"one"}}`))(w, req, m)
		case <-req.Context().Done():
		}
		<-req.Context().Done()
	})
	b := newBench(t, s, Options{ElicitURL: func(ctx context.Context, _ string, params []byte) ([]byte, error) {
		shown = append(shown, string(params))
		close(visited)
		<-ctx.Done() // until the server says that the user is done
		return nil, ctx.Err()
	}})
	session := b.connect(registry.ServerConfig{}, nil)
	if _, err := session.CallTool(b.ctx, registry.ToolCall{ID: 7, Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	want := []string{`{"mode":"url","url":"https://pay.example/1","elicitationId":"one","message":"Sign up","awaitsEnd":true}`}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}

	t.Run("declined", func(t *testing.T) {
		sends = 0
		b := newBench(t, s, Options{ElicitURL: func(context.Context, string, []byte) ([]byte, error) { return []byte(`{"action":"decline"}`), nil }})
		_, err := b.connect(registry.ServerConfig{}, nil).CallTool(b.ctx, registry.ToolCall{ID: 7, Tool: "t"})
		var rpc *registry.RPCError
		if !errors.As(err, &rpc) || rpc.Code != -32042 || !strings.Contains(string(rpc.Data), "https://pay.example/1") {
			t.Errorf("error %v, want the server's with its addresses", err)
		}
		if sends != 1 {
			t.Errorf("%d calls, want 1", sends)
		}
	})
}

// A server may have errors of its own with the number of URLElicitationRequiredError.
func TestAnErrorWithoutAddresses(t *testing.T) {
	for _, data := range []string{"", `,"data":null`, `,"data":{"elicitations":7}`, `,"data":{"elicitations":[]}`} {
		s := &registrytest.Script{Session: "s"}
		s.On("tools/call", registrytest.Body("application/json",
			`{"jsonrpc":"2.0","id":$id,"error":{"code":-32042,"message":"sold out"`+data+`}}`))
		b := newBench(t, s, Options{ElicitURL: func(context.Context, string, []byte) ([]byte, error) {
			t.Error("a question")
			return []byte(`{"action":"accept"}`), nil
		}})
		_, err := b.connect(registry.ServerConfig{}, nil).CallTool(b.ctx, registry.ToolCall{Tool: "t"})
		var rpc *registry.RPCError
		if !errors.As(err, &rpc) || rpc.Message != "sold out" {
			t.Errorf("data %q: error %v, want the server's", data, err)
		}
	}
}

// Two questions may have one elicitationId. The answer to the first says nothing of the second.
func TestQuestionsOfOneElicitation(t *testing.T) {
	const question = `"method":"elicitation/create","params":{"mode":"url","message":"Pay","url":"https://pay.example/x","elicitationId":"1"}}`
	s := &registrytest.Script{Session: "s"}
	first := make(chan struct{})
	s.On("tools/call", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
		registrytest.Body("text/event-stream", sse(`{"jsonrpc":"2.0","id":"p",`+question)+sse(`{"jsonrpc":"2.0","id":"q",`+question))(w, req, m)
		_, _ = s.Await("", req.Context().Done())
		close(first)
		_, _ = s.Await("second", req.Context().Done())
		registrytest.Body("", sse(`{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"content":[]}}`))(w, req, m)
	})
	var put atomic.Int32
	both := make(chan struct{})
	b := newBench(t, s, Options{ElicitURL: func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		if put.Add(1) == 1 {
			<-both
		} else {
			close(both)
			<-first
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return []byte(`{"action":"decline"}`), nil
	}})
	ctx, cancel := context.WithCancel(b.ctx)
	done := make(chan struct{})
	session := b.connect(registry.ServerConfig{}, nil)
	go func() {
		defer close(done)
		_, _ = session.CallTool(ctx, registry.ToolCall{Tool: "t"})
	}()
	var answers []registrytest.Message
	for ; len(answers) < 2 && b.ctx.Err() == nil; answers = s.Received("") {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-done
	if len(answers) != 2 {
		t.Errorf("%d answers", len(answers))
	}
	for _, a := range answers {
		if !strings.Contains(string(a.Result), "decline") {
			t.Errorf("%s: %s", a.ID, a.Result)
		}
	}
}
