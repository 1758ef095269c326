package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
)

//lint:file-ignore SA1019 roots belong to the versions that the bridge speaks

// who returns what the extension hears of a client: its instance and its project.
func (d *desktop) who(t *testing.T) [2]string {
	t.Helper()
	text, _ := d.call(t, "who", nil)
	var who map[string]string
	if err := json.Unmarshal([]byte(text), &who); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return [2]string{who["instance"], who["project"]}
}

// overStdio returns a client's transport over ServeClient, and a function that ends it.
func overStdio(t *testing.T, b *bridge.Bridge, profile string) (mcp.Transport, func()) {
	clientIn, bridgeOut := io.Pipe()
	bridgeIn, clientOut := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- b.ServeClient(context.Background(), profile, bridgeIn, bridgeOut) }()
	// A client that leaves reads on until the bridge has ended, as one that waits for the end of a program.
	return &mcp.IOTransport{Reader: io.NopCloser(clientIn), Writer: clientOut}, func() {
		clientOut.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
		clientIn.Close()
	}
}

func TestClientsOfTheSameName(t *testing.T) {
	b, _, http1 := paired(t, &bridge.Options{Project: "/home/ann/harbour"})
	check := func(what string, d *desktop, instance, project string) {
		t.Helper()
		if got := d.who(t); got != [2]string{instance, project} {
			t.Errorf("%s is %q, want %q of project %q", what, got, instance, project)
		}
	}
	transport, end := overStdio(t, b, "")
	check("a client over HTTP", http1, "1", "")
	first := newDesktop(t, transport, nil)
	check("the first stdio client", first, "1 harbour", "harbour")
	transport, endSecond := overStdio(t, b, "")
	second := newDesktop(t, transport, nil)
	check("the second", second, "2 harbour", "harbour")
	end()
	transport, end = overStdio(t, b, "")
	defer end()
	defer endSecond()
	check("the first, started again", newDesktop(t, transport, nil), "1 harbour", "harbour")
	check("the second, still there", second, "2 harbour", "harbour")
	check("another over HTTP", newDesktop(t, overHTTP(t, b, ""), nil), "2", "")

	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	named := &mcp.StreamableClientTransport{Endpoint: "http://" + b.Addr() + "/mcp", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: inProject{bearer{token}, "tides"}}}
	check("a client with a header", newDesktop(t, named, nil), "1 tides", "tides")
}

// A client that watched a resource leaves its number when it leaves.
func TestAClientThatWatchedLeavesItsNumber(t *testing.T) {
	b := start(t, nil)
	e, asked := watchable()
	e.pair(t, b)
	e.connect(t, b)
	for _, kind := range []string{"stdio", "HTTP"} {
		begin := func() (*desktop, func()) {
			if kind == "stdio" {
				transport, end := overStdio(t, b, "")
				return newDesktop(t, transport, nil), end
			}
			d := newDesktop(t, overHTTP(t, b, ""), nil)
			return d, func() { d.Close() }
		}
		d, end := begin()
		d.names(t, true)
		d.who(t)
		if err := d.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "x:one"}); err != nil {
			t.Fatal(err)
		}
		end()
		expect(t, asked, "+x:one", "-x:one")
		d, end = begin()
		if got := d.who(t); got[0] != "1" {
			t.Errorf("over %s the next client is %q", kind, got[0])
		}
		end()
	}
}

type inProject struct {
	bearer
	project string
}

func (h inProject) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set(bridge.HeaderProject, h.project)
	return h.bearer.RoundTrip(req)
}

// A session beyond the limit ends the one that has been idle for longest. A stream or a later request keeps one.
func TestSessionsAreBounded(t *testing.T) {
	b, _, open := paired(t, nil) // with a stream that is open
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	post := func(session, message string) (status int, began string) {
		req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+b.Addr()+"/mcp", strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}}
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res.StatusCode, res.Header.Get("Mcp-Session-Id")
	}
	begin := func() string {
		_, id := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
			`"clientInfo":{"name":"script","version":"1"}}}`)
		return id
	}
	id := 1
	ping := func() string { // an id is used once, also if its request got no answer
		id++
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, id)
	}
	used, left := begin(), begin()
	for range 10 {
		for range 100 {
			begin()
		}
		if status, _ := post(used, ping()); status != 200 {
			t.Fatalf("a session that is used gets %d", status)
		}
	}
	for status := 200; status != 404; status, _ = post(left, ping()) {
		if status != 200 || t.Context().Err() != nil {
			t.Fatalf("a session that was left gets %d", status)
		}
	}
	if said, isError := open.call(t, "echo", map[string]any{}); isError {
		t.Error(said)
	}
}

func TestProjectOfRoots(t *testing.T) {
	b, _, _ := paired(t, &bridge.Options{Project: "harbour"})
	client := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, nil)
	client.AddRoots(&mcp.Root{URI: "file:///home/ann/code/caf%C3%A9"})
	transport, end := overStdio(t, b, "")
	defer end()
	session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	d := &desktop{ClientSession: session, changed: make(chan struct{}, 100)}
	if got := d.who(t); got != [2]string{"1 café", "café"} {
		t.Errorf("by its roots the client is %q", got)
	}
	client.RemoveRoots("file:///home/ann/code/caf%C3%A9")
	client.AddRoots(&mcp.Root{URI: "file:///srv/tides/"})
	for deadline := time.Now().Add(patience); ; {
		got := d.who(t)
		if got == [2]string{"1 café", "tides"} { // the same client, in another project
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after its roots changed the client is %q", got)
		}
	}
}

// slowRoots returns a client that lists its root when the root is released. listing gets a value at the start of each
// request for the roots, and one more if it is cancelled.
func slowRoots(t *testing.T, b *bridge.Bridge) (c *mcp.Client, d *desktop, listing chan struct{}, release chan string) {
	t.Helper()
	listing, release = make(chan struct{}, 10), make(chan string, 10)
	c = mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, nil)
	c.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "roots/list" {
				return next(ctx, method, req)
			}
			listing <- struct{}{}
			select {
			case uri := <-release:
				return &mcp.ListRootsResult{Roots: []*mcp.Root{{URI: uri}}}, nil
			case <-ctx.Done():
				listing <- struct{}{}
				return nil, ctx.Err()
			}
		}
	})
	transport, end := overStdio(t, b, "")
	session, err := c.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return c, &desktop{ClientSession: session, changed: make(chan struct{}, 100)}, listing, release
}

func TestACancelledCallDoesNotForgetTheRoots(t *testing.T) {
	b, _, _ := paired(t, nil)
	_, d, listing, release := slowRoots(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := d.CallTool(ctx, &mcp.CallToolParams{Name: "who"})
		ended <- err
	}()
	<-listing
	cancel()
	if err := <-ended; err == nil {
		t.Error("the call was not cancelled")
	}
	<-listing
	release <- "file:///home/ann/harbour"
	if got := d.who(t); got != [2]string{"1 harbour", "harbour"} {
		t.Errorf("after a cancelled call the client is %q", got)
	}
}

func TestRootsThatChangeWhileTheyAreListed(t *testing.T) {
	b, _, _ := paired(t, nil)
	c, d, listing, release := slowRoots(t, b)
	said := make(chan [2]string, 1)
	go func() { said <- d.who(t) }()
	<-listing
	c.AddRoots(&mcp.Root{URI: "file:///srv/tides"})  // announces the change
	if err := d.Ping(t.Context(), nil); err != nil { // the bridge has read the announcement
		t.Fatal(err)
	}
	release <- "file:///home/ann/harbour"
	<-said
	release <- "file:///srv/tides"
	if got := d.who(t); got[1] != "tides" {
		t.Errorf("after its roots changed the client is %q", got)
	}
}

func TestProjectName(t *testing.T) {
	for folder, want := range map[string]string{
		"/home/ann/code": "code", "/": "", "": "", `C:\work\tides`: "tides", "C:\\": "", "..": "", " a\x1bb\n": "ab",
	} {
		if got := bridge.ProjectName(folder); got != want {
			t.Errorf("ProjectName(%q) = %q, want %q", folder, got, want)
		}
	}
}
