//go:build !windows

package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 log messages belong to the versions that the gateway passes on

// withToken is a client that sends the gateway's token.
type withToken struct{ token string }

func (c withToken) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+c.token)
	return http.DefaultTransport.RoundTrip(req)
}

// A heard is what a go-sdk client receives beside answers.
type heard struct {
	progress, logs, changed, updated chan string
}

// connect connects a go-sdk client in a version.
func (r *running) connect(server, version string) (*mcp.ClientSession, *heard) {
	r.t.Helper()
	h := &heard{make(chan string, 100), make(chan string, 100), make(chan string, 100), make(chan string, 100)}
	c := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			text, _ := json.Marshal(req.Params)
			h.progress <- string(text)
		},
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) { h.logs <- req.Params.Data.(string) },
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			h.changed <- "tools"
		},
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { h.updated <- req.Params.URI },
		ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Ada"}}, nil
		},
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Model: "a-model", Role: "assistant", Content: &mcp.TextContent{Text: "x"}}, nil
		},
	})
	c.AddRoots(&mcp.Root{URI: "file:///home/a", Name: "a"})
	s, err := c.Connect(context.Background(), &mcp.StreamableClientTransport{
		Endpoint: r.url(server), HTTPClient: &http.Client{Transport: withToken{r.token}},
	}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { s.Close() })
	return s, h
}

func textOf(t testing.TB, res *mcp.CallToolResult, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return res.Content[0].(*mcp.TextContent).Text
}

// TestEverythingPasses uses all of a go-sdk server with go-sdk's client, in both eras, by a
// process of its own and by a shared one.
func TestEverythingPasses(t *testing.T) {
	for _, row := range []struct {
		name, program, version, want string
		shared                       bool
	}{
		{"2025-11-25", "sdk", "2025-11-25", "2025-11-25", false},
		{"2026-07-28", "sdk", "2026-07-28", "2026-07-28", false},
		{"a new client, an older program", "older", "2026-07-28", "2025-11-25", false},
		{"an old client", "older", "2024-11-05", "2024-11-05", false},
		{"shared, 2025-11-25", "sdk", "2025-11-25", "2025-11-25", true},
		{"shared, 2026-07-28", "sdk", "2026-07-28", "2026-07-28", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, &Options{Shared: row.shared}, testServer(t, "sdk", row.program))
			s, h := r.connect("sdk", row.version)
			ctx := context.Background()
			init := s.InitializeResult()
			if init.ProtocolVersion != row.want || init.ServerInfo.Title != "A Go server" || init.Instructions != "Be kind." ||
				init.Capabilities.Completions == nil || !init.Capabilities.Resources.Subscribe {
				t.Errorf("initialize: %+v", init)
			}
			call := func(name string, arguments any) string {
				t.Helper()
				p := &mcp.CallToolParams{Name: name, Arguments: arguments}
				if name == "progress" {
					p.SetProgressToken("my token")
				}
				res, err := s.CallTool(ctx, p)
				text := textOf(t, res, err)
				if res.Meta["x/y"] != "z" {
					t.Errorf("%s: _meta is %v", name, res.Meta)
				}
				return text
			}
			old := row.want < modern
			if old {
				if err := s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
					t.Error(err)
				}
			}
			if got := call("echo", map[string]any{"text": "<&é\u2028>"}); !strings.Contains(got, "é") {
				t.Error(got)
			}
			if got := call("progress", nil); got != "done" {
				t.Error(got)
			}
			for i := range 3 {
				var p struct {
					ProgressToken string
					Progress      int
				}
				if text := next(t, h.progress); json.Unmarshal([]byte(text), &p) != nil || p.ProgressToken != "my token" || p.Progress != i+1 {
					t.Errorf("progress %d: %s", i, text)
				}
			}
			if old {
				if got := next(t, h.logs); got != "logged" {
					t.Error(got)
				}
				if got := call("ask", nil); got != "acceptAda" {
					t.Error(got)
				}
				if got := call("sample", nil); got != "a-model" {
					t.Error(got)
				}
				if got := call("roots", nil); got != "file:///home/a" {
					t.Error(got)
				}
				if err := s.Subscribe(ctx, &mcp.SubscribeParams{URI: "test://one"}); err != nil {
					t.Error(err)
				}
				call("update", nil)
				if got := next(t, h.updated); got != "test://one" {
					t.Error(got)
				}
				if err := s.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "test://one"}); err != nil {
					t.Error(err)
				}
			}
			call("grow", nil)
			next(t, h.changed)
			if res, err := s.ListTools(ctx, nil); err != nil || len(res.Tools) != 10 {
				t.Errorf("tools: %v %v", res, err)
			}
			if res, err := s.ListResources(ctx, nil); err != nil || len(res.Resources) != 1 {
				t.Errorf("resources: %v %v", res, err)
			}
			if res, err := s.ListResourceTemplates(ctx, nil); err != nil || len(res.ResourceTemplates) != 1 {
				t.Errorf("templates: %v %v", res, err)
			}
			if res, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://one"}); err != nil || res.Contents[0].Text != "content" {
				t.Errorf("resource: %v %v", res, err)
			}
			if res, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "p"}); err != nil || len(res.Messages) != 1 {
				t.Errorf("prompt: %v %v", res, err)
			}
			res, err := s.Complete(ctx, &mcp.CompleteParams{
				Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "p"}, Argument: mcp.CompleteParamsArgument{Name: "a"},
			})
			if err != nil || len(res.Completion.Values) != 2 {
				t.Errorf("completion: %v %v", res, err)
			}
			if _, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "test://none"}); err == nil {
				t.Error("an unknown resource was read")
			}

			waiting, cancel := context.WithCancel(ctx)
			p := &mcp.CallToolParams{Name: "wait"}
			p.SetProgressToken("w")
			ended := make(chan error, 1)
			go func() {
				_, err := s.CallTool(waiting, p)
				ended <- err
			}()
			next(t, h.progress) // it runs
			cancel()
			if err := <-ended; err == nil {
				t.Error("a cancelled call has a result")
			}
			e := r.byName["sdk"]
			eventually(t, "the program hears of the cancellation", func() bool {
				return strings.Contains(e.log.text(), "wait was cancelled")
			})
		})
	}
}

// TestUnchanged compares messages byte by byte, with methods and members that no
// specification has.
func TestUnchanged(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	_, text := r.do("POST", "/s/raw/mcp", initializeRequest)
	want := `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"experimental":{"x":{"n":12345678901234567890}}},"serverInfo":{"name":"raw","version":"1"},"instructions":"Be kind.","extra":true}}`
	if d := cmp.Diff(want, text); d != "" {
		t.Error(d)
	}
	s := r.begin("raw")
	for _, params := range []string{
		`{"z":1,"a":1.0,"n":12345678901234567890123,"s":"\u2028<é>\/","_meta":{"a/b":[{}],"c":null}}`, `[1,{"id":7}]`,
		`{ "id" : "not the id", "params":{"_meta":{"progressToken":5}},` + "\n" + ` "t":"\\\"}{" }`,
	} {
		answer := s.request(`{"jsonrpc":"2.0","method":"echo","extra":{"more":[1]},"id":1e2,"params":` + params + `}`)
		compact := strings.ReplaceAll(params, "\n", "")
		compact = strings.NewReplacer(`{ "id" : "not the id", "params"`, `{"id":"not the id","params"`, `, "t"`, `,"t"`, `" }`, `"}`).Replace(compact)
		for _, part := range []string{`"extra":{"more":[1]}`, `"params":` + compact, `{"jsonrpc":"2.0","id":1e2,"result":{"jsonrpc":"2.0","method":"echo"`} {
			if !strings.Contains(answer, part) {
				t.Errorf("%s\nlacks %s", answer, part)
			}
		}
	}
	// A progress token of any form comes back as it was.
	for _, token := range []string{`"a\u0041"`, `7`, `""`} {
		messages := s.open("POST", `{"jsonrpc":"2.0","id":"x","method":"do","params":{"_meta":{"progressToken":`+token+`},"arguments":{"lines":[`+
			`"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":ID,\"progress\":0.1,\"more\":1}}",`+
			`"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/of/its/own\",\"params\":{\"q\":1}}",`+
			`"{\"jsonrpc\":\"2.0\",\"id\":ID,\"error\":{\"code\":-1,\"message\":\"m\",\"data\":[1],\"more\":2}}"]}}}`)
		for _, want := range []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":0.1,"more":1}}`,
			`{"jsonrpc":"2.0","method":"notifications/of/its/own","params":{"q":1}}`,
			`{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m","data":[1],"more":2}}`,
		} {
			if d := cmp.Diff(want, next(t, messages)); d != "" {
				t.Error(d)
			}
		}
	}
}

// TestQuestions lets a program ask what no specification has, and cancel it.
func TestQuestions(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	s, other := r.begin("raw"), r.begin("raw")
	call := s.open("POST", `{"jsonrpc":"2.0","id":1,"method":"do","params":{"arguments":{"lines":[`+
		`"{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"its/question\",\"params\":{\"x\":1}}",`+
		`"{\"jsonrpc\":\"2.0\",\"id\":\"q2\",\"method\":\"its/question\"}",`+
		`"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"q2\",\"reason\":\"r\"}}"]}}}`)
	for _, want := range []string{`{"jsonrpc":"2.0","id":"q1","method":"its/question","params":{"x":1}}`, `{"jsonrpc":"2.0","id":"q2","method":"its/question"}`} {
		if d := cmp.Diff(want, next(t, call)); d != "" {
			t.Error(d)
		}
	}
	if got := next(t, call); !strings.Contains(got, `"requestId":"q2"`) {
		t.Error(got)
	}
	other.post(`{"jsonrpc":"2.0","id":"q1","result":{"from":"another session"}}`)
	s.post(`{"jsonrpc":"2.0","id":"q2","result":{"it":"was cancelled"}}`)
	s.post(`{"jsonrpc":"2.0","id":"q1","result":{"y":2}}`)
	s.post(`{"jsonrpc":"2.0","id":"q1","result":{"a":"second time"}}`)
	want := `{"jsonrpc":"2.0","method":"notifications/answered","params":{"jsonrpc":"2.0","id":"q1","result":{"y":2}}}`
	got := next(t, call) // the call is under way, so it may come there
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	early := r.begin("raw")
	early.post(`{"jsonrpc":"2.0","method":"notifications/of/its/own","params":{"z":0}}`)
	to := r.byName["raw"].find(early.id, page)
	eventually(t, "the message waits", func() bool {
		to.program.mu.Lock()
		defer to.program.mu.Unlock()
		return len(to.waiting) == 1
	})
	stream := early.stream()
	early.post(`{"jsonrpc":"2.0","method":"notifications/of/its/own","params":{"z":1}}`)
	for _, want := range []string{ // the first one waited until the stream was open
		`{"jsonrpc":"2.0","method":"notifications/of/its/own","params":{"z":0}}`,
		`{"jsonrpc":"2.0","method":"notifications/of/its/own","params":{"z":1}}`,
	} {
		if d := cmp.Diff(`{"jsonrpc":"2.0","method":"notifications/heard","params":`+want+`}`, next(t, stream)); d != "" {
			t.Error(d)
		}
	}
	if log := r.byName["raw"].log.text(); strings.Count(log, "answer ") != 1 {
		t.Error(log)
	}
}

// A program that pings regularly must not take its client for dead. A client without a stream cannot answer.
func TestPingsWithoutAStream(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	s := r.begin("raw")
	const ping = `{\"jsonrpc\":\"2.0\",\"id\":\"alive\",\"method\":\"ping\"}`
	s.request(`{"jsonrpc":"2.0","id":1,"method":"do","params":{"arguments":{"lines":["{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":1}","` + ping + `"]}}}`)
	e := r.byName["raw"]
	eventually(t, "the ping is answered", func() bool {
		return strings.Contains(e.log.text(), `answer {"jsonrpc":"2.0","id":"alive","result":{}}`)
	})
	stream := s.stream()
	s.request(`{"jsonrpc":"2.0","id":2,"method":"do","params":{"arguments":{"lines":["{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":1}","` + ping + `"]}}}`)
	for m := ""; !strings.Contains(m, `"method":"ping"`); { // a client with a stream answers itself
		m = next(t, stream)
	}
}

// A client may write an id in another way than the program: only its value is the same.
func TestQuestionsWhoseIDIsEscaped(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	s := r.begin("raw")
	call := s.open("POST", `{"jsonrpc":"2.0","id":1,"method":"do","params":{"arguments":{"lines":[`+
		`"{\"jsonrpc\":\"2.0\",\"id\":\"caf\\u00e9\\/1\",\"method\":\"its/question\"}"]}}}`)
	if d := cmp.Diff(`{"jsonrpc":"2.0","id":"caf\u00e9\/1","method":"its/question"}`, next(t, call)); d != "" {
		t.Error(d)
	}
	s.post(`{"jsonrpc":"2.0","id":"café/1","result":{"y":2}}`)
	want := `{"jsonrpc":"2.0","method":"notifications/answered","params":{"jsonrpc":"2.0","id":"café/1","result":{"y":2}}}`
	if d := cmp.Diff(want, next(t, call)); d != "" {
		t.Error(d)
	}
}

// TestShared lets two sessions use one process at once with the same ids.
func TestShared(t *testing.T) {
	t.Parallel()
	raw := testServer(t, "raw", "raw")
	raw.Shared = true
	r := serve(t, nil, raw, testServer(t, "single", "raw"))
	a, b := r.begin("raw"), r.begin("raw")
	pid := func(s *session) string { return resultOf(t, s.request(`{"jsonrpc":"2.0","id":1,"method":"pid"}`)) }
	if pid(a) != pid(b) {
		t.Error("a shared server has two processes")
	}
	if c, d := r.begin("single"), r.begin("single"); pid(c) == pid(d) {
		t.Error("two sessions have one process")
	}
	waits := `{"jsonrpc":"2.0","id":5,"method":"do","params":{"_meta":{"progressToken":"p"},"arguments":{"lines":["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":ID,\"progress\":%}}"]}}}`
	first, second := a.open("POST", strings.Replace(waits, "%", "1", 1)), b.open("POST", strings.Replace(waits, "%", "2", 1))
	if x, y := next(t, first), next(t, second); !strings.Contains(x, `"progress":1`) || !strings.Contains(y, `"progress":2`) {
		t.Error(x, y)
	}
	// A question while both have a call under way could be for either.
	ask := `{"jsonrpc":"2.0","id":6,"method":"do","params":{"arguments":{"lines":["{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{}}"]}}}`
	third := a.open("POST", ask)
	e := r.byName["raw"]
	eventually(t, "the program reads that the question is refused", func() bool { return heardFault(e, "q") })
	b.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`)
	if _, open := <-second; open {
		t.Error("a cancelled call was answered")
	}
	fourth := a.open("POST", strings.Replace(ask, `"id":6`, `"id":7`, 1))
	var asked string // on the response of one of this session's calls
	select {
	case asked = <-first:
	case asked = <-third:
	case asked = <-fourth:
	case <-time.After(bound):
	}
	if !strings.Contains(asked, "elicitation/create") {
		t.Errorf("the question did not come: %s", asked)
	}
}

// A page whose requests hang leaves room for those of another page.
func TestSharedRequestsLeaveRoom(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Shared: true, Limits: Limits{Calls: 6}}, testServer(t, "raw", "raw"))
	token, err := r.Allow("https://other.example")
	if err != nil {
		t.Fatal(err)
	}
	other := []string{"Origin", "https://other.example", "Authorization", "Bearer " + token}
	res, _ := r.do("POST", "/s/raw/mcp", initializeRequest, other...)
	for _, s := range []*session{r.begin("raw"), r.begin("raw")} {
		for id := range 3 {
			s.open("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"do","params":{"arguments":{}}}`, id))
		}
	}
	_, text := r.do("POST", "/s/raw/mcp", `{"jsonrpc":"2.0","id":1,"method":"pid"}`,
		append(other, "Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))...)
	if !strings.Contains(text, `"result"`) {
		t.Error(text)
	}
}

// A client that leaves a resource does not end the subscription that another client is about to have.
func TestSharedSubscriptions(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Shared: true}, testServer(t, "raw", "raw"))
	a, b := r.begin("raw"), r.begin("raw")
	request := `{"jsonrpc":"2.0","id":1,"method":"resources/%s","params":{"uri":"test://one","arguments":{}}}`
	waits := a.open("POST", fmt.Sprintf(request, "subscribe"))
	left := b.open("POST", fmt.Sprintf(request, "unsubscribe"))
	if text := next(t, left); text != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Error(text)
	}
	a.request(`{"jsonrpc":"2.0","id":2,"method":"do","params":{"arguments":{"lines":["{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}","{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{}}"]}}}`)
	if text := next(t, waits); !strings.Contains(text, `"result":{}`) {
		t.Error(text)
	}
	if text := b.request(fmt.Sprintf(request, "unsubscribe")); text != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Error(text)
	}
}

// A tool whose argument needs no header any more is called without it.
func TestHeadersOfArgumentsAreForgotten(t *testing.T) {
	p := &program{}
	list := func(annotation string) {
		m, err := parse([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"type":"string"` +
			annotation + `}}}}]}}`))
		if err != nil {
			t.Fatal(err)
		}
		p.learnTools(m)
	}
	call, err := parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":"x"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if list(`,"x-mcp-header":"A"`); p.paramFault(http.Header{}, call) == nil {
		t.Error("the header is not wanted")
	}
	if list(""); p.paramFault(http.Header{}, call) != nil {
		t.Error("the header is still wanted")
	}
}

// TestSharedGreeting lets the first client of a shared program leave before the program has answered initialize.
func TestSharedGreeting(t *testing.T) {
	late := testServer(t, "late", "late")
	late.Shared, late.Env["LATE"] = true, filepath.Join(t.TempDir(), "late")
	r := serve(t, nil, late)
	ctx, leave := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, "POST", r.url("late"), strings.NewReader(initializeRequest))
	req.Header = http.Header{"Authorization": {"Bearer " + r.token}, "Content-Type": {"application/json"}}
	left := make(chan struct{})
	go func() {
		defer close(left)
		if res, err := http.DefaultClient.Do(req); err == nil { // the head of a stream, after a while
			_, _ = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
	}()
	eventually(t, "its initialize is under way", func() bool {
		p, _, _ := r.byName["late"].unused("")
		return p == nil && r.Servers()[0].Sessions == 1
	})
	leave()
	<-left
	eventually(t, "the first session is gone", func() bool { return r.Servers()[0].Sessions == 0 })
	if err := os.WriteFile(late.Env["LATE"], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if s := r.begin("late"); resultOf(t, s.request(`{"jsonrpc":"2.0","id":1,"method":"echo"}`)) == "" {
		t.Error("the program does not answer the next session")
	}
}

// TestSharedGreetingIsRefused sends initialize to a shared program that takes no request at that moment.
func TestSharedGreetingIsRefused(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Shared: true, Limits: Limits{Calls: 1}}, testServer(t, "sdk", "sdk"))
	res := r.modern("sdk", "wait") // the head of its stream
	if text := r.initialize("sdk"); !strings.Contains(text, "too many requests") {
		t.Error(text)
	}
	res.Body.Close()
	eventually(t, "the call is over", func() bool { return !r.byName["sdk"].known(page).program.busy() })
	if text := r.initialize("sdk"); !strings.Contains(text, `"id":"i"`) || strings.Contains(text, "too many requests") {
		t.Errorf("the program was not asked again: %s", text)
	}
}

// Two pages of one origin have one process from 2026-07-28 on, and number their requests in the same way.
func TestPagesOfOneOriginUseTheSameIDs(t *testing.T) {
	t.Parallel()
	r := serve(t, nil, testServer(t, "sdk", "sdk"))
	first := r.modern("sdk", "wait")
	defer first.Body.Close()
	second := r.modern("sdk", "pid")
	defer second.Body.Close()
	text, err := io.ReadAll(second.Body)
	if err != nil || second.StatusCode != 200 || !strings.Contains(string(text), `"result"`) {
		t.Errorf("%d %s %v", second.StatusCode, text, err)
	}
}

// From 2026-07-28 on, clients answer no requests. A program that sends one hears that, and does not wait.
func TestNoRequestsForClientsThatAnswerNone(t *testing.T) {
	for _, shared := range []bool{false, true} {
		r := serve(t, &Options{Shared: shared}, testServer(t, "asker", "asker"))
		res := r.modern("asker", "ask")
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || !strings.Contains(string(text), `"code":-32601`) || strings.Contains(string(text), "roots/list") {
			t.Errorf("shared %v: %d %s %v", shared, res.StatusCode, text, err)
		}
	}
}

// modern calls a tool in 2026-07-28, as the request 1. It returns once the response has begun.
func (r *running) modern(server, tool string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), "POST", r.url(server), strings.NewReader(`{"jsonrpc":"2.0","id":1,`+
		`"method":"tools/call","params":{"name":"`+tool+`","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"`+
		modern+`","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`))
	if err != nil {
		r.t.Fatal(err)
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + r.token, "Content-Type": "application/json",
		"Mcp-Protocol-Version": modern, "Mcp-Method": "tools/call", "Mcp-Name": tool} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

// heardFault reports whether the raw program got an error as the answer to its question.
func heardFault(e *entry, id string) bool {
	return strings.Contains(e.log.text(), `fault "`+id+`"`)
}
