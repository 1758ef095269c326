package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/rawmsg"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

const extensionID = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"

// patience bounds the waits of tests.
const patience = 30 * time.Second

// start runs a bridge until the test ends, and fails if goroutines are left.
func start(t testing.TB, opts *bridge.Options) *bridge.Bridge {
	t.Helper()
	checkLeaks(t)
	b, stop := run(t, opts)
	t.Cleanup(stop)
	return b
}

func run(t testing.TB, opts *bridge.Options) (b *bridge.Bridge, stop func()) {
	t.Helper()
	if opts == nil {
		opts = new(bridge.Options)
	}
	o := *opts
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.Discovery == "" {
		o.Discovery = "-"
	}
	if o.Settle == 0 {
		o.Settle = -1
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	b, err := bridge.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- b.Serve(ctx) }()
	return b, func() {
		cancel()
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(patience):
			t.Error("the bridge does not end")
		}
	}
}

// checkLeaks fails the test if it leaves goroutines of the bridge, or of the libraries
// that use its connections.
func checkLeaks(t testing.TB) {
	t.Cleanup(func() {
		var left string
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			left = ""
			for _, s := range strings.Split(string(stacks), "\n\n") {
				if strings.Contains(s, "portolan/bridge.") || strings.Contains(s, "portolan/bridge/socket.") ||
					strings.Contains(s, "coder/websocket.") {
					if !strings.Contains(s, "checkLeaks") && !strings.Contains(s, "testing.tRunner") {
						left += s + "\n\n"
					}
				}
			}
			if left == "" {
				return
			}
		}
		t.Errorf("goroutines are left:\n%s", left)
	})
}

// An extension plays the browser's extension, with the real handshake and a real MCP
// server on the socket.
type extension struct {
	installID, label, origin string
	key                      []byte
	server                   *mcp.Server
	ws                       *websocket.Conn // the last
	waiting, cancelled       chan string
}

type callKey struct{}

func newExtension(name string) *extension {
	e := &extension{installID: "install-" + name, label: name, origin: extensionID, waiting: make(chan string, 100),
		cancelled: make(chan string, 100)}
	e.serve(nil)
	return e
}

// serve replaces the extension's server by one with options.
func (e *extension) serve(opts *mcp.ServerOptions) {
	e.server = mcp.NewServer(&mcp.Implementation{Name: "extension", Version: "1"}, opts)
	e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call, ok := req.(*mcp.CallToolRequest); ok {
				ctx = context.WithValue(ctx, callKey{}, call.Params.Meta[rawmsg.MetaCall])
			}
			return next(ctx, method, req)
		}
	})
	e.server.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call := ctx.Value(callKey{}); call != nil &&
				(method == "elicitation/create" || method == "notifications/message") {
				req.GetParams().SetMeta(map[string]any{rawmsg.MetaCall: call})
			}
			return next(ctx, method, req)
		}
	})
	e.tools()
}

func text(format string, args ...any) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}}, nil
}

// oddSchema has an order and digits that a decoder into maps would change.
const oddSchema = `{"type":"object","x-z":1,"properties":{"text":{"type":"string"},` +
	`"n":{"const":12345678901234567890}},"x-a":1.0}`

func (e *extension) tools() {
	add := func(name string, h func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult,
		error)) {
		e.server.AddTool(&mcp.Tool{Name: name, Description: "The tool " + name, InputSchema: json.RawMessage(oddSchema)},
			func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				in := make(map[string]any)
				if len(req.Params.Arguments) > 0 {
					if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
						return nil, err
					}
				}
				return h(ctx, req, in)
			})
	}
	add("echo", func(_ context.Context, req *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, error) {
		return text("%s: %s", e.label, req.Params.Arguments)
	})
	add("who", func(_ context.Context, req *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, error) {
		who, err := json.Marshal(req.Params.Meta[rawmsg.MetaClient])
		if err != nil {
			return nil, err
		}
		return text("%s", who)
	})
	add("count", func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		for i := range 3 {
			if err := req.Session.NotifyProgress(ctx,
				&mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3,
					Message: fmt.Sprint(in["text"])}); err != nil {
				return nil, err
			}
		}
		return text("counted %v", in["text"])
	})
	add("log", func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		return logged(ctx, req, in["text"])
	})
	add("happen", func(ctx context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		event, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "notifications/portolan/event",
			"params": map[string]any{"source": "bookmarks", "type": in["text"]}})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{}}, e.ws.Write(ctx, websocket.MessageText, event)
	})
	add("ask", func(ctx context.Context, req *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: fmt.Sprint(in["text"]),
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			return nil, err
		}
		return text("%s %v", answer.Action, answer.Content["name"])
	})
	add("wait", func(ctx context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		e.waiting <- fmt.Sprint(in["text"])
		<-ctx.Done()
		e.cancelled <- fmt.Sprint(in["text"])
		return nil, ctx.Err()
	})
	add("big", func(_ context.Context, _ *mcp.CallToolRequest, in map[string]any) (*mcp.CallToolResult, error) {
		n, _ := in["n"].(float64)
		return text("%s", strings.Repeat("x", int(n)))
	})
	add("deep", func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{},
			StructuredContent: json.RawMessage(`{"a":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`)}, nil
	})
	add("exact", func(context.Context, *mcp.CallToolRequest, map[string]any) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{},
			StructuredContent: json.RawMessage(`{"z":1,"id":12345678901234567890,"a":[]}`)}, nil
	})
}

// dial opens the socket with the headers of a browser.
func (e *extension) dial(t testing.TB, addr string) *socket.Conn {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+addr+"/extension",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {e.origin}}})
	if err != nil {
		t.Fatal(err)
	}
	c := socket.New(ws, nil, socket.Limits{Frame: 8 << 20})
	t.Cleanup(func() { ws.CloseNow() })
	e.ws = ws
	return c
}

func (e *extension) profile(addr string) handshake.Profile {
	return handshake.Profile{InstallID: e.installID, Label: e.label, Origin: e.origin, Address: addr}
}

// pair pairs with a bridge. The person confirms the right digits.
func (e *extension) pair(t testing.TB, b *bridge.Bridge) {
	t.Helper()
	code := make(chan string, 1)
	paired := make(chan error, 1)
	go func() {
		_, err := b.Pair(t.Context(), func(ctx context.Context, _ bridge.Pairing, digits string,
			confirmed <-chan struct{}) error {
			code <- digits
			select {
			case <-confirmed:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		paired <- err
	}()
	for !b.IsPairing() { // until then, an extension that is not paired is refused
		select {
		case err := <-paired:
			t.Fatal(err)
		default:
			runtime.Gosched()
		}
	}
	key, err := handshake.Pair(t.Context(), e.dial(t, b.Addr()), e.profile(b.Addr()),
		func(context.Context) (string, error) { return <-code, nil })
	if err != nil {
		t.Fatal(err)
	}
	e.key = key
	if err := <-paired; err != nil {
		t.Fatal(err)
	}
}

func (e *extension) client(addr string) handshake.Client {
	return handshake.Client{Role: handshake.RoleExtension, InstallID: e.installID, Origin: e.origin, Address: addr,
		Key: e.key}
}

// connect proves the key and serves MCP, until the connection or the test ends.
func (e *extension) connect(t testing.TB, b *bridge.Bridge) *mcp.ServerSession {
	t.Helper()
	session, _ := e.open(t, b)
	return session
}

// open does what connect does, and returns the socket below the session.
func (e *extension) open(t testing.TB, b *bridge.Bridge) (*mcp.ServerSession, *socket.Conn) {
	t.Helper()
	c := e.dial(t, b.Addr())
	if err := handshake.Connect(t.Context(), c, e.client(b.Addr())); err != nil {
		t.Fatal(err)
	}
	session, err := e.server.Connect(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session, c
}

// A desktop is a desktop MCP client: the client of go-sdk.
type desktop struct {
	*mcp.ClientSession
	changed chan struct{}
}

type bearer struct{ token string }

func (b bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(req)
}

func overHTTP(t testing.TB, b *bridge.Bridge, query string) mcp.Transport {
	t.Helper()
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return &mcp.StreamableClientTransport{Endpoint: "http://" + b.Addr() + "/mcp" + query,
		HTTPClient: &http.Client{Transport: bearer{token}}, MaxRetries: -1}
}

// newDesktop returns a client of 2025-11-25.
func newDesktop(t testing.TB, transport mcp.Transport, opts *mcp.ClientOptions) *desktop {
	t.Helper()
	return newDesktopOf(t, "2025-11-25", transport, opts)
}

func newDesktopOf(t testing.TB, version string, transport mcp.Transport, opts *mcp.ClientOptions) *desktop {
	t.Helper()
	if opts == nil {
		opts = new(mcp.ClientOptions)
	}
	d := &desktop{changed: make(chan struct{}, 100)}
	opts.ToolListChangedHandler = func(context.Context, *mcp.ToolListChangedRequest) { d.changed <- struct{}{} }
	session, err := mcp.NewClient(&mcp.Implementation{Name: "desktop-" + t.Name(), Version: "7"},
		opts).Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	d.ClientSession = session
	return d
}

// names waits until the client sees tools of a browser, or with want false none.
func (d *desktop) names(t testing.TB, want bool) []string {
	t.Helper()
	for deadline := time.After(patience); ; {
		list, err := d.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			if tool.Name != "portolan_pair" {
				names = append(names, tool.Name)
			}
		}
		if (len(names) > 0) == want {
			return names
		}
		select {
		case <-d.changed:
		case <-deadline:
			t.Fatal("the list of tools did not change")
		}
	}
}

func (d *desktop) call(t testing.TB, name string, arguments any) (said string, isError bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	result, err := d.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return said1(result), result.IsError
}

func said1(r *mcp.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

// paired returns a bridge, an extension that is connected, and an HTTP client that
// sees its tools.
func paired(t testing.TB, opts *bridge.Options) (*bridge.Bridge, *extension, *desktop) {
	t.Helper()
	b := start(t, opts)
	e := newExtension("Work")
	e.pair(t, b)
	e.connect(t, b)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	d.names(t, true)
	return b, e, d
}
