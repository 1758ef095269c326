package bridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
)

//lint:file-ignore SA1019 log levels belong to the versions that the bridge speaks

// A client that is attached to a bridge goes on with the next one when that ends. It need not do anything.
func TestAClientOutlivesItsBridge(t *testing.T) {
	for _, version := range []string{"2025-11-25", modern} {
		t.Run(version, func(t *testing.T) {
			checkLeaks(t)
			dir := t.TempDir()
			first, stop := run(t, &bridge.Options{Dir: dir})
			stopped := false
			defer func() {
				if !stopped {
					stop()
				}
			}()
			e, asked := watchable()
			e.pair(t, first)
			e.connect(t, first)
			second := start(t, &bridge.Options{Settle: patience})
			heir, askedAgain := watchable()
			heir.label = "Heir"
			heir.pair(t, second)

			clientIn, bridgeOut := io.Pipe()
			bridgeIn, clientOut := io.Pipe()
			kept := bridge.KeepClient(bridgeIn, bridgeOut)
			defer kept.Close()
			type served struct {
				clientEnded bool
				err         error
			}
			ended := make(chan served, 1)
			go func() {
				clientEnded, err := kept.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
					l, err := bridge.Dial(t.Context(), &bridge.Options{Address: first.Addr(), Dir: dir})
					if err != nil {
						return err
					}
					defer l.Close()
					return l.Attach(context.Background(), "", "", in, out)
				})
				ended <- served{clientEnded, err}
			}()
			heard, questions := make(chan string, 100), make(chan string, 2)
			d := newDesktopOf(t, version, &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, &mcp.ClientOptions{
				ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) { heard <- req.Params.URI },
				LoggingMessageHandler:  func(_ context.Context, req *mcp.LoggingMessageRequest) { heard <- fmt.Sprint(req.Params.Data) },
				ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					questions <- "asked"
					<-ctx.Done()
					questions <- "withdrawn"
					return nil, ctx.Err()
				},
			})
			d.names(t, true)
			if version != modern {
				if err := errors.Join(
					d.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "file:///a"}),
					d.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "file:///b"}),
					d.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "file:///b"}),
					d.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}),
				); err != nil {
					t.Fatal(err)
				}
				expect(t, asked, "+file:///a", "+file:///b", "-file:///b")
			}
			under := make(chan string, 2)
			for _, tool := range []string{"wait", "ask"} {
				if tool == "ask" && version == modern {
					continue // the question is a result there
				}
				go func() {
					result, err := d.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: map[string]any{"text": "x"}})
					if err != nil {
						under <- err.Error()
						return
					}
					under <- said1(result)
				}()
			}
			next(t, e.waiting)
			if version != modern {
				expect(t, questions, "asked")
			}

			stop()
			stopped = true
			if got := <-ended; got.clientEnded || !errors.Is(got.err, bridge.ErrEnded) {
				t.Fatalf("the first bridge: %+v", got)
			}
			if got := next(t, under); !strings.Contains(got, "may have run") {
				t.Errorf("a call under way: %s", got)
			}
			if version != modern {
				next(t, under)
				expect(t, questions, "withdrawn")
			}

			go func() {
				clientEnded, err := kept.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
					return second.ServeClient(context.Background(), "", in, out)
				})
				ended <- served{clientEnded, err}
			}()
			heir.connect(t, second)
			d.names(t, true)
			if got, isError := d.call(t, "echo", map[string]any{"text": "x"}); got != `Heir: {"text":"x"}` || isError {
				t.Errorf("echo said %q, %v", got, isError)
			}
			if version != modern {
				expect(t, askedAgain, "+file:///a")
				expect(t, heard, "file:///a") // it may have changed meanwhile
				for len(heard) == 0 {         // go-sdk notes a subscription after its handler
					if err := heir.server.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: "file:///a"}); err != nil {
						t.Fatal(err)
					}
					d.call(t, "echo", nil)
				}
				expect(t, heard, "file:///a")
				d.call(t, "log", map[string]any{"text": "ahoy"})
				for got := ""; got != "ahoy"; {
					got = next(t, heard)
				}
			}
			clientOut.Close()
			if got := <-ended; !got.clientEnded || got.err != nil {
				t.Errorf("the client: %+v", got)
			}
			clientIn.Close()
		})
	}
}

// The next bridge proves that it is one and then says nothing. Neither the client nor this process waits for it forever.
func TestANextBridgeThatDoesNotAnswerIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, _ := withSession(t)
		clientEnded, err := kept.Serve(func(in io.ReadCloser, _ io.WriteCloser) error {
			_, err := io.Copy(io.Discard, in)
			return err
		})
		if clientEnded || err == nil || errors.Is(err, bridge.ErrEnded) || !strings.Contains(err.Error(), "does not answer") {
			t.Errorf("the next bridge: %v, %v", clientEnded, err)
		}
	})
}

// withSession returns a client that has a session, and whose first bridge has ended.
func withSession(t *testing.T) (*bridge.KeptClient, *io.PipeWriter) {
	bridgeIn, clientOut := io.Pipe()
	kept := bridge.KeepClient(bridgeIn, io.Discard)
	t.Cleanup(func() {
		kept.Close()
		bridgeIn.Close()
	})
	go fmt.Fprintln(clientOut, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	_, err := kept.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
		if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
			return err
		}
		fmt.Fprintln(out, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		return bridge.ErrEnded
	})
	if !errors.Is(err, bridge.ErrEnded) {
		t.Fatalf("the first bridge: %v", err)
	}
	return kept, clientOut
}

// A client that quits while the next bridge says nothing yet is not kept waiting, also if it has just sent something.
func TestAClientThatQuitsBeforeTheNextBridgeAnswersEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, clientOut := withSession(t)
		go func() {
			fmt.Fprintln(clientOut, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			clientOut.Close()
		}()
		began := time.Now()
		clientEnded, err := kept.Serve(func(in io.ReadCloser, _ io.WriteCloser) error {
			_, err := io.Copy(io.Discard, in)
			return err
		})
		if waited := time.Since(began); !clientEnded || err != nil || waited > 0 {
			t.Errorf("the client: %v, %v after %v", clientEnded, err, waited)
		}
	})
}

// A request that comes before the next bridge has answered reaches that one, or the bridge after it.
func TestARequestWaitsForABridgeThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, clientOut := withSession(t)
		request := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}`
		_, err := kept.Serve(func(io.ReadCloser, io.WriteCloser) error {
			fmt.Fprintln(clientOut, request)
			return bridge.ErrEnded
		})
		if !errors.Is(err, bridge.ErrEnded) {
			t.Fatalf("the bridge that does not answer: %v", err)
		}
		_, err = kept.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
			lines := bufio.NewScanner(in)
			lines.Scan()
			if got := lines.Text(); !strings.Contains(got, "initialize") {
				t.Errorf("first came %s", got)
			}
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"portolan/repeated/initialize","result":{}}`)
			lines.Scan()
			if got := lines.Text(); got != request {
				t.Errorf("then came %s", got)
			}
			return bridge.ErrEnded
		})
		if !errors.Is(err, bridge.ErrEnded) {
			t.Fatal(err)
		}
	})
}

// A client that writes without end while the next bridge is silent has to wait, and loses nothing.
func TestAClientWaitsForABridgeThatAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kept, clientOut := withSession(t)
		const all = 1000
		var written atomic.Int32
		padding := strings.Repeat("x", 10_000)
		go func() {
			for written.Load() < all {
				fmt.Fprintf(clientOut, `{"jsonrpc":"2.0","method":"notifications/%d","params":{"padding":%q}}`+"\n", written.Load(), padding)
				written.Add(1)
			}
		}()
		_, err := kept.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
			lines := bufio.NewReader(in)
			if first, err := lines.ReadString('\n'); !strings.Contains(first, "initialize") {
				return fmt.Errorf("first came %q, %v", first, err)
			}
			synctest.Wait()
			if n := written.Load(); n > 150 {
				t.Errorf("%d messages were read", n)
			}
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"portolan/repeated/initialize","result":{}}`)
			for n := range all {
				if line, err := lines.ReadString('\n'); !strings.Contains(line, fmt.Sprintf("notifications/%d\"", n)) {
					return fmt.Errorf("message %d: %.80q, %v", n, line, err)
				}
			}
			return bridge.ErrEnded
		})
		if !errors.Is(err, bridge.ErrEnded) {
			t.Error(err)
		}
	})
}

// A request that was answered is not sent to the next bridge, however the first one has written its id.
func TestAnAnsweredRequestIsNotRepeated(t *testing.T) {
	bridgeIn, clientOut := io.Pipe()
	kept := bridge.KeepClient(bridgeIn, io.Discard)
	defer kept.Close()
	go fmt.Fprintln(clientOut, `{"jsonrpc":"2.0","id":"a&b","method":"tools/list"}`)
	_, err := kept.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
		if _, err := bufio.NewReader(in).ReadString('\n'); err != nil {
			return err
		}
		fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"a\u0026b","result":{}}`)
		return bridge.ErrEnded
	})
	if !errors.Is(err, bridge.ErrEnded) {
		t.Fatal(err)
	}
	go clientOut.Close()
	if clientEnded, err := kept.Serve(func(in io.ReadCloser, _ io.WriteCloser) error {
		text, err := io.ReadAll(in)
		if len(text) > 0 {
			t.Errorf("the next bridge got %s", text)
		}
		return err
	}); !clientEnded || err != nil {
		t.Errorf("%v, %v", clientEnded, err)
	}
}
