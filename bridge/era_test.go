package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

//lint:file-ignore SA1019 sampling belongs to the versions that the bridge speaks

const modern = "2026-07-28"

// asking returns an extension with the tool quiz, which asks several questions one after the other, and the tool pair,
// which asks two at once.
func asking() *extension {
	e := offering("Work")
	ask := func(ctx context.Context, req *mcp.CallToolRequest, text string) (string, error) {
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: text,
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			e.cancelled <- text
			return "", err
		}
		return fmt.Sprint(answer.Action, " ", answer.Content["name"]), nil
	}
	schema := json.RawMessage(`{"type":"object"}`)
	e.server.AddTool(&mcp.Tool{Name: "quiz", InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var said []string
		for n := range 3 {
			err := req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(n + 1), Message: "asking",
			})
			if err != nil || n == 2 {
				break
			}
			one, err := ask(ctx, req, fmt.Sprint("question ", n))
			if err != nil {
				return nil, err
			}
			said = append(said, one)
		}
		return text("%s", strings.Join(said, ", "))
	})
	e.server.AddTool(&mcp.Tool{Name: "pair", InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answers := make(chan string, 2)
		for _, which := range []string{"left", "right"} {
			go func() {
				one, err := ask(ctx, req, which)
				answers <- fmt.Sprint(which, " ", one, " ", err)
			}()
		}
		both := []string{<-answers, <-answers}
		slices.Sort(both)
		return text("%s", strings.Join(both, ", "))
	})
	return e
}

func namer(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "to " + req.Params.Message}}, nil
}

// Clients of 2026-07-28 have what the older ones have, over HTTP and stdio.
func TestModernClients(t *testing.T) {
	b := start(t, &bridge.Options{Project: "/home/ann/harbour"})
	e := asking()
	e.pair(t, b)
	e.connect(t, b)
	for _, kind := range []string{"HTTP", "stdio"} {
		t.Run(kind, func(t *testing.T) {
			transport, project := overHTTP(t, b, ""), ""
			end := func() {}
			if kind == "stdio" {
				transport, end = overStdio(t, b, "")
				project = "harbour"
			}
			heard, logs := make(chan string, 100), make(chan string, 100)
			d := newDesktopOf(t, modern, transport, &mcp.ClientOptions{
				ElicitationHandler: namer,
				ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
					heard <- fmt.Sprint(req.Params.ProgressToken, " ", req.Params.Progress)
				},
				LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
					logs <- fmt.Sprint(req.Params.Data)
				},
			})
			defer end()
			if got := d.InitializeResult().ProtocolVersion; got != modern {
				t.Fatalf("version %s", got)
			}
			if !slices.Contains(d.names(t, true), "quiz") {
				t.Error("the list lacks a tool")
			}
			if got := d.who(t); got[1] != project {
				t.Errorf("the client is %q", got)
			}
			said, _ := d.call(t, "who", nil)
			if !strings.Contains(said, `"name":"desktop-`) || strings.Contains(said, "samples") {
				t.Errorf("the extension hears of %s", said)
			}
			params := &mcp.CallToolParams{Name: "quiz"}
			params.SetProgressToken("t")
			result, err := d.CallTool(t.Context(), params)
			if err != nil || said1(result) != "accept to question 0, accept to question 1" {
				t.Errorf("quiz %v, %v", result, err)
			}
			for n := range 3 {
				if got := next(t, heard); got != fmt.Sprint("t ", n+1) {
					t.Errorf("progress %s", got)
				}
			}
			if got, _ := d.call(t, "pair", nil); got != "left accept to left <nil>, right accept to right <nil>" {
				t.Errorf("pair: %s", got)
			}
			prompt, err := d.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "s__greet", Arguments: map[string]string{"who": "Ada"}})
			if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Greet Ada: accept" {
				t.Errorf("prompt %v, %v", prompt, err)
			}
			read, err := d.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "file:///a"})
			if err != nil || read.Contents[0].Text != "hé" {
				t.Errorf("read %v, %v", read, err)
			}
			logged := &mcp.CallToolParams{Name: "log", Arguments: map[string]any{"text": "sinking"}, Meta: mcp.Meta{mcp.MetaKeyLogLevel: "debug"}}
			if _, err := d.CallTool(t.Context(), logged); err != nil || !strings.Contains(next(t, logs), "sinking") {
				t.Errorf("log: %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := d.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"text": "x"}})
				ended <- err
			}()
			next(t, e.waiting)
			cancel()
			if next(t, e.cancelled); <-ended == nil {
				t.Error("a cancelled call has a result")
			}
			for len(d.changed) > 0 {
				<-d.changed
			}
			e.server.AddTool(&mcp.Tool{Name: "new-" + kind, InputSchema: json.RawMessage(`{"type":"object"}`)},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("new") })
			for !slices.Contains(d.names(t, true), "new-"+kind) {
				select {
				case <-d.changed:
				case <-time.After(patience):
					t.Fatal("list_changed did not come")
				}
			}
		})
	}
}

// byHand returns a client that repeats its requests itself.
func byHand(t *testing.T, b *bridge.Bridge, name, query string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: namer, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	session, err := client.Connect(t.Context(), overHTTP(t, b, query), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// paused calls a tool, which must ask.
func paused(t *testing.T, c *mcp.ClientSession, tool string) *mcp.CallToolResult {
	t.Helper()
	result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"text": "who"}})
	if err != nil || !result.NeedsInput() || len(result.InputRequests) == 0 || len(result.RequestState) < 20 {
		t.Fatalf("%s: %+v, %v", tool, result, err)
	}
	return result
}

// again repeats a call with answers to its questions, or to as many as max.
func again(c *mcp.ClientSession, tool string, asked *mcp.CallToolResult, max int) (*mcp.CallToolResult, error) {
	answers := make(mcp.InputResponseMap)
	for id, q := range asked.InputRequests {
		if len(answers) < max {
			answers[id] = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": q.(*mcp.ElicitParams).Message}}
		}
	}
	answers["unknown"] = &mcp.ElicitResult{Action: "decline"}
	return c.CallTool(context.Background(), &mcp.CallToolParams{
		Name: tool, Arguments: map[string]any{"text": "who"}, InputResponses: answers, RequestState: asked.RequestState,
	})
}

func refused(t *testing.T, what string, err error) {
	t.Helper()
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams || !strings.Contains(rpc.Message, "requestState") {
		t.Errorf("%s: %v", what, err)
	}
}

func TestRounds(t *testing.T) {
	b := start(t, nil)
	e := asking()
	e.pair(t, b)
	e.connect(t, b)
	c := byHand(t, b, "own", "")
	foreign := byHand(t, b, "foreign", "")
	newDesktopOf(t, modern, overHTTP(t, b, ""), nil).names(t, true)
	first := paused(t, c, "quiz")
	wrong := &mcp.CallToolResult{InputRequests: first.InputRequests, RequestState: first.RequestState[1:] + "A"}
	_, err := again(c, "quiz", wrong, 9)
	refused(t, "another state", err)
	_, err = again(foreign, "quiz", first, 9)
	refused(t, "another client", err)
	_, err = again(c, "ask", first, 9)
	refused(t, "another tool", err)

	second, err := again(c, "quiz", first, 9)
	if err != nil || !second.NeedsInput() || second.RequestState == first.RequestState {
		t.Fatalf("the second round: %+v, %v", second, err)
	}
	_, err = again(c, "quiz", first, 9)
	refused(t, "a used state", err)
	last, err := again(c, "quiz", second, 9)
	if err != nil || said1(last) != "accept question 0, accept question 1" {
		t.Errorf("the result: %v, %v", last, err)
	}

	// Questions that are not answered are asked again.
	both := paused(t, c, "pair")
	for len(both.InputRequests) < 2 { // the second came after the pause
		if both, err = again(c, "pair", both, 0); err != nil {
			t.Fatal(err)
		}
	}
	left, err := again(c, "pair", both, 1)
	if err != nil || len(left.InputRequests) != 1 {
		t.Fatalf("a question is left: %+v, %v", left, err)
	}
	if done, err := again(c, "pair", left, 1); err != nil || said1(done) != "left accept left <nil>, right accept right <nil>" {
		t.Errorf("pair: %v, %v", done, err)
	}
}

// A paused call is cancelled when its client does not come back, and with the stdio client that made it.
func TestPausedCallsEnd(t *testing.T) {
	b := start(t, nil)
	b.SetPause(50 * time.Millisecond)
	e := asking()
	e.pair(t, b)
	e.connect(t, b)
	c := byHand(t, b, "own", "")
	newDesktopOf(t, modern, overHTTP(t, b, ""), nil).names(t, true)
	asked := paused(t, c, "quiz")
	if got := next(t, e.cancelled); got != "question 0" {
		t.Errorf("cancelled %s", got)
	}
	_, err := again(c, "quiz", asked, 9)
	refused(t, "a state whose time is over", err)

	b.SetPause(time.Hour)
	transport, end := overStdio(t, b, "")
	client := mcp.NewClient(&mcp.Implementation{Name: "own", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: namer, MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	session, err := client.Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	stdio := paused(t, session, "quiz")
	_, err = again(c, "quiz", stdio, 9)
	refused(t, "the state of a stdio client", err)
	end()
	next(t, e.cancelled)
	session.Close()
}

// Of one client 16 calls may be paused. A question of another call is refused, so that the extension asks the person.
func TestPausedCallsAreBounded(t *testing.T) {
	checkLeaks(t)
	b, stop := run(t, nil)
	defer stop() // while calls are paused
	e := asking()
	e.pair(t, b)
	e.connect(t, b)
	c, other := byHand(t, b, "own", ""), byHand(t, b, "other", "")
	newDesktopOf(t, modern, overHTTP(t, b, ""), nil).names(t, true)
	first := paused(t, c, "ask")
	for range 15 {
		paused(t, c, "ask")
	}
	if result, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"}); err == nil && !result.IsError || err != nil && !strings.Contains(err.Error(), "too many") {
		t.Errorf("the 17th: %v, %v", result, err)
	}
	paused(t, other, "ask")
	if result, err := again(c, "ask", first, 9); err != nil || said1(result) != "accept who" {
		t.Errorf("the first: %v, %v", result, err)
	}
	paused(t, c, "ask")
}

// A client that cannot answer is not asked. The extension hears that, and asks the person.
func TestModernClientThatCannotAnswer(t *testing.T) {
	b := start(t, nil)
	e := asking()
	e.pair(t, b)
	e.connect(t, b)
	d := newDesktopOf(t, modern, overHTTP(t, b, ""), &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("asked")
		},
	})
	d.names(t, true)
	_, err := d.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
	if err == nil || !strings.Contains(err.Error(), "does not support") {
		t.Errorf("a question: %v", err)
	}
	e.server.AddTool(&mcp.Tool{Name: "sample", InputSchema: json.RawMessage(`{"type":"object"}`)},
		func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			_, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{Meta: mcp.Meta{rawmsg.MetaCall: req.Params.Meta[rawmsg.MetaCall]}})
			return text("%v", err)
		})
	if said, _ := d.call(t, "sample", nil); !strings.Contains(said, "sampling/createMessage") || strings.HasSuffix(said, "asked") {
		t.Errorf("a sample: %s", said)
	}
}

// A header that repeats an argument has to agree with it, for tools whose schemas name such headers.
func TestParamHeaders(t *testing.T) {
	b := start(t, nil)
	e := asking()
	echo := func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("%s", req.Params.Arguments)
	}
	schema := json.RawMessage(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)
	e.server.AddTool(&mcp.Tool{Name: "regional", InputSchema: schema}, echo)
	e.pair(t, b)
	e.connect(t, b)
	d := newDesktopOf(t, modern, overHTTP(t, b, ""), nil)
	params := &mcp.CallToolParams{Name: "regional", Arguments: map[string]any{"region": "north"}}
	d.names(t, true)
	result, err := d.CallTool(t.Context(), params)
	for err != nil && strings.Contains(err.Error(), "header mismatch") {
		select { // a change of the list made go-sdk's client forget which headers the tool has
		case <-d.changed:
		case <-time.After(patience):
			t.Fatalf("with the header: %v", err)
		}
		d.names(t, true)
		result, err = d.CallTool(t.Context(), params)
	}
	if err != nil || said1(result) != `{"region":"north"}` {
		t.Fatalf("with the header: %v, %v", result, err)
	}
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	post := func(region string) int {
		const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"regional","arguments":{"region":"north"},"_meta":{` +
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+b.Addr()+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": modern,
			"Mcp-Method": "tools/call", "Mcp-Name": "regional", "Mcp-Param-Region": region, "Authorization": "Bearer " + token,
		} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if right, wrong := post("north"), post("south"); right != 200 || wrong != 400 {
		t.Errorf("status %d, and %d with another header", right, wrong)
	}
	for len(d.changed) > 0 {
		<-d.changed
	}
	e.server.AddTool(&mcp.Tool{Name: "regional", InputSchema: json.RawMessage(`{"type":"object"}`)}, echo)
	for deadline := time.After(patience); post("south") != 200; { // once the list has arrived
		select {
		case <-d.changed:
		case <-deadline:
			t.Fatal("the header is still compared")
		}
	}
}

// The name and the project of a request distinguish clients over HTTP that have no session.
func TestModernClientsOfTheSameName(t *testing.T) {
	b := start(t, nil)
	e := asking()
	e.pair(t, b)
	e.connect(t, b)
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	in := func(project string) *desktop {
		d := newDesktopOf(t, modern, &mcp.StreamableClientTransport{Endpoint: "http://" + b.Addr() + "/mcp", MaxRetries: -1,
			HTTPClient: &http.Client{Transport: inProject{bearer{token}, project}}}, nil)
		d.names(t, true)
		return d
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	tides, quay := in("tides"), in("/srv/quay")
	for _, row := range []struct {
		d    *desktop
		want [2]string
	}{
		{tides, [2]string{"1 tides", "tides"}}, {quay, [2]string{"1 quay", "quay"}}, {in("tides"), [2]string{"1 tides", "tides"}},
		{newDesktop(t, overHTTP(t, b, ""), nil), [2]string{"1", ""}}, {newDesktopOf(t, modern, overHTTP(t, b, ""), nil), [2]string{"2", ""}},
	} {
		if got := row.d.who(t); got != row.want {
			t.Errorf("a client is %q, want %q", got, row.want)
		}
	}
}

// A client subscribes by subscriptions/listen, whose end ends the subscription.
func TestModernWatchers(t *testing.T) {
	b := start(t, nil)
	e, asked := watchable()
	e.pair(t, b)
	e.connect(t, b)
	heard := make(chan string, 100)
	d := newDesktopOf(t, modern, overHTTP(t, b, ""), &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { heard <- req.Params.URI },
	})
	d.names(t, true)
	if err := d.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "file:///a"}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, asked); got != "+file:///a" {
		t.Errorf("the extension was asked for %s", got)
	}
	for deadline := time.Now().Add(patience); len(heard) == 0 && time.Now().Before(deadline); {
		_ = e.server.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "file:///a"})
		time.Sleep(10 * time.Millisecond)
	}
	if got := next(t, heard); got != "file:///a" {
		t.Errorf("heard %s", got)
	}
	if err := d.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "file:///a"}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, asked); got != "-file:///a" {
		t.Errorf("the extension was asked for %s", got)
	}
}
