package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

func logged(ctx context.Context, req *mcp.CallToolRequest, what any) (*mcp.CallToolResult, error) {
	if err := req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: what}); err != nil {
		return nil, err
	}
	return text("logged %v", what)
}

func TestLogMessagesGoToTheirCaller(t *testing.T) {
	b, _, _ := paired(t, nil)
	var heard [2]chan string
	var ds [2]*desktop
	for i := range ds {
		heard[i] = make(chan string, 100)
		ds[i] = newDesktop(t, overHTTP(t, b, ""), &mcp.ClientOptions{LoggingMessageHandler: func(_ context.Context,
			req *mcp.LoggingMessageRequest) {
			heard[i] <- fmt.Sprint(req.Params.Data)
		}})
		if err := ds[i].SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for i, d := range ds {
		all.Go(func() {
			for n := range 20 {
				want := fmt.Sprintf("for %d, %d", i, n)
				d.call(t, "log", map[string]any{"text": want})
				if got := <-heard[i]; got != want {
					t.Errorf("client %d heard %q, want %q", i, got, want)
				}
			}
		})
	}
	all.Wait()
}

// A client that does not read must not keep events from the others. Later it hears that lists may have changed.
func TestAClientThatDoesNotReadKeepsNoEventsBack(t *testing.T) {
	b, _, d := paired(t, nil)
	clientIn, bridgeOut := io.Pipe()
	bridgeIn, clientOut := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- b.ServeClient(t.Context(), "", bridgeIn, bridgeOut) }()
	stuck := bufio.NewScanner(clientIn)
	for _, m := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
			`"clientInfo":{"name":"stuck","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`,
	} {
		if _, err := io.WriteString(clientOut, m+"\n"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(m, `"id"`) && !stuck.Scan() {
			t.Fatal(stuck.Err())
		}
	}
	events := make(chan string, 10)
	other := newDesktop(t, overHTTP(t, b, ""), &mcp.ClientOptions{
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			events <- fmt.Sprintf("%s", req.Params.Data)
		},
	})
	if err := other.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		d.call(t, "happen", map[string]any{"text": fmt.Sprint("event ", i)})
		next(t, events)
	}
	for stuck.Scan() && !strings.Contains(stuck.Text(), "tools/list_changed") {
	}
	if stuck.Err() != nil || stuck.Text() == "" {
		t.Errorf("the client heard of no change: %v", stuck.Err())
	}
	go func() {
		for stuck.Scan() {
		}
	}()
	clientOut.Close()
	<-served
	clientIn.Close()
}

// newListener returns a client that wants log messages, and what it hears.
func newListener(t *testing.T, b *bridge.Bridge) (listener *desktop, _ <-chan string) {
	t.Helper()
	heard := make(chan string, 100)
	listener = newDesktop(t, overHTTP(t, b, ""),
		&mcp.ClientOptions{LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			data, err := json.Marshal(req.Params.Data)
			if err != nil {
				t.Error(err)
			}
			heard <- req.Params.Logger + " " + string(data)
		}})
	if err := listener.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
		t.Fatal(err)
	}
	return listener, heard
}

func TestEventsReachTheClientsThatWantThem(t *testing.T) {
	b, _, d := paired(t, nil)
	_, heard := newListener(t, b)
	for n := range 3 {
		if got, isError := d.call(t, "happen", map[string]any{"text": fmt.Sprint(n)}); isError {
			t.Fatal(got)
		}
		select {
		case got := <-heard:
			if want := fmt.Sprintf(`portolan/event {"source":"bookmarks","type":"%d"}`, n); got != want {
				t.Errorf("heard %s, want %s", got, want)
			}
		case <-time.After(patience):
			t.Fatal("nothing was heard")
		}
	}
}

// A client whose rules deny it the bookmarks hears nothing of them. It may not have called yet.
func TestEventsDoNotReachClientsThatAreDenied(t *testing.T) {
	b, e, d := paired(t, nil)
	listener, heard := newListener(t, b)
	name := "desktop-" + t.Name()
	happens := func(event string, denied ...string) {
		t.Helper()
		text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "notifications/portolan/origins",
			"params": map[string]any{"origins": []string{}, "label": e.label, "denied": denied}})
		if err == nil {
			err = e.ws.Write(t.Context(), websocket.MessageText, text)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, isError := d.call(t, "happen", map[string]any{"text": event}); isError {
			t.Fatal(got)
		}
	}
	hears := func(event string) {
		t.Helper()
		if got := next(t, heard); !strings.Contains(got, event) {
			t.Errorf("heard %s, want %s", got, event)
		}
	}
	happens("before its first call", name+"\n2")
	happens("of another client", "desktop\n1", name+"x\n1")
	hears("of another client")
	listener.names(t, true)
	if got, isError := listener.call(t, "echo", nil); isError {
		t.Fatal(got)
	}
	happens("denied", name+"\n2")
	happens("another instance is denied", name+"\n1")
	hears("another instance is denied")
}
