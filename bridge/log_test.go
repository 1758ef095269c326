package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
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

func TestEventsReachTheClientsThatWantThem(t *testing.T) {
	b, _, d := paired(t, nil)
	heard := make(chan string, 100)
	listener := newDesktop(t, overHTTP(t, b, ""),
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
