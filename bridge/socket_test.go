package bridge_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

// approve connects again, and sends origins over the socket.
func (e *extension) approve(t *testing.T, b *bridge.Bridge, origins ...string) {
	t.Helper()
	_, c := e.open(t, b)
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "notifications/portolan/origins",
		"params": map[string]any{"origins": origins}})
	if err := c.Send(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// A page hears nothing more once the person has taken its approval back.
func TestAPageLosesItsApproval(t *testing.T) {
	const page = "https://app.example"
	b, e, _ := paired(t, nil)
	e.approve(t, b, page)
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, body, session string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+b.Addr()+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Origin": page, "Authorization": "Bearer " + token, "Mcp-Session-Id": session,
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		return res
	}
	begun := send("POST", initialize, "")
	for deadline := time.Now().Add(patience); begun.StatusCode == http.StatusForbidden; begun = send("POST", initialize, "") {
		if time.Now().After(deadline) {
			t.Fatal("the approval does not arrive")
		}
	}
	stream := send("GET", "", begun.Header.Get("Mcp-Session-Id"))
	if stream.StatusCode != 200 {
		t.Fatalf("the stream: %d", stream.StatusCode)
	}
	e.approve(t, b, "https://other.example")
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, stream.Body); close(ended) }()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("the stream of a page goes on")
	}
}

// A page that one profile has approved reaches no other one, and loses a profile that takes its approval back.
func TestAPageReachesOnlyTheProfilesThatApproveIt(t *testing.T) {
	const page = "https://app.example"
	b := start(t, nil)
	work, home := newExtension("Work"), newExtension("Home")
	work.pair(t, b)
	home.pair(t, b)
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	atHome, ofHome := home.open(t, b)
	_, ofWork := work.open(t, b)
	say := func(c *socket.Conn, method, params string) {
		t.Helper()
		err := c.Send(t.Context(), fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/portolan/%s","params":%s}`, method, params))
		if err != nil {
			t.Fatal(err)
		}
	}
	origins := func(c *socket.Conn, origins string) {
		t.Helper()
		say(c, "origins", `{"origins":[`+origins+`]}`)
	}
	for _, name := range []string{"Work", "Home"} { // both have listed their tools
		newDesktop(t, overHTTP(t, b, "?profile="+name), nil).names(t, true)
	}
	client := func(query string) *desktop {
		t.Helper()
		return newDesktop(t, &mcp.StreamableClientTransport{
			Endpoint: "http://" + b.Addr() + "/mcp" + query, MaxRetries: -1,
			HTTPClient: &http.Client{Transport: fromPage{page, bearer{token}}},
		}, nil)
	}
	origins(ofHome, `"`+page+`"`)
	for !b.Approves(page) {
		runtime.Gosched()
	}
	for _, query := range []string{"", "?profile=Home"} { // without a name, the profile that approves it
		if got, _ := client(query).call(t, "echo", map[string]any{}); got != "Home: {}" {
			t.Errorf("%q: %q", query, got)
		}
	}
	events, ofAll := make(chan string, 10), make(chan string, 10)
	log := func(events chan string) *mcp.ClientOptions {
		return &mcp.ClientOptions{LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			events <- fmt.Sprint(req.Params.Data)
		}}
	}
	program := newDesktop(t, overHTTP(t, b, "?profile=Work"), log(ofAll))
	atWork := newDesktop(t, &mcp.StreamableClientTransport{
		Endpoint: "http://" + b.Addr() + "/mcp?profile=Work", MaxRetries: -1,
		HTTPClient: &http.Client{Transport: fromPage{page, bearer{token}}},
	}, log(events))
	for _, d := range []*desktop{program, atWork} {
		if err := d.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "debug"}); err != nil {
			t.Fatal(err)
		}
	}
	if got, isError := atWork.call(t, "echo", map[string]any{}); !isError || !strings.Contains(got, `"Work" is not connected`) {
		t.Errorf("the other profile: %q", got)
	}
	atWork.names(t, false)
	say(ofWork, "event", `{"type":"secret"}`)
	<-ofAll
	origins(ofWork, `"`+page+`"`)
	atWork.names(t, true)
	say(ofWork, "event", `{"type":"known"}`)
	if got := <-events; !strings.Contains(got, "known") {
		t.Errorf("an event of a profile that did not approve the page: %s", got)
	}
	origins(ofWork, "")
	_ = atWork.Wait() // its stream ends
	if got, _ := client("?profile=Work").call(t, "echo", map[string]any{}); !strings.Contains(got, `"Work" is not connected`) {
		t.Errorf("without the approval: %q", got)
	}
	waits := client("?profile=Home")
	if got, _ := waits.call(t, "echo", map[string]any{}); got != "Home: {}" {
		t.Errorf("the profile that still approves it: %q", got)
	}
	// A page keeps its stream while its browser has lost its connection, also if another one sends the same list again.
	atHome.Close()
	for b.Approves(page) {
		runtime.Gosched()
	}
	origins(ofWork, "")
	say(ofWork, "event", `{"type":"later"}`)
	for !strings.Contains(<-ofAll, "later") {
	}
	_, ofHome = home.open(t, b)
	origins(ofHome, `"`+page+`"`)
	for !b.Approves(page) {
		runtime.Gosched()
	}
	waits.names(t, true)
}

// fromPage sends requests as a page does.
type fromPage struct {
	origin string
	next   http.RoundTripper
}

func (f fromPage) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Origin", f.origin)
	return f.next.RoundTrip(req)
}

func code(err error) string {
	var r *handshake.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return fmt.Sprint(err)
}

// TestProofs checks that wrong proofs are refused.
func TestProofs(t *testing.T) {
	b := start(t, nil)
	e := newExtension("Work")
	e.pair(t, b)
	good := e.client(b.Addr())
	for _, row := range []struct {
		name   string
		change func(*handshake.Client)
		want   string
	}{
		{"the right key", func(*handshake.Client) {}, "<nil>"},
		{"a wrong key", func(c *handshake.Client) { c.Key = handshake.Random() }, handshake.CodeBadProof},
		{"another profile", func(c *handshake.Client) { c.InstallID = "install-Other" }, handshake.CodeNotPaired},
		{"no profile", func(c *handshake.Client) { c.InstallID = "" }, handshake.CodeBadMessage},
		{"another role", func(c *handshake.Client) { c.Role = handshake.RoleLocal }, handshake.CodeBadMessage},
		{"another port", func(c *handshake.Client) { c.Address = "127.0.0.1:1" }, handshake.CodeWrongTarget},
		{"another family", func(c *handshake.Client) { c.Address = strings.Replace(c.Address, "127.0.0.1", "[::1]", 1) },
			handshake.CodeWrongTarget},
		{"another host", func(c *handshake.Client) { c.Address = strings.Replace(c.Address, "127.0.0.1", "evil.example", 1) },
			handshake.CodeWrongTarget},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := good
			row.change(&c)
			if got := code(handshake.Connect(t.Context(), e.dial(t, b.Addr()), c)); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
		})
	}
}

// raw opens a socket and sends frames without a session.
func (e *extension) raw(t *testing.T, b *bridge.Bridge, frames ...string) (last handshake.Message,
	closed websocket.CloseError) {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+b.Addr()+"/extension",
		&websocket.DialOptions{HTTPHeader: map[string][]string{"Origin": {e.origin}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	for _, f := range frames {
		if ws.Write(t.Context(), websocket.MessageText, []byte(f)) != nil {
			break
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		_, text, err := ws.Read(ctx)
		if err != nil {
			errors.As(err, &closed)
			return last, closed
		}
		last, _ = handshake.Parse(text)
	}
}

func TestMissingReplayedAndReflectedProofs(t *testing.T) {
	b := start(t, nil)
	e := newExtension("Work")
	e.pair(t, b)
	hello := func(nonce handshake.Bytes) string {
		text, _ := json.Marshal(handshake.Message{Type: "hello", Version: 1, Role: "extension", InstallID: e.installID,
			Address: b.Addr(), Nonce: nonce})
		return string(text)
	}
	proof := func(mac handshake.Bytes) string {
		text, _ := json.Marshal(handshake.Message{Type: "proof", MAC: mac})
		return string(text)
	}
	nonce := handshake.Random()
	for name, frames := range map[string][]string{
		"MCP at once":           {initialize},
		"a proof at once":       {proof(handshake.Random())},
		"MCP instead of proof":  {hello(nonce), initialize},
		"no MAC":                {hello(nonce), `{"type":"proof"}`},
		"an empty MAC":          {hello(nonce), `{"type":"proof","mac":""}`},
		"two hellos":            {hello(nonce), hello(nonce)},
		"a short nonce":         {hello(nonce[:8])},
		"another version":       {strings.Replace(hello(nonce), `"version":1`, `"version":2`, 1)},
		"not JSON":              {"hello"},
		"too long":              {`{"type":"hello","label":"` + strings.Repeat("x", 5000) + `"}`},
		"an array":              {"[" + hello(nonce) + "]"},
		"deep":                  {`{"type":` + strings.Repeat("[", 50)},
		"a proof before nonces": {proof(nonce), hello(nonce)},
	} {
		last, closed := e.raw(t, b, frames...)
		if last.Type == "ready" || closed.Code != websocket.StatusPolicyViolation &&
			closed.Code != websocket.StatusMessageTooBig {
			t.Errorf("%s: %+v, %v", name, last, closed)
		}
	}
	// The bridge's own MAC, sent back as the client's.
	ws := e.dial(t, b.Addr())
	ws.Send(t.Context(), []byte(hello(nonce)))
	text, err := ws.Receive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	challenge, _ := handshake.Parse(text)
	ws.Send(t.Context(), []byte(proof(challenge.MAC)))
	text, _ = ws.Receive(t.Context())
	if m, _ := handshake.Parse(text); m.Code != handshake.CodeBadProof {
		t.Errorf("reflected: %s", text)
	}
	// The recorded messages of a good connection, sent again.
	rec := &recorder{Pipe: e.dial(t, b.Addr())}
	if err := handshake.Connect(t.Context(), rec, e.client(b.Addr())); err != nil {
		t.Fatal(err)
	}
	if last, _ := e.raw(t, b, rec.sent...); last.Code != handshake.CodeBadProof {
		t.Errorf("replayed: %+v", last)
	}
}

type recorder struct {
	handshake.Pipe
	sent []string
}

func (r *recorder) Send(ctx context.Context, m []byte) error {
	r.sent = append(r.sent, string(m))
	return r.Pipe.Send(ctx, m)
}

func TestSilenceIsNotAuthentication(t *testing.T) {
	b := start(t, nil)
	e := newExtension("Work")
	_, closed := e.raw(t, b)                                                // sends nothing; the bridge gives it 5 s
	if closed.Code != websocket.StatusPolicyViolation && closed.Code != 0 { // the read was cut off before a closing frame
		t.Errorf("%v", closed)
	}
}

func TestWrongProofsWait(t *testing.T) {
	b := start(t, nil)
	e := newExtension("Work")
	e.pair(t, b)
	c := e.client(b.Addr())
	c.Key = handshake.Random()
	// The bridge proves itself first, and a client with a wrong key stops there. So
	// wrong proofs are sent by hand.
	wrong := func() string {
		nonce, _ := json.Marshal(handshake.Random())
		last, _ := e.raw(t, b,
			fmt.Sprintf(`{"type":"hello","version":1,"role":"extension","installId":%q,"address":%q,"nonce":%s}`, e.installID,
				b.Addr(), nonce), fmt.Sprintf(`{"type":"proof","mac":%s}`, nonce))
		return last.Code
	}
	for i := range 5 {
		if got := wrong(); got != handshake.CodeBadProof {
			t.Fatalf("attempt %d: %s", i, got)
		}
	}
	if got := wrong(); got != handshake.CodeTooMany {
		t.Errorf("after five: %s", got)
	}
}

func TestRevoke(t *testing.T) {
	b, e, d := paired(t, nil)
	if err := b.Revoke(e.installID); err != nil {
		t.Fatal(err)
	}
	d.names(t, false)
	c := e.client(b.Addr())
	if got := code(handshake.Connect(t.Context(), e.dial(t, b.Addr()), c)); got != handshake.CodeNotPaired {
		t.Error(got)
	}
	if err := b.Revoke(e.installID); err == nil {
		t.Error("revoked twice")
	}
}

func TestConnectionsAreCounted(t *testing.T) {
	b := start(t, &bridge.Options{Connections: 1})
	e := newExtension("Work")
	e.pair(t, b)
	for { // the pairing's socket may be closing
		c := e.dial(t, b.Addr())
		if handshake.Connect(t.Context(), c, e.client(b.Addr())) == nil {
			break
		}
	}
	if _, closed := e.raw(t, b); closed.Code != websocket.StatusTryAgainLater {
		t.Errorf("%v", closed)
	}
}

func TestLocalProcessesKeepNoBrowserOut(t *testing.T) {
	dir := t.TempDir()
	b := start(t, &bridge.Options{Connections: 2, Dir: dir})
	e := newExtension("Work")
	e.pair(t, b)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range 4 { // more clients than connections
		local, err := bridge.Dial(ctx, &bridge.Options{Address: b.Addr(), Dir: dir})
		for err != nil && ctx.Err() == nil { // the one before may be counted for a moment
			local, err = bridge.Dial(ctx, &bridge.Options{Address: b.Addr(), Dir: dir})
		}
		if err != nil {
			t.Fatal(err)
		}
		defer local.Close()
	}
	for { // the last client may be counted for a moment
		err := handshake.Connect(ctx, e.dial(t, b.Addr()), e.client(b.Addr()))
		if err == nil {
			return
		}
		e.ws.CloseNow()
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestSecretsAreKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "portolan")
	b := start(t, &bridge.Options{Dir: dir})
	newExtension("Work").pair(t, b)
	path := filepath.Join(dir, "bridge.json")
	stat, err := os.Stat(path)
	if err != nil || stat.Mode().Perm() != 0o600 {
		t.Fatal(stat.Mode(), err)
	}
	if folder, err := os.Stat(dir); err != nil || folder.Mode().Perm() != 0o700 {
		t.Error(folder.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := bridge.New(&bridge.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "0640") {
		t.Errorf("lax permissions: %v", err)
	}
	os.Chmod(path, 0o600)
	if err := os.WriteFile(path, []byte(`{"version":1,"token":"s3cret`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := bridge.New(&bridge.Options{Dir: dir}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a broken file: %v", err)
	}
}

func TestPairingsThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	b := start(t, &bridge.Options{Dir: dir})
	e := newExtension("Work")
	e.pair(t, b)
	_, open := e.open(t, b)
	transport, leave := overStdio(t, b, "")
	t.Cleanup(leave)
	d := newDesktop(t, transport, nil)
	d.names(t, true)
	path := filepath.Join(dir, "bridge.json")
	other := e.dial(t, b.Addr())
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if !b.StillPaired(e.installID) {
		t.Error("the connected browser counts as revoked")
	}
	if err := handshake.Connect(t.Context(), other, e.client(b.Addr())); err == nil || code(err) == handshake.CodeNotPaired {
		t.Errorf("a browser that connects: %v", err)
	}
	open.Close()
	d.names(t, false)
	if said, _ := d.call(t, "echo", nil); !strings.HasSuffix(said, "(NOT_CONNECTED)") {
		t.Error(said)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if said, _ := d.call(t, "echo", nil); !strings.HasSuffix(said, "(NOT_PAIRED)") {
		t.Error(said)
	}
}

func TestEphemeral(t *testing.T) {
	dir := t.TempDir()
	b := start(t, &bridge.Options{Ephemeral: true, Dir: dir})
	token, err := b.Token()
	if err != nil || len(token) != 32 || strings.Trim(token,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") != "" {
		t.Errorf("token of %d characters, %v", len(token), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("it stored %v", left)
	}
	e := newExtension("browser")
	key := func(token string) []byte { // as the extension computes it
		sum := sha256.Sum256([]byte("portolan-ephemeral-1\x00" + token))
		return sum[:]
	}
	e.key = key(token)
	e.connect(t, b)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	d.names(t, true)
	e.key = key(token + "x")
	if got := code(handshake.Connect(t.Context(), e.dial(t, b.Addr()),
		e.client(b.Addr()))); got != handshake.CodeBadProof {
		t.Error(got)
	}
}

// TestCutMidCall checks that each call gets an answer.
func TestCutMidCall(t *testing.T) {
	for _, large := range []bool{false, true} {
		t.Run(fmt.Sprint("large=", large), func(t *testing.T) {
			b, e, d := paired(t, nil)
			answer := make(chan *mcp.CallToolResult, 1)
			go func() {
				result, err := d.CallTool(context.Background(), &mcp.CallToolParams{Name: "wait"})
				if err != nil {
					t.Error(err)
				}
				answer <- result
			}()
			<-e.waiting
			want := "disconnected while \"wait\" was under way"
			if large {
				other := newDesktop(t, overHTTP(t, b, ""), nil)
				if got, isError := other.call(t, "big", map[string]any{"n": 2 << 20}); !isError ||
					!strings.Contains(got, "larger than 2 MiB") {
					t.Errorf("%.200q", got)
				}
				want = "larger than 2 MiB"
			} else {
				e.ws.CloseNow() // without a closing frame
			}
			select {
			case result := <-answer:
				if result != nil && (!result.IsError || !strings.Contains(said1(result), want)) {
					t.Errorf("%q", said1(result))
				}
			case <-time.After(patience):
				t.Fatal("silence")
			}
			e.connect(t, b)
			d.names(t, true)
			if got, isError := d.call(t, "big", map[string]any{"n": 1 << 20}); isError || len(got) != 1<<20 {
				t.Errorf("1 MiB after it: %d bytes", len(got))
			}
		})
	}
}

// TestStoppedByThePerson checks that calls get STOPPED until the extension connects again.
func TestStoppedByThePerson(t *testing.T) {
	b, e, d := paired(t, &bridge.Options{Settle: time.Hour})
	for range 2 {
		answer := make(chan string, 1)
		go func() {
			defer close(answer)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			result, err := d.CallTool(ctx, &mcp.CallToolParams{Name: "wait"})
			if err != nil {
				t.Error(err)
				return
			}
			answer <- said1(result)
		}()
		<-e.waiting
		if err := e.ws.Close(websocket.StatusNormalClosure, "stopped by the person"); err != nil {
			t.Fatal(err)
		}
		if got := <-answer; got != "The person stopped everything in the browser extension while \"wait\" was under way: "+
			"it may have run. (STOPPED)" {
			t.Errorf("under way: %q", got)
		}
		for range 3 { // before and after the bridge closed the connection
			got, isError := d.call(t, "echo", nil)
			if !isError || !strings.HasPrefix(got, "No browser extension connected: the person stopped") ||
				!strings.HasSuffix(got, "(STOPPED)") {
				t.Errorf("afterwards: %q", got)
			}
			d.names(t, false)
		}
		e.connect(t, b)
		d.names(t, true)
		if got, isError := d.call(t, "echo", nil); isError {
			t.Errorf("when it goes on: %q", got)
		}
	}
	if err := e.ws.Close(websocket.StatusNormalClosure, "stopped by the person"); err != nil {
		t.Fatal(err)
	}
	d.names(t, false)
	if err := b.Revoke(e.installID); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.call(t, "echo", nil); !strings.HasSuffix(got, "(NOT_PAIRED)") {
		t.Errorf("revoked: %q", got)
	}
}

// One profile is stopped by the person, and another one has not connected yet: clients of the latter wait for it.
func TestAStoppedProfileStopsNoOther(t *testing.T) {
	const stopped = "(STOPPED)"
	b := start(t, &bridge.Options{Settle: patience})
	work, home := newExtension("Work"), newExtension("Home")
	work.pair(t, b)
	home.pair(t, b)
	work.connect(t, b)
	clients := make(map[string]*desktop)
	for _, name := range []string{"Work", "Home"} {
		clients[name] = newDesktop(t, overHTTP(t, b, "?profile="+name), nil)
	}
	clients["Work"].names(t, true)
	if err := work.ws.Close(websocket.StatusNormalClosure, "stopped by the person"); err != nil {
		t.Fatal(err)
	}
	for {
		if got, _ := clients["Work"].call(t, "echo", nil); strings.HasSuffix(got, stopped) {
			break
		}
	}
	answer := make(chan string, 1)
	go func() {
		result, err := clients["Home"].CallTool(t.Context(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{}})
		if err != nil {
			t.Error(err)
			close(answer)
			return
		}
		answer <- said1(result)
	}()
	home.connect(t, b)
	if got := <-answer; got != "Home: {}" {
		t.Errorf("the other profile: %q", got)
	}
	if got, _ := clients["Work"].call(t, "echo", nil); !strings.HasSuffix(got, stopped) {
		t.Errorf("the stopped profile, beside the other one: %q", got)
	}
}

// TestRestart checks that pairings outlast the bridge, that the bridge frees its port, and
// that calls under way end with it.
func TestRestart(t *testing.T) {
	checkLeaks(t)
	dir := t.TempDir()
	b, stop := run(t, &bridge.Options{Dir: dir})
	e := newExtension("Work")
	e.pair(t, b)
	e.connect(t, b)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	d.names(t, true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = d.CallTool(context.Background(), &mcp.CallToolParams{Name: "wait"})
	}()
	<-e.waiting
	other, err := bridge.New(&bridge.Options{Dir: dir, Address: b.Addr(), Discovery: "-"})
	if err == nil {
		err = other.Listen()
	}
	if !errors.Is(err, bridge.ErrPortTaken) {
		t.Errorf("while it runs: %v", err)
	}
	stop()
	<-e.cancelled
	select {
	case <-ended:
	case <-time.After(patience):
		t.Error("silence")
	}
	d.Close()
	b, stop = run(t, &bridge.Options{Dir: dir, Address: b.Addr()})
	t.Cleanup(stop)
	e.connect(t, b)
	again := newDesktop(t, overHTTP(t, b, ""), nil)
	again.names(t, true)
	if got, isError := again.call(t, "exact", nil); isError {
		t.Errorf("%q", got)
	}
}

// TestListsAndResultsAreNotDecoded checks that order and digits stay.
func TestListsAndResultsAreNotDecoded(t *testing.T) {
	b, _, d := paired(t, nil)
	token, _ := b.Token()
	post := func(body string) string {
		res := ask(t, b.Addr(), "POST", "/mcp", body, "Host: "+b.Addr(), "Authorization: Bearer "+token,
			"Content-Type: application/json",
			"Accept: application/json, text/event-stream", "Mcp-Session-Id: "+d.ID(), "Mcp-Protocol-Version: 2025-11-25",
			"Connection: close")
		text, _ := io.ReadAll(res.Body)
		return string(text)
	}
	if got := post(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`); !strings.Contains(got, oddSchema) {
		t.Errorf("list: %s", got)
	}
	if got := post(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"exact"}}`); !strings.Contains(got,
		`{"z":1,"id":12345678901234567890,"a":[]}`) {
		t.Errorf("result: %s", got)
	}
	if got := post(`{"jsonrpc":"2.0","id":"e","method":"tools/call","params":{"name":"echo","arguments":{"z":1.0,` +
		`"n":12345678901234567890}}}`); !strings.Contains(got, `{\"z\":1.0,\"n\":12345678901234567890}`) {
		t.Errorf("arguments: %s", got)
	}
}

func TestAListThatFailsAtFirst(t *testing.T) {
	b := start(t, nil)
	e := newExtension("Work")
	var lists atomic.Int32
	e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/list" && lists.Add(1) == 1 {
				return nil, errors.New("the module is not there")
			}
			return next(ctx, method, req)
		}
	})
	e.pair(t, b)
	session := e.connect(t, b)
	ended := make(chan struct{})
	go func() { _ = session.Wait(); close(ended) }()
	select {
	case <-ended: // so that the extension connects again
	case <-time.After(patience):
		t.Fatal("the extension is connected, and no client can use it")
	}
	e.connect(t, b)
	newDesktop(t, overHTTP(t, b, ""), nil).names(t, true)
}
