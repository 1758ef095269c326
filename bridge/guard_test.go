package bridge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/handshake"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// ask sends a request with exactly these headers.
func ask(t *testing.T, addr, method, path, body string, headers ...string) *http.Response {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(conn, "%s %s HTTP/1.1\r\n%s\r\nContent-Length: %d\r\n\r\n%s", method, path, strings.Join(headers, "\r\n"),
		len(body), body)
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Requests that are refused use up none of those of the clients.
func TestPagesDoNotSlowClients(t *testing.T) {
	b := start(t, nil)
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	local, err := net.ResolveTCPAddr("tcp", b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	send := func(header, value string) int {
		req := httptest.NewRequest("GET", "/mcp", nil)
		req = req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, local))
		req.Host = b.Addr()
		req.Header.Set(header, value)
		w := httptest.NewRecorder()
		b.Routes().ServeHTTP(w, req)
		return w.Code
	}
	for range 5000 {
		if code := send("Origin", "https://evil.example"); code != 403 {
			t.Fatalf("a page got %d", code)
		}
	}
	if code := send("Authorization", "Bearer "+token); code == 429 {
		t.Error("a client is refused")
	}
}

// TestPagesAreRefused sends the headers of pages, other extensions, rebound names and
// other programs to the endpoints.
func TestPagesAreRefused(t *testing.T) {
	const page = "https://app.example"
	b := start(t, &bridge.Options{Origins: []string{page}})
	e := newExtension("Work")
	e.pair(t, b)
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	addr := b.Addr()
	_, port, _ := net.SplitHostPort(addr)
	host := "Host: " + addr
	auth, kind := "Authorization: Bearer "+token, "Content-Type: application/json"
	accept := "Accept: application/json, text/event-stream"
	upgrade := "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: " +
		"dGhlIHNhbXBsZSBub25jZQ=="
	own := "Origin: " + extensionID

	type row struct {
		name, method, path string
		headers            []string
		status             int
	}
	mcp := func(name string, status int, headers ...string) row {
		return row{"mcp: " + name, "POST", "/mcp", append(headers, accept), status}
	}
	socket := func(name string, status int, headers ...string) row {
		return row{"socket: " + name, "GET", "/extension", append(headers, upgrade), status}
	}
	rows := []row{
		mcp("a client", 200, host, auth, kind),
		mcp("a client at localhost", 200, "Host: localhost:"+port, auth, kind),
		mcp("a client at ::1", 200, "Host: [::1]:"+port, auth, kind),
		mcp("an approved page", 200, host, auth, kind, "Origin: "+page, "Sec-Fetch-Site: cross-site"),
		mcp("a charset", 200, host, auth, kind+"; charset=utf-8"),
		mcp("typed into the browser", 200, host, auth, kind, "Sec-Fetch-Site: none"),
		mcp("lower case scheme", 200, host, "Authorization: bearer "+token, kind),

		mcp("no token", 401, host, kind),
		mcp("empty token", 401, host, "Authorization: Bearer ", kind),
		mcp("wrong token", 401, host, auth+"x", kind),
		mcp("shorter token", 401, host, auth[:len(auth)-1], kind),
		mcp("other case", 401, host, "Authorization: Bearer "+strings.ToLower(token), kind),
		mcp("another scheme", 401, host, "Authorization: Basic "+token, kind),
		mcp("the token alone", 401, host, "Authorization: "+token, kind),
		mcp("two tokens", 400, host, auth, auth, kind),
		mcp("the token in a cookie", 401, host, "Cookie: token="+token, kind),
		{"mcp: the token in the URL", "POST", "/mcp?token=" + token, []string{host, kind}, 401},
		mcp("another page", 403, host, auth, kind, "Origin: https://evil.example"),
		mcp("another page, same site", 403, host, auth, kind, "Origin: http://127.0.0.1:3000", "Sec-Fetch-Site: same-site"),
		mcp("the bridge as a page", 403, host, auth, kind, "Origin: http://"+addr, "Sec-Fetch-Site: same-origin"),
		mcp("origin null", 403, host, auth, kind, "Origin: null"),
		mcp("origin empty", 403, host, auth, kind, "Origin:"),
		mcp("origin in capitals", 403, host, auth, kind, "Origin: HTTPS://APP.EXAMPLE"),
		mcp("origin with a suffix", 403, host, auth, kind, "Origin: https://app.example.evil.example"),
		mcp("origin with a port", 403, host, auth, kind, "Origin: https://app.example:444"),
		mcp("origin with a slash", 403, host, auth, kind, "Origin: https://app.example/"),
		mcp("two origins", 400, host, auth, kind, "Origin: "+page, "Origin: https://evil.example"),
		mcp("two origins in one", 403, host, auth, kind, "Origin: "+page+" https://evil.example"),
		mcp("the extension", 403, host, auth, kind, own),
		mcp("cross-site without origin", 403, host, auth, kind, "Sec-Fetch-Site: cross-site"),
		mcp("same-site without origin", 403, host, auth, kind, "Sec-Fetch-Site: same-site"),
		mcp("same-origin without origin", 403, host, auth, kind, "Sec-Fetch-Site: same-origin"),
		mcp("two Sec-Fetch-Site", 400, host, auth, kind, "Sec-Fetch-Site: none", "Sec-Fetch-Site: cross-site"),
		mcp("a form", 415, host, auth, "Content-Type: text/plain"),
		mcp("an encoded form", 415, host, auth, "Content-Type: application/x-www-form-urlencoded"),
		mcp("no type", 415, host, auth),
		mcp("two types in one", 415, host, auth, "Content-Type: text/plain, application/json"),
		mcp("a rebound name", 421, "Host: evil.example:"+port, auth, kind),
		mcp("a name that begins right", 421, "Host: localhost.evil.example:"+port, auth, kind),
		mcp("a name that is an address", 421, "Host: 127.0.0.1.nip.io:"+port, auth, kind),
		mcp("another port", 421, "Host: 127.0.0.1:1", auth, kind),
		mcp("no port", 421, "Host: 127.0.0.1", auth, kind),
		mcp("another loopback address", 421, "Host: 127.0.0.2:"+port, auth, kind),
		mcp("a short address", 421, "Host: 127.1:"+port, auth, kind),
		mcp("a decimal address", 421, "Host: 2130706433:"+port, auth, kind),
		mcp("any address", 421, "Host: 0.0.0.0:"+port, auth, kind),
		mcp("a mapped address", 421, "Host: [::ffff:127.0.0.1]:"+port, auth, kind),
		mcp("a trailing dot", 421, "Host: localhost.:"+port, auth, kind),
		mcp("forwarded", 421, "Host: evil.example", "X-Forwarded-Host: "+addr, auth, kind),
		{"mcp: an absolute target", "POST", "http://evil.example:" + port + "/mcp", []string{host, auth, kind}, 421},
		{"mcp: PUT", "PUT", "/mcp", []string{host, auth, kind}, 405},
		{"mcp: preflight of an approved page", "OPTIONS", "/mcp",
			[]string{host, "Origin: " + page, "Access-Control-Request-Method: POST"}, 204},
		{"mcp: preflight of another page", "OPTIONS", "/mcp",
			[]string{host, "Origin: https://evil.example", "Access-Control-Request-Method: POST"}, 403},
		{"mcp: preflight without origin", "OPTIONS", "/mcp", []string{host}, 401},

		socket("the paired extension", 101, host, own),
		socket("at localhost", 101, "Host: localhost:"+port, own),
		socket("another extension", 403, host, "Origin: chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba"),
		socket("a page", 403, host, "Origin: https://evil.example"),
		socket("an approved page", 403, host, "Origin: "+page),
		socket("an approved page with the token", 403, host, auth, "Origin: "+page),
		socket("a page on loopback", 403, host, "Origin: http://localhost:"+port),
		socket("no origin", 403, host),
		socket("origin null", 403, host, "Origin: null"),
		socket("two origins", 400, host, own, "Origin: https://evil.example"),
		socket("a longer id", 403, host, own+"a"),
		socket("an id in capitals", 403, host, "Origin: chrome-extension://"+strings.ToUpper(extensionID[19:])),
		socket("a path", 403, host, own+"/"),
		socket("a port", 403, host, own+":80"),
		socket("a user", 403, host, "Origin: chrome-extension://x@"+extensionID[19:]),
		socket("a web page of that name", 403, host, "Origin: https://"+extensionID[19:]),
		socket("another browser's scheme", 403, host, "Origin: moz-extension://"+extensionID[19:]),
		socket("a rebound name", 421, "Host: evil.example:"+port, own),

		{"local: no browser", "GET", "/local", []string{host, upgrade}, 101},
		{"local: a page", "GET", "/local", []string{host, upgrade, "Origin: https://evil.example"}, 403},
		{"local: the extension", "GET", "/local", []string{host, upgrade, own}, 403},
		{"local: a fetch", "GET", "/local", []string{host, upgrade, "Sec-Fetch-Mode: websocket"}, 403},
		{"local: a cookie", "GET", "/local", []string{host, upgrade, "Cookie: a=b"}, 403},
		{"local: a rebound name", "GET", "/local", []string{"Host: evil.example:" + port, upgrade}, 421},

		{"discovery: the extension", "GET", "/mcp-discovery", []string{host, "Sec-Fetch-Site: none"}, 200},
		{"discovery: the extension, without permission", "GET", "/mcp-discovery",
			[]string{host, own, "Sec-Fetch-Site: cross-site"}, 200},
		{"discovery: a page", "GET", "/mcp-discovery",
			[]string{host, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"}, 403},
		{"discovery: an image of a page", "GET", "/mcp-discovery", []string{host, "Sec-Fetch-Site: cross-site"}, 403},
		{"discovery: a rebound name", "GET", "/mcp-discovery", []string{"Host: evil.example:" + port}, 421},
		{"discovery: a post", "POST", "/mcp-discovery", []string{host}, 405},
		{"nothing else", "GET", "/", []string{host}, 404},
	}
	if len(rows) < 40 {
		t.Errorf("only %d rows", len(rows))
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			body := ""
			if r.method == "POST" {
				body = initialize
			}
			res := ask(t, addr, r.method, r.path, body, r.headers...)
			if res.StatusCode != r.status {
				t.Errorf("status %d, want %d", res.StatusCode, r.status)
			}
			reads := page
			if r.path == "/mcp-discovery" {
				reads = extensionID
			}
			if got := res.Header.Get("Access-Control-Allow-Origin"); got != "" && got != reads {
				t.Errorf("CORS for %q", got)
			}
			if r.status >= 300 {
				text, _ := io.ReadAll(res.Body)
				if strings.Contains(string(text), token) {
					t.Error("the refusal holds the token")
				}
			}
		})
	}
}

// TestPagesCannotPair checks the time before the first pairing and an open pairing window.
func TestPagesCannotPair(t *testing.T) {
	b := start(t, nil)
	try := func(origin string) int {
		return ask(t, b.Addr(), "GET", "/extension", "", "Host: "+b.Addr(), "Origin: "+origin,
			"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==").StatusCode
	}
	all := func(when string) {
		for _, page := range []string{"https://evil.example", "null", "http://127.0.0.1:3000", "file://",
			"moz-extension://abcdefghijklmnopabcdefghijklmnop", "chrome-extension://short"} {
			if got := try(page); got != 403 {
				t.Errorf("%s, %s: %d", when, page, got)
			}
		}
	}
	const stranger = "chrome-extension://ponmlkjihgfedcbaponmlkjihgfedcba"
	const fox = "moz-extension://5d2e9b7a-1c3f-4e0f-9a68-0c5d2e9b7a11"
	all("before")
	if got := try(stranger); got != 101 { // to learn how to pair
		t.Errorf("an extension before: %d", got)
	}
	newExtension("Work").pair(t, b)
	all("after")
	for _, other := range []string{stranger, fox} {
		if got := try(other); got != 403 {
			t.Errorf("another extension after: %s: %d", other, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = b.Pair(ctx, func(context.Context, bridge.Pairing, string, <-chan struct{}) error { return nil })
	}()
	for deadline := time.Now().Add(patience); try(stranger) != 101; {
		if time.Now().After(deadline) {
			t.Fatal("the window does not open")
		}
	}
	all("while pairing")
	cancel()
	<-ended
	if got := try(stranger); got != 403 {
		t.Errorf("another extension when the window is closed: %d", got)
	}
	e := newExtension("Fox")
	e.origin = fox
	e.pair(t, b)
	e.connect(t, b)
}

// TestTheWindowClosesAfterThreeAttempts checks the limit of guesses.
func TestTheWindowClosesAfterThreeAttempts(t *testing.T) {
	b := start(t, nil)
	result := make(chan error, 1)
	go func() {
		_, err := b.Pair(t.Context(), func(ctx context.Context, _ bridge.Pairing, _ string, confirmed <-chan struct{}) error {
			<-ctx.Done()
			return ctx.Err()
		})
		result <- err
	}()
	e := newExtension("Work")
	for tried := 0; ; {
		conn := e.dial(t, b.Addr())
		_, err := handshake.Pair(t.Context(), conn, e.profile(b.Addr()),
			func(context.Context) (string, error) { return "wrong!", nil })
		conn.Close() // the bridge has few places for connections that are not proved
		switch c := code(err); {
		case c == handshake.CodeDeclined:
			tried++
		// The window is not open yet, or the last attempt is ending.
		case c == handshake.CodeNotPairing && tried == 0, c == handshake.CodeTooMany:
		case c == handshake.CodeNotPairing && tried == 3:
			if err := <-result; err == nil || !strings.Contains(err.Error(), "three attempts") {
				t.Error(err)
			}
			return
		default:
			t.Fatalf("after %d attempts: %v", tried, err)
		}
	}
}

// TestPagesThatTheExtensionApproves checks that these pages are admitted with the token,
// while the extension is connected.
func TestPagesThatTheExtensionApproves(t *testing.T) {
	b, e, _ := paired(t, nil)
	token, _ := b.Token()
	try := func() int {
		return ask(t, b.Addr(), "POST", "/mcp", initialize, "Host: "+b.Addr(), "Origin: https://ide.example",
			"Authorization: Bearer "+token, "Content-Type: application/json",
			"Accept: application/json, text/event-stream").StatusCode
	}
	if got := try(); got != 403 {
		t.Errorf("before: %d", got)
	}
	e.approve(t, b, "https://ide.example", "*", "null", "file://")
	for deadline := time.Now().Add(patience); try() != 200; {
		if time.Now().After(deadline) {
			t.Fatal("it is not admitted")
		}
	}
}

func TestListensOnLoopbackOnly(t *testing.T) {
	b := start(t, nil)
	_, port, _ := net.SplitHostPort(b.Addr())
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "example.com:0", "127.0.0.2:0"} {
		other, err := bridge.New(&bridge.Options{Address: address, Dir: t.TempDir()})
		if err == nil {
			err = other.Listen()
		}
		if err == nil || !strings.Contains(err.Error(), "loopback") {
			t.Errorf("%s: %v", address, err)
		}
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		ip := a.(*net.IPNet).IP
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		if conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), port), time.Second); err == nil {
			conn.Close()
			t.Errorf("it answers at %s", ip)
		}
	}
}

func TestDiscoveryHoldsNoSecret(t *testing.T) {
	b := start(t, &bridge.Options{Discovery: "127.0.0.1:0"})
	newExtension("Work").pair(t, b)
	res := ask(t, b.Addr(), "GET", "/mcp-discovery", "", "Host: "+b.Addr())
	var got map[string]any
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got["wsUrl"] != "ws://"+b.Addr()+"/extension" || got["mcpUrl"] != "http://"+b.Addr()+"/mcp" ||
		got["startedAt"] == nil || len(got) != 5 {
		t.Errorf("%v", got)
	}
}

// The usual second address is left out if it is taken. Another address was chosen, so that the bridge does not start.
func TestADiscoveryAddressThatIsTaken(t *testing.T) {
	taken := start(t, nil).Addr()
	b, err := bridge.New(&bridge.Options{Dir: t.TempDir(), Address: "127.0.0.1:0", Discovery: taken})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Listen(); err == nil || !strings.Contains(err.Error(), "discovery: ") {
		t.Errorf("%v", err)
	}
}

func TestExtensionsReadDiscovery(t *testing.T) {
	b := start(t, nil)
	for origin, want := range map[string]string{extensionID: extensionID, "https://evil.example": "", "null": ""} {
		res := ask(t, b.Addr(), "GET", "/mcp-discovery", "", "Host: "+b.Addr(), "Origin: "+origin)
		if got := res.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s may read: %q", origin, got)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	b := start(t, nil)
	token, _ := b.Token()
	post := func(body string) int {
		return ask(t, b.Addr(), "POST", "/mcp", body, "Host: "+b.Addr(), "Authorization: Bearer "+token,
			"Content-Type: application/json", "Accept: application/json, text/event-stream").StatusCode
	}
	if got := post(`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`); got != 400 {
		t.Errorf("deep: %d", got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+b.Addr()+"/mcp",
		strings.NewReader(`"`+strings.Repeat("x", 2<<20)+`"`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := bearer{token}.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("large: %d", res.StatusCode)
	}
}
