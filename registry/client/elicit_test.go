package client

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func TestWithDefaults(t *testing.T) {
	const properties = `{"a":{"type":"string","default":"x"},"b":{"type":"integer","default":0},"c":{"type":"string"}}`
	for _, row := range []struct{ result, properties, want string }{
		{`{"action":"accept","content":{"c":"y"}}`, properties, `{"action":"accept","content":{"c":"y","a":"x","b":0}}`},
		{`{"action":"accept","content":{"a":"z","b":1}}`, properties, `{"action":"accept","content":{"a":"z","b":1}}`},
		{`{"action":"accept"}`, properties, `{"action":"accept","content":{"a":"x","b":0}}`},
		{`{"action":"accept","content":{}}`, `[]`, `{"action":"accept","content":{}}`},
		{`{"action":"accept","content":{"a":null}}`, properties, `{"action":"accept","content":{"a":null,"b":0}}`},
	} {
		if got := string(withDefaults([]byte(row.result), []byte(row.properties))); got != row.want {
			t.Errorf("withDefaults(%s) = %s, want %s", row.result, got, row.want)
		}
	}
}

func asking(state string) registrytest.Step {
	return func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		registrytest.Reply(w, m, `{"resultType":"input_required",`+state+`"inputRequests":{"q\"1":{"method":"elicitation/create","params":{"message":"?"}}}}`)
	}
}

func TestRounds(t *testing.T) {
	accept := func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		if got := registry.CallID(ctx); got != 7 {
			t.Errorf("a question during call %d, want 7", got)
		}
		return []byte(`{"action":"accept","content":{"x":1}}`), nil
	}
	refuse := func(context.Context, string, []byte) ([]byte, error) { return nil, errors.New("no user here") }
	t.Run("state is echoed as it came", func(t *testing.T) {
		n := 0
		s := (&registrytest.Script{Modern: true}).On("tools/call", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			if n++; n == 1 {
				asking(`"requestState":"a\/b é",`)(w, req, m)
				return
			}
			registrytest.Reply(w, m, `{"content":[]}`)
		})
		b := newBench(t, s, Options{Elicit: accept})
		if _, err := b.connect(registry.ServerConfig{}, nil).CallTool(b.ctx, registry.ToolCall{ID: 7, Tool: "t"}); err != nil {
			t.Fatal(err)
		}
		calls := s.Received("tools/call")
		if second := string(calls[1].Params); !strings.Contains(second, `"requestState":"a\/b é"`) ||
			!strings.Contains(second, `"inputResponses":{"q\"1":{"action":"accept","content":{"x":1}}}`) {
			t.Errorf("second round: %s", second)
		}
		if string(calls[0].ID) == string(calls[1].ID) {
			t.Error("both rounds have one id")
		}
	})
	t.Run("a flood", func(t *testing.T) {
		questions := strings.Repeat(`,"q":{"method":"elicitation/create","params":{"message":"?"}}`, 1000)
		s := (&registrytest.Script{Modern: true}).On("tools/call", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			for i := range 1000 { // names that differ
				questions = strings.Replace(questions, `"q":`, `"q`+strconv.Itoa(i)+`":`, 1)
			}
			registrytest.Reply(w, m, `{"resultType":"input_required","inputRequests":{`+questions[1:]+`}}`)
		})
		put := 0
		b := newBench(t, s, Options{Elicit: func(context.Context, string, []byte) ([]byte, error) {
			put++
			return []byte(`{"action":"decline"}`), nil
		}})
		_, err := b.connect(registry.ServerConfig{}, nil).CallTool(b.ctx, registry.ToolCall{ID: 7, Tool: "t"})
		if !errors.Is(err, registry.ErrProtocol) || put > maxInputs {
			t.Errorf("%d questions, error %v", put, err)
		}
	})
	for name, row := range map[string]struct {
		step   registrytest.Step
		elicit registry.Elicit
		calls  int
		want   error
	}{
		"for ever":   {asking(""), accept, maxRounds, registry.ErrProtocol},
		"no host":    {asking(""), nil, 1, errNoElicit},
		"host fails": {asking(""), refuse, 1, registry.ErrInvalidArguments}, // which is no fault of the server
		"unknown question": {func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.Reply(w, m, `{"resultType":"input_required","inputRequests":{"q":{"method":"sampling/createMessage"}}}`)
		}, accept, 1, errNoElicit},
		"unknown kind of result": {func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
			registrytest.Reply(w, m, `{"resultType":"perhaps"}`)
		}, accept, 1, registry.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			s := (&registrytest.Script{Modern: true}).On("tools/call", row.step)
			b := newBench(t, s, Options{Elicit: row.elicit})
			_, err := b.connect(registry.ServerConfig{}, nil).CallTool(b.ctx, registry.ToolCall{ID: 7, Tool: "t"})
			if err == nil || row.want != nil && !errors.Is(err, row.want) {
				t.Errorf("error %v, want %v", err, row.want)
			}
			if n := len(s.Received("tools/call")); n != row.calls {
				t.Errorf("%d rounds, want %d", n, row.calls)
			}
		})
	}
}

// A question that the server withdraws, or that comes too many at once, does not reach the user or stays with him.
func TestQuestionsAreBounded(t *testing.T) {
	asked, withdrawn := make(chan struct{}, 100), make(chan struct{}, 100)
	elicit := func(ctx context.Context, _ string, _ []byte) ([]byte, error) {
		asked <- struct{}{}
		<-ctx.Done()
		withdrawn <- struct{}{}
		return nil, ctx.Err()
	}
	question := func(id string) string {
		return `data: {"jsonrpc":"2.0","id":` + id + `,"method":"elicitation/create","params":{}}` + "\n\n"
	}
	first, more := make(chan struct{}), make(chan struct{})
	s := (&registrytest.Script{Session: "s"}).On("tools/call", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
		registrytest.Body("text/event-stream", question("1"))(w, req, m)
		<-first // so that this one is not among those that are too many
		registrytest.Body("", question("1")+question("2")+question("3")+question("4")+question("5"))(w, req, m)
		<-more
		registrytest.Body("", `data: {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"the tide"}}`+"\n\n")(w, req, m)
		<-req.Context().Done()
	})
	b := newBench(t, s, Options{Elicit: elicit})
	logged := make(chan string, 100)
	session := b.connect(registry.ServerConfig{}, func(n registry.Notice) {
		if n.Log != nil {
			logged <- n.Log.Text
		}
	})
	ctx, cancel := context.WithCancel(b.ctx)
	go session.CallTool(ctx, registry.ToolCall{ID: 7, Tool: "t"})
	<-asked
	close(first)
	for range maxQuestions - 1 {
		<-asked
	}
	for len(s.Received("")) < 2 && b.ctx.Err() == nil { // two of the four that come after the first
		time.Sleep(time.Millisecond)
	}
	for _, m := range s.Received("") {
		if string(m.ID) == "1" || string(m.Result) != cancelled {
			t.Errorf("the answer to question %s of too many: %s, want %s", m.ID, m.Result, cancelled)
		}
	}
	close(more)
	<-withdrawn
	if words := <-logged; words != "The server withdrew its question: the tide" {
		t.Errorf("logged %q", words)
	}
	cancel() // the call takes the others along
	for range maxQuestions - 1 {
		<-withdrawn
	}
	if len(asked) > 0 {
		t.Error("more questions were asked at once than allowed")
	}
}
