package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

func TestASecondInitializeIsRefused(t *testing.T) {
	b, _, d := paired(t, nil)
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	res := ask(t, b.Addr(), "POST", "/mcp", initialize, "Host: "+b.Addr(), "Authorization: Bearer "+token,
		"Content-Type: application/json", "Accept: application/json, text/event-stream", "Mcp-Session-Id: "+d.ID())
	text, err := io.ReadAll(res.Body)
	if err != nil || !strings.Contains(string(text), `"error"`) || strings.Contains(string(text), "fault") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestToolsOfTheExtension(t *testing.T) {
	_, e, d := paired(t, nil)
	if got := d.names(t, true); !slices.Equal(got,
		[]string{"ask", "big", "count", "deep", "echo", "exact", "happen", "log", "wait", "who"}) {
		t.Errorf("tools %v", got)
	}
	if got, isError := d.call(t, "echo", map[string]any{"text": "hé"}); got != `Work: {"text":"hé"}` || isError {
		t.Errorf("echo said %q, %v", got, isError)
	}
	if got, _ := d.call(t, "who", nil); !strings.Contains(got, `"name":"desktop-TestToolsOfTheExtension"`) ||
		!strings.Contains(got, `"version":"7"`) {
		t.Errorf("the extension heard of %s", got)
	}
	_, err := d.CallTool(t.Context(), &mcp.CallToolParams{Name: "none"})
	if err == nil || !strings.Contains(err.Error(), "unknown tool") {
		t.Errorf("unknown tool: %v", err)
	}
	// One tool is added, and one is removed.
	for len(d.changed) > 0 {
		<-d.changed
	}
	e.server.RemoveTools("big")
	for slices.Contains(d.names(t, true), "big") {
		select {
		case <-d.changed:
		case <-time.After(patience):
			t.Fatal("list_changed did not come")
		}
	}
}

func TestRequestsAreLoggedWithoutArguments(t *testing.T) {
	var log lockedBuffer
	_, _, d := paired(t, &bridge.Options{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	d.names(t, true)
	d.call(t, "echo", map[string]any{"text": "s3cret"})
	for deadline := time.Now().Add(patience); !strings.Contains(log.String(), "method=tools/call tool=echo failed=false"); {
		if time.Now().After(deadline) {
			t.Fatalf("the call is not logged:\n%s", log.String())
		}
		time.Sleep(time.Millisecond)
	}
	if strings.Contains(log.String(), "s3cret") {
		t.Error("the log has the arguments")
	}
}

// lockedBuffer may be written and read at the same time.
type lockedBuffer struct {
	mu  sync.Mutex
	all strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

func TestWithoutExtension(t *testing.T) {
	b := start(t, nil)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	d.names(t, false)
	if said := d.InitializeResult().Instructions; !strings.Contains(said, "portolan bridge pair") {
		t.Errorf("instructions: %q", said)
	}
	if got, isError := d.call(t, "portolan_pair", nil); isError || !strings.Contains(got, "portolan bridge pair") {
		t.Errorf("portolan_pair: %v %q", isError, got)
	}
	got, isError := d.call(t, "chat_chatgpt", map[string]any{"prompt": "x"})
	if !isError || !strings.HasPrefix(got, "No browser extension connected") ||
		!strings.Contains(got, "portolan bridge pair") {
		t.Errorf("%v %q", isError, got)
	}
	e := newExtension("Work")
	e.pair(t, b)
	session := e.connect(t, b)
	<-d.changed // by a notification
	d.names(t, true)
	session.Close()
	d.names(t, false)
	if got, isError := d.call(t, "echo", nil); !isError || !strings.HasPrefix(got, "No browser extension connected") {
		t.Errorf("%v %q", isError, got)
	}
	e.connect(t, b)
	d.names(t, true)
	if _, isError := d.call(t, "echo", nil); isError {
		t.Error("after the reconnection a call fails")
	}
}

func TestProgressGoesToItsCaller(t *testing.T) {
	b, _, _ := paired(t, nil)
	var all sync.WaitGroup
	for i := range 4 {
		heard := make(chan string, 100)
		d := newDesktop(t, overHTTP(t, b, ""), &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
			req *mcp.ProgressNotificationClientRequest) {
			heard <- fmt.Sprintf("%v %v/%v %s", req.Params.ProgressToken, req.Params.Progress, req.Params.Total,
				req.Params.Message)
		}})
		all.Go(func() {
			for n := range 5 {
				text := fmt.Sprintf("client %d call %d", i, n)
				params := &mcp.CallToolParams{Name: "count", Arguments: map[string]any{"text": text}}
				params.SetProgressToken("token") // the same for all
				result, err := d.CallTool(t.Context(), params)
				if err != nil || said1(result) != "counted "+text {
					t.Errorf("%v %v", result, err)
					return
				}
				for step := range 3 {
					if got, want := <-heard, fmt.Sprintf("token %d/3 %s", step+1, text); got != want {
						t.Errorf("client %d heard %q, want %q", i, got, want)
					}
				}
			}
			if len(heard) > 0 {
				t.Errorf("client %d also heard %q", i, <-heard)
			}
		})
	}
	all.Wait()
}

func TestQuestionsGoToTheirCaller(t *testing.T) {
	b, _, _ := paired(t, nil)
	var all sync.WaitGroup
	for i := range 4 {
		d := newDesktop(t, overHTTP(t, b, ""), &mcp.ClientOptions{ElicitationHandler: func(_ context.Context,
			req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept",
				Content: map[string]any{"name": fmt.Sprintf("%d heard %s", i, req.Params.Message)}}, nil
		}})
		all.Go(func() {
			for n := range 5 {
				got, _ := d.call(t, "ask", map[string]any{"text": fmt.Sprintf("%d.%d", i, n)})
				if want := fmt.Sprintf("accept %d heard %d.%d", i, i, n); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	all.Wait()
}

// An answer that the extension would not take must not leave its question open.
func TestAnAnswerBeyondTheLimit(t *testing.T) {
	b, _, _ := paired(t, nil)
	name := strings.Repeat("x", 3<<20)
	transport, end := overStdio(t, b, "")
	defer end()
	d := newDesktop(t, transport, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": name}}, nil
		},
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	arguments := map[string]any{"text": "who?"}
	_, err := d.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: arguments})
	if err == nil || !strings.Contains(err.Error(), "larger than the limit") {
		t.Error(err)
	}
	name = "Ann"
	if said, _ := d.call(t, "ask", arguments); said != "accept Ann" {
		t.Errorf("later it said %q", said)
	}
}

// A server that reports progress too often must not end the connection that all clients share.
func TestAFloodOfProgress(t *testing.T) {
	_, e, d := paired(t, nil)
	for session := range e.server.Sessions() {
		for i := range 6000 {
			if err := session.NotifyProgress(t.Context(), &mcp.ProgressNotificationParams{ProgressToken: "x", Progress: float64(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if said, _ := d.call(t, "echo", map[string]any{"a": 1}); said != `Work: {"a":1}` {
		t.Errorf("after the flood it said %q", said)
	}
}

// Arguments and results of one call must not end the connection that all clients share.
func TestMessagesThatAreNestedTooDeeply(t *testing.T) {
	b, e, other := paired(t, nil)
	transport, end := overStdio(t, b, "")
	defer end()
	d := newDesktop(t, transport, nil)
	waits := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := other.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"text": "w"}})
		waits <- err
	}()
	next(t, e.waiting)
	arguments := json.RawMessage(`{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`)
	if said, isError := d.call(t, "echo", arguments); !isError || !strings.Contains(said, "64 levels") {
		t.Errorf("it said %q", said)
	}
	if result, err := d.CallTool(t.Context(), &mcp.CallToolParams{Name: "deep"}); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("a deep result: %v, %v", result, err)
	}
	select {
	case err := <-waits:
		t.Errorf("the call of another client ended: %v", err)
		waits <- nil
	default:
	}
	if said, _ := d.call(t, "echo", map[string]any{"a": 1}); said != `Work: {"a":1}` {
		t.Errorf("later it said %q", said)
	}
	cancel()
	<-waits
}

// P24: a call beyond the limit of a browser waits for its turn. One that its client cancels meanwhile is not sent.
func TestCallsBeyondTheLimitWait(t *testing.T) {
	_, e, d := paired(t, &bridge.Options{Calls: 1})
	begin := func(tool, text string) (end func(), ended <-chan *mcp.CallToolResult) { return d.begin(t, tool, text) }
	endFirst, _ := begin("wait", "first")
	next(t, e.waiting)
	cancelled, gone := begin("wait", "second")
	stop, third := begin("echo", "third")
	defer stop()
	cancelled()
	<-gone
	endFirst()
	if r := <-third; r == nil || r.IsError {
		t.Errorf("after its turn came: %v", r)
	}
	if len(e.waiting) > 0 {
		t.Error("a cancelled call was sent")
	}
}

// begin begins a call. It ends without a result when it is cancelled.
func (d *desktop) begin(t *testing.T, tool, text string) (cancel func(), ended <-chan *mcp.CallToolResult) {
	ctx, cancel := context.WithCancel(t.Context())
	results := make(chan *mcp.CallToolResult, 1)
	go func() {
		defer close(results)
		if r, err := d.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"text": text}}); err == nil {
			results <- r
		}
	}()
	return cancel, results
}

// A client with many calls leaves turns to others, and the client with the fewest calls comes first.
func TestTurnsAreShared(t *testing.T) {
	b, e, many := paired(t, &bridge.Options{Calls: 4})
	endFirst, _ := many.begin(t, "wait", "many")
	next(t, e.waiting)
	for range 4 {
		end, _ := many.begin(t, "wait", "many")
		defer end()
	}
	next(t, e.waiting)
	next(t, e.waiting)
	one, two := newDesktop(t, overHTTP(t, b, ""), nil), newDesktop(t, overHTTP(t, b, ""), nil)
	if said, isError := one.call(t, "echo", map[string]any{}); isError {
		t.Error(said)
	}
	endOne, _ := one.begin(t, "wait", "one")
	defer endOne()
	if got := next(t, e.waiting); got != "one" {
		t.Fatalf("%q has the last turn", got)
	}
	endTwo, _ := two.begin(t, "wait", "two")
	defer endTwo()
	for b.Waiting(e.installID) < 3 && t.Context().Err() == nil {
		runtime.Gosched()
	}
	endFirst()
	if got := next(t, e.waiting); got != "two" {
		t.Errorf("%q has the turn that became free", got)
	}
}

func TestQuestionToAClientThatCannotAsk(t *testing.T) {
	_, _, d := paired(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := d.CallTool(ctx, &mcp.CallToolParams{Name: "ask"})
	if err == nil && !result.IsError || err != nil && !strings.Contains(err.Error(), "elicitation") {
		t.Errorf("%v, %v", result, err)
	}
}

func TestCancellationReachesTheExtension(t *testing.T) {
	b, e, d := paired(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := d.CallTool(ctx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"text": "a"}})
		ended <- err
	}()
	<-e.waiting
	// The call of another client continues.
	other := newDesktop(t, overHTTP(t, b, ""), nil)
	otherCtx, otherCancel := context.WithCancel(t.Context())
	defer otherCancel()
	otherEnded := make(chan error, 1)
	go func() {
		_, err := other.CallTool(otherCtx, &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"text": "b"}})
		otherEnded <- err
	}()
	<-e.waiting
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if got := <-e.cancelled; got != "a" {
		t.Errorf("%q was cancelled", got)
	}
	select {
	case got := <-e.cancelled:
		t.Errorf("%q was cancelled too", got)
	default:
	}
	otherCancel()
	<-otherEnded
	if got := <-e.cancelled; got != "b" {
		t.Errorf("%q was cancelled", got)
	}
}

// TestAClientThatLeaves checks that its calls are cancelled in the browser.
func TestAClientThatLeaves(t *testing.T) {
	b, e, _ := paired(t, nil)
	gone := func(how string) {
		t.Helper()
		select {
		case <-e.cancelled:
		case <-time.After(patience):
			t.Errorf("%s: the call goes on", how)
		}
	}
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	go d.CallTool(context.Background(), &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"text": "http"}})
	<-e.waiting
	req, err := http.NewRequest("DELETE", "http://"+b.Addr()+"/mcp", nil)
	if err != nil {
		t.Fatal(err)
	}
	token, _ := b.Token()
	req.Header.Set("Mcp-Session-Id", d.ID())
	res, err := bearer{token}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	gone("session deleted")

	clientIn, bridgeOut := io.Pipe()
	bridgeIn, clientOut := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- b.ServeClient(context.Background(), "", bridgeIn, bridgeOut) }()
	d = newDesktop(t, &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	go d.CallTool(context.Background(), &mcp.CallToolParams{Name: "wait", Arguments: map[string]any{"text": "stdio"}})
	<-e.waiting
	clientOut.Close()
	gone("stdin closed")
	if err := <-served; err != nil {
		t.Error(err)
	}
	clientIn.Close()
}

func TestProfilesAreAddressed(t *testing.T) {
	b := start(t, nil)
	work, home := newExtension("Work"), newExtension("Home")
	work.pair(t, b)
	home.pair(t, b)
	work.connect(t, b)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	d.names(t, true)
	session := home.connect(t, b)
	named := make(map[string]*desktop)
	for _, name := range []string{"Work", "Home", "install-Home"} {
		named[name] = newDesktop(t, overHTTP(t, b, "?profile="+name), nil)
		named[name].names(t, true)
	}
	transport, end := overStdio(t, b, "Home")
	defer end()
	named["over stdio"] = newDesktop(t, transport, nil)
	got, isError := d.call(t, "echo", nil)
	if !isError || !strings.Contains(got, `"Home" (install-Home), "Work" (install-Work)`) ||
		!strings.Contains(got, "--profile") {
		t.Errorf("with two profiles: %q", got)
	}
	if _, err := d.ListTools(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "install-Home") {
		t.Errorf("the list with two profiles: %v", err)
	}
	for name, want := range map[string]string{"Work": "Work: {}", "Home": "Home: {}", "install-Home": "Home: {}", "over stdio": "Home: {}"} {
		if got, _ := named[name].call(t, "echo", map[string]any{}); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	session.Close()
	named["Home"].names(t, false) // its list becomes empty, and never that of Work
	if got, isError := named["Home"].call(t, "echo", nil); !isError || !strings.Contains(got, `"Home" is not connected`) ||
		!strings.HasSuffix(got, ". (NOT_CONNECTED)") {
		t.Errorf("after it left: %q", got)
	}
	if got, _ := d.call(t, "echo", map[string]any{}); got != "Work: {}" {
		t.Errorf("with one profile again: %q", got)
	}
}

// The person may give the profile another name in the extension after the pairing.
func TestAProfileGetsAnotherName(t *testing.T) {
	dir := t.TempDir()
	b, e, _ := paired(t, &bridge.Options{Dir: dir})
	_, c := e.open(t, b)
	d := newDesktop(t, overHTTP(t, b, "?profile=Home"), nil)
	d.names(t, false)
	file, err := bridge.New(&bridge.Options{Dir: dir}) // without a connection it knows the file only
	if err != nil {
		t.Fatal(err)
	}
	say := func(label, kept string) {
		t.Helper()
		rename(t, c, label)
		for deadline := time.Now().Add(patience); ; runtime.Gosched() {
			clients, err := file.Clients()
			if err == nil && clients[0].Label == kept {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v, %v, want %q", clients, err, kept)
			}
		}
	}
	say("Home", "Home")
	d.names(t, true)
	say("Office\u202e", "Office") // nothing in it may control a terminal
	d.names(t, false)
}

// Another process may hold the file for a while.
func TestANewNameIsListedBeforeItIsKept(t *testing.T) {
	dir := t.TempDir()
	b, e, _ := paired(t, &bridge.Options{Dir: dir})
	_, c := e.open(t, b)
	d := newDesktop(t, overHTTP(t, b, "?profile=Home"), nil)
	d.names(t, false)
	unlock, err := loopback.Lock(filepath.Join(dir, "bridge.json.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	rename(t, c, "Home")
	d.names(t, true)
	if clients, err := b.Clients(); err != nil || clients[0].Label != "Home" {
		t.Errorf("%v, %v", clients, err)
	}
}

// rename gives the profile of a connection another name.
func rename(t *testing.T, c *socket.Conn, label string) {
	t.Helper()
	err := c.Send(t.Context(), fmt.Appendf(nil,
		`{"jsonrpc":"2.0","method":"notifications/portolan/origins","params":{"origins":[],"label":%q}}`, label))
	if err != nil {
		t.Fatal(err)
	}
}

func TestRequestsOfTheFirstMomentWaitForTheBrowser(t *testing.T) {
	dir := t.TempDir()
	_, e, _ := paired(t, &bridge.Options{Dir: dir})
	b, stop := run(t, &bridge.Options{Dir: dir, Settle: patience})
	defer stop()
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	listed := make(chan int, 1)
	go func() {
		tools, err := d.ListTools(t.Context(), nil)
		if err != nil {
			t.Error(err)
			listed <- -1
			return
		}
		listed <- len(tools.Tools)
	}()
	select {
	case n := <-listed:
		t.Errorf("%d tools before any browser was there", n)
	case <-time.After(50 * time.Millisecond):
	}
	e.connect(t, b)
	if n := <-listed; n == 0 {
		t.Error("no tools, though the browser came")
	}

	nobody, stopNobody := run(t, &bridge.Options{Settle: patience})
	defer stopNobody()
	d = newDesktop(t, overHTTP(t, nobody, ""), nil)
	begun := time.Now()
	if got, isError := d.call(t, "echo", nil); !isError || !strings.HasPrefix(got, "No browser extension connected") ||
		!strings.HasSuffix(got, "(NOT_PAIRED)") || time.Since(begun) > patience/2 {
		t.Errorf("with nobody paired: %q after %v", got, time.Since(begun))
	}
}

// echo calls the tool echo, and sends the answer's text or the fault.
func (d *desktop) echo(t *testing.T) chan string {
	answers := make(chan string, 1)
	go func() {
		result, err := d.CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{}})
		if err != nil {
			answers <- err.Error()
			return
		}
		answers <- said1(result)
	}()
	return answers
}

// T18: a call does not fail while the extension connects again.
func TestACallWaitsForTheBrowserThatConnectsAgain(t *testing.T) {
	b := start(t, &bridge.Options{Settle: patience})
	e := newExtension("Work")
	e.pair(t, b)
	session := e.connect(t, b)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	d.names(t, true)
	b.EndSettling()
	session.Close()
	for b.Connected(e.installID) {
		runtime.Gosched()
	}
	answers := d.echo(t)
	select {
	case got := <-answers:
		t.Fatalf("before it is back: %q", got)
	case <-time.After(50 * time.Millisecond):
	}
	e.connect(t, b)
	if got := <-answers; got != "Work: {}" {
		t.Errorf("%q", got)
	}
}

// A browser may be back before the end of its lost connection is known.
func TestACallWaitsForTheListOfAConnectionThatReplacesAnother(t *testing.T) {
	b := start(t, &bridge.Options{Settle: patience})
	e := newExtension("Work")
	e.pair(t, b)
	e.connect(t, b)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	d.names(t, true)
	asked, mayList := make(chan struct{}), make(chan struct{})
	e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" {
				asked <- struct{}{}
				<-mayList
			}
			return next(ctx, method, req)
		}
	})
	b.EndSettling()
	e.connect(t, b)
	<-asked
	answers := d.echo(t)
	select {
	case got := <-answers:
		t.Errorf("before its list: %q", got)
		answers <- got
	case <-time.After(50 * time.Millisecond):
	}
	close(mayList)
	if got := <-answers; got != "Work: {}" {
		t.Errorf("%q", got)
	}
}

// K4: a call without a browser says so at once.
func TestNoBrowserIsConnected(t *testing.T) {
	b := start(t, nil)
	e := newExtension("Work")
	e.pair(t, b)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	if got, isError := d.call(t, "echo", nil); !isError || !strings.HasPrefix(got, "No browser extension connected") ||
		!strings.HasSuffix(got, "(NOT_CONNECTED)") {
		t.Errorf("%q", got)
	}
}

// T6: so does the result of a task.
func TestATaskSaysThatNoBrowserIsConnected(t *testing.T) {
	b := start(t, nil)
	newExtension("Work").pair(t, b)
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	request := func(method, params string) string {
		res := ask(t, b.Addr(), "POST", "/mcp", `{"jsonrpc":"2.0","id":9,"method":"`+method+`","params":`+params+`}`,
			"Host: "+b.Addr(), "Authorization: Bearer "+token, "Content-Type: application/json",
			"Accept: application/json, text/event-stream", "Mcp-Session-Id: "+d.ID(), "Mcp-Protocol-Version: 2025-11-25",
			"Connection: close")
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	begun := request("tools/call", `{"name":"wait","arguments":{},"task":{}}`)
	_, id, _ := strings.Cut(begun, `"taskId":"`)
	id, _, found := strings.Cut(id, `"`)
	if !found {
		t.Fatalf("no task: %s", begun)
	}
	if got := request("tasks/result", `{"taskId":"`+id+`"}`); !strings.Contains(got, "(NOT_CONNECTED)") {
		t.Errorf("%s", got)
	}
}

func TestLinesThatAreNoMessagesEndNoSession(t *testing.T) {
	dir := t.TempDir()
	b := start(t, &bridge.Options{Dir: dir})
	for name, serve := range map[string]func(in io.ReadCloser, out io.WriteCloser) error{
		"of its own bridge": func(in io.ReadCloser, out io.WriteCloser) error {
			return b.ServeClient(context.Background(), "", in, out)
		},
		"attached to another": func(in io.ReadCloser, out io.WriteCloser) error {
			l, err := bridge.Dial(t.Context(), &bridge.Options{Address: b.Addr(), Dir: dir})
			if err != nil {
				return err
			}
			defer l.Close()
			return l.Attach(context.Background(), "", "", in, out)
		},
	} {
		t.Run(name, func(t *testing.T) {
			clientIn, bridgeOut := io.Pipe()
			bridgeIn, clientOut := io.Pipe()
			served := make(chan error, 1)
			go func() {
				served <- serve(bridgeIn, bridgeOut)
				bridgeOut.Close()
			}()
			lines := bufio.NewScanner(clientIn)
			answer := func(to string) string {
				if _, err := io.WriteString(clientOut, to+"\n"); err != nil {
					t.Fatal(err)
				}
				if !lines.Scan() {
					t.Fatalf("%.100s ended the session", to)
				}
				return lines.Text()
			}
			answer(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
				`"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
			deep := strings.Repeat("[", 300) + strings.Repeat("]", 300)
			for line, want := range map[string]string{
				"hello": "-32700", `{"a":1}`: "-32600", "[]": "-32600", `[1]`: "-32600", `{"jsonrpc":"2.0","id":1`: "-32700",
				`{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":` + deep + `}}`: `"id":9`,
				`{"jsonrpc":"2.0","id":5,"method":"ping"}  `:                           `"id":5`,
			} {
				if text := answer(line); !strings.Contains(text, want) {
					t.Errorf("%.40s: %s", line, text)
				}
			}
			// go-sdk counts a notification of a batch as a request, and newer versions have no batches.
			text := answer(`[{"jsonrpc":"2.0","id":6,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},` +
				`{"jsonrpc":"2.0","id":7,"method":"ping"}]`)
			if text += answer("\n"); !strings.Contains(text, `"id":6`) || !strings.Contains(text, `"id":7`) {
				t.Errorf("a batch: %s", text)
			}
			clientOut.Close()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
	}
}
