//go:build !windows

package gateway

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// TestOrigins sends requests of other pages, tabs, extensions and programs. None of them
// may start a process or read an answer.
func TestOrigins(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	extension := "chrome-extension://" + strings.Repeat("a", 32)
	for _, origin := range []string{extension, "moz-extension://0a1b2c3d-0000-1111-2222-333344445555"} {
		token, err := r.Allow(origin)
		if err != nil {
			t.Fatal(err)
		}
		res, text := r.do("POST", "/s/raw/mcp", initializeRequest, "Origin", origin, "Authorization", "Bearer "+token)
		if res.StatusCode != 200 || res.Header.Get("Access-Control-Allow-Origin") != origin || !strings.Contains(text, `"result"`) {
			t.Errorf("an admitted extension: %d %s", res.StatusCode, text)
		}
		res, _ = r.do("DELETE", "/s/raw/mcp", "", "Origin", origin, "Authorization", "Bearer "+token, "Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))
		if res.StatusCode != 204 {
			t.Errorf("DELETE: %d", res.StatusCode)
		}
	}
	other, err := r.Allow("https://other.example")
	if err != nil {
		t.Fatal(err)
	}
	s := r.begin("raw")
	eventually(t, "the extensions' programs end", func() bool { return r.Servers()[0].Processes == 1 })
	accepted := 0
	for _, row := range []struct {
		name   string
		header []string
		status int
	}{
		{"another page", []string{"Origin", "https://evil.example"}, 403},
		{"the page on another scheme", []string{"Origin", "http://app.example"}, 403},
		{"the page on another port", []string{"Origin", "https://app.example:8443"}, 403},
		{"a subdomain", []string{"Origin", "https://x.app.example"}, 403},
		{"a name that begins like it", []string{"Origin", "https://app.example.evil.example"}, 403},
		{"in capitals", []string{"Origin", "https://APP.example"}, 403},
		{"a path behind it", []string{"Origin", "https://app.example/"}, 403},
		{"a sandboxed frame", []string{"Origin", "null"}, 403},
		{"an empty origin", []string{"Origin", " "}, 403},
		{"the gateway's own origin", []string{"Origin", "http://" + r.Addr()}, 403},
		{"another extension", []string{"Origin", "chrome-extension://" + strings.Repeat("b", 32)}, 403},
		{"an extension's page with a path", []string{"Origin", extension + "/panel.html"}, 403},
		{"a file", []string{"Origin", "file://"}, 403},
		{"a wildcard", []string{"Origin", "*"}, 403},
		{"another admitted page with this page's token", []string{"Origin", "https://other.example"}, 401},
		{"this page with another page's token", []string{"Authorization", "Bearer " + other}, 401},
		{"no token", []string{"Authorization", ""}, 401},
		{"a wrong token", []string{"Authorization", "Bearer " + strings.Repeat("x", 43)}, 401},
		{"the token in another scheme", []string{"Authorization", "Basic " + r.token}, 401},
		{"an empty token", []string{"Authorization", "Bearer "}, 401},
		{"a program without a token", []string{"Origin", "", "Authorization", ""}, 401},
		{"a program with a wrong token", []string{"Origin", "", "Authorization", "Bearer nothing"}, 401},
		{"a page without an origin", []string{"Origin", "", "Sec-Fetch-Site", "cross-site"}, 403},
		{"a frame of the same site", []string{"Origin", "", "Sec-Fetch-Site", "same-site"}, 403},
		{"the gateway's own page", []string{"Origin", "", "Sec-Fetch-Site", "same-origin"}, 403},
		{"a form", []string{"Content-Type", "text/plain"}, 415},
		{"a form with fields", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"rebinding: its name", []string{"Host", "evil.example"}, 421},
		{"rebinding: its name and our port", []string{"Host", "evil.example:" + port(r)}, 421},
		{"rebinding: a name that means this machine", []string{"Host", "localtest.me:" + port(r)}, 421},
		{"rebinding: 0.0.0.0", []string{"Host", "0.0.0.0:" + port(r)}, 421},
		{"rebinding: another port", []string{"Host", "127.0.0.1:1"}, 421},
		{"rebinding: no port", []string{"Host", "127.0.0.1"}, 421},
		{"rebinding: a longer name", []string{"Host", "127.0.0.1.nip.io:" + port(r)}, 421},
		{"rebinding: localhost with a dot", []string{"Host", "localhost.:" + port(r)}, 421},
		{"rebinding: in capitals", []string{"Host", "LOCALHOST:" + port(r)}, 421},
		{"rebinding: an address that means the same", []string{"Host", "127.1:" + port(r)}, 421},
		{"rebinding: credentials", []string{"Host", "127.0.0.1:" + port(r) + "@evil.example"}, 421},
	} {
		for _, method := range []string{"POST", "GET", "DELETE"} {
			if row.status == 415 && method != "POST" {
				continue
			}
			res, text := r.do(method, "/s/raw/mcp", initializeRequest, append([]string{"Mcp-Session-Id", map[string]string{"POST": "", "GET": s.id, "DELETE": s.id}[method]}, row.header...)...)
			if res.StatusCode != row.status {
				t.Errorf("%s, %s: %d %s, want %d", row.name, method, res.StatusCode, text, row.status)
			}
			if res.StatusCode < 300 {
				accepted++
			}
			if res.Close == (row.status == 415) { // an open connection would keep others out
				t.Errorf("%s, %s: is the connection closed? %v", row.name, method, res.Close)
			}
			if allowed := res.Header.Get("Access-Control-Allow-Origin"); row.status == 403 && allowed != "" || row.status == 421 && allowed != "" {
				t.Errorf("%s may read the refusal: %q", row.name, allowed)
			}
		}
		for _, path := range []string{"/servers", "/s/raw/status"} {
			if res, _ := r.do("GET", path, "", row.header...); res.StatusCode < 300 && row.status != 415 {
				t.Errorf("%s reads %s", row.name, path)
				accepted++
			}
		}
		preflight := append([]string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Private-Network", "true"}, row.header...)
		if res, _ := r.do("OPTIONS", "/s/raw/mcp", "", preflight...); row.status == 403 && (res.StatusCode < 300 || res.Header.Get("Access-Control-Allow-Private-Network") != "") {
			t.Errorf("%s: its preflight is answered with %d", row.name, res.StatusCode)
		}
	}
	if n := r.Servers()[0].Processes; n != 1 || accepted != 0 {
		t.Errorf("%d requests were accepted, %d processes run", accepted, n)
	}
	// The session of one origin is unknown to another.
	res, _ := r.do("POST", "/s/raw/mcp", `{"jsonrpc":"2.0","id":1,"method":"pid"}`, "Origin", "https://other.example",
		"Authorization", "Bearer "+other, "Mcp-Session-Id", s.id)
	if res.StatusCode != 404 {
		t.Errorf("another origin's session: %d", res.StatusCode)
	}
	if text := s.request(`{"jsonrpc":"2.0","id":1,"method":"pid"}`); !strings.Contains(text, "result") {
		t.Error(text)
	}
}

func port(r *running) string {
	_, port, _ := net.SplitHostPort(r.Addr())
	return port
}

// TestAdmitted sends what a browser sends for an admitted page.
func TestAdmitted(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	res, _ := r.do("OPTIONS", "/s/raw/mcp", "", "Authorization", "", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type,mcp-param-region,x-other", "Access-Control-Request-Private-Network", "true")
	got := map[string]string{}
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control") || name == "Vary" {
			got[name] = res.Header.Get(name)
		}
	}
	want := map[string]string{
		"Access-Control-Allow-Origin": page, "Access-Control-Allow-Methods": "GET, POST, DELETE", "Access-Control-Max-Age": "600",
		"Access-Control-Allow-Headers": loopback.PageHeaders(&http.Request{}) + ", mcp-param-region", "Access-Control-Allow-Private-Network": "true",
		"Access-Control-Expose-Headers": "Mcp-Session-Id, WWW-Authenticate, Retry-After", "Vary": "Origin",
	}
	if d := cmp.Diff(want, got); d != "" || res.StatusCode != 204 {
		t.Errorf("%d %s", res.StatusCode, d)
	}
	for _, header := range [][]string{{"Host", "localhost:" + port(r)}, {"Origin", ""}, {"Origin", "", "Sec-Fetch-Site", "none"}} {
		if res, text := r.do("GET", "/servers", "", header...); res.StatusCode != 200 || !strings.Contains(text, `"path":"/s/raw/mcp"`) {
			t.Errorf("%v: %d %s", header, res.StatusCode, text)
		}
	}
	r.begin("raw")
	eventually(t, "what the program wrote to stderr is in its log", func() bool { // its messages may come before
		res, text := r.do("GET", "/s/raw/status", "")
		if res.StatusCode != 200 || strings.Contains(text, "sk-very") {
			t.Fatalf("%d %s", res.StatusCode, text)
		}
		return strings.Contains(text, "raw runs with [redacted]")
	})
	for _, path := range []string{"/s/none/mcp", "/s/none/status", "/s/raw", "/", "/s/raw/mcp/x"} {
		if res, _ := r.do("GET", path, ""); res.StatusCode != 404 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	if res, _ := r.do("PUT", "/s/raw/mcp", ""); res.StatusCode != 405 {
		t.Errorf("PUT: %d", res.StatusCode)
	}
}

// Neither a page that is not admitted nor another one that is uses up the requests of a page.
func TestAPageDoesNotSlowAnother(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	other, err := r.Allow("https://other.example")
	if err != nil {
		t.Fatal(err)
	}
	r.mayAsk("https://other.example")
	r.rates["https://other.example"].SetLimit(0.001) // on a slow machine too, all requests come at once
	for _, row := range []struct {
		origin, token string
		limited       bool
	}{{"https://evil.example", "", false}, {"https://other.example", other, true}} {
		busy := 0
		for range 3000 {
			req := httptest.NewRequest("GET", "/servers", nil)
			req = req.WithContext(context.WithValue(req.Context(), http.LocalAddrContextKey, r.listeners[0].Addr()))
			req.Host = r.Addr()
			req.Header.Set("Origin", row.origin)
			req.Header.Set("Authorization", "Bearer "+row.token)
			w := httptest.NewRecorder()
			r.routes().ServeHTTP(w, req)
			if w.Code == http.StatusTooManyRequests {
				busy++
			}
		}
		if (busy > 0) != row.limited {
			t.Errorf("%s: %d requests were too many", row.origin, busy)
		}
		if res, text := r.do("GET", "/servers", ""); res.StatusCode != 200 {
			t.Errorf("after the requests of %s: %d %s", row.origin, res.StatusCode, text)
		}
	}
}

// dial opens the WebSocket of a pairing as a page does.
func (r *running) dial(origin string) (*socket.Conn, error) {
	ws, res, err := websocket.Dial(context.Background(), "ws://"+r.Addr()+"/pair", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		return nil, fmt.Errorf("status %d", res.StatusCode)
	}
	c := socket.New(ws, nil, socket.Limits{})
	r.t.Cleanup(func() { c.CloseWith(websocket.StatusNormalClosure, "") })
	return c, nil
}

// pairAs runs the page's side of a pairing.
func (r *running) pairAs(origin, claimed string, typed func(context.Context) (string, error)) (token string, err error) {
	c, err := r.dial(origin)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	key, err := handshake.Pair(ctx, c, handshake.Profile{InstallID: "page", Origin: claimed, Address: r.Addr()}, typed)
	return tokenOf(key), err
}

// TestPairing pairs a page, uses its token, pairs it again, and revokes it.
func TestPairing(t *testing.T) {
	t.Parallel()
	shown := make(chan string, 10)
	yes := true
	dir := t.TempDir()
	opts := &Options{Dir: dir, Pair: func(_ context.Context, origin, digits string, confirmed <-chan struct{}) error {
		shown <- digits
		<-confirmed
		if !yes || !strings.HasPrefix(origin, "https://") {
			return context.Canceled
		}
		return nil
	}}
	r := serve(t, opts, testServer(t, "raw", "raw"))
	paired := "https://paired.example"
	typed := func(context.Context) (string, error) { return <-shown, nil }
	use := func(token string) int {
		t.Helper()
		res, _ := r.do("GET", "/servers", "", "Origin", paired, "Authorization", "Bearer "+token)
		return res.StatusCode
	}
	first, err := r.pairAs(paired, paired, typed)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first attempt is over", func() bool { return len(r.Gateway.pairing) == 0 })
	second, err := r.pairAs(paired, paired, typed)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := use(first), use(second); a != 200 || b != 200 || first == second {
		t.Errorf("the tokens of two pairings: %d %d", a, b)
	}
	path := filepath.Join(dir, "gateway.json")
	text, err := os.ReadFile(path)
	stat, _ := os.Stat(path)
	if err != nil || strings.Contains(string(text), first) || stat.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v %v %s", err, stat.Mode(), text)
	}
	all, err := Origins(dir)
	if err != nil || len(all) != 1 || all[0].Origin != paired || len(all[0].Hashes) != 2 {
		t.Errorf("origins: %v %v", all, err)
	}
	// A running session ends with the grant.
	r.token = first
	res, _ := r.do("POST", "/s/raw/mcp", initializeRequest, "Origin", paired)
	if res.StatusCode != 200 || r.Servers()[0].Processes != 1 {
		t.Errorf("initialize: %d", res.StatusCode)
	}
	if err := Revoke(dir, paired); err != nil {
		t.Error(err)
	}
	eventually(t, "the program of a revoked origin ends", func() bool { return r.Servers()[0].Processes == 0 })
	if code := use(first); code != 403 {
		t.Errorf("a revoked token: %d", code)
	}
	if err := Revoke(dir, paired); err == nil {
		t.Error("an origin was revoked twice")
	}
}

// TestPairingFails lets pages try to be paired without the person. None gets in.
func TestPairingFails(t *testing.T) {
	t.Parallel()
	shown := make(chan string, 100)
	opts := &Options{Dir: t.TempDir(), Pair: func(ctx context.Context, _, digits string, confirmed <-chan struct{}) error {
		shown <- digits
		select {
		case <-confirmed:
			return nil // the person always says yes
		case <-ctx.Done():
			return ctx.Err()
		}
	}}
	r := serve(t, opts, testServer(t, "raw", "raw"))
	for _, origin := range []string{"null", "file://", "evil.example", "chrome-extension://short", "", "https://a.example/x"} {
		if _, err := r.dial(origin); err == nil || !strings.Contains(err.Error(), "403") {
			t.Errorf("%q may pair: %v", origin, err)
		}
	}
	// The origin is the browser's, and not what the page claims.
	typed := func(context.Context) (string, error) { return <-shown, nil }
	if _, err := r.pairAs("https://evil.example", page, typed); err == nil {
		t.Error("a page was paired as another one")
	}
	guess := func(context.Context) (string, error) { <-shown; return "123456", nil }
	refused := 0
	for range 8 {
		eventually(t, "the last attempt is over", func() bool { return len(r.Gateway.pairing) == 0 })
		if _, err := r.pairAs("https://evil.example", "https://evil.example", guess); err == nil {
			t.Fatal("a guess was right")
		} else if strings.Contains(err.Error(), handshake.CodeTooMany) {
			refused++
		}
	}
	if refused < 2 {
		t.Errorf("%d attempts were refused", refused)
	}
	if _, err := r.pairAs("https://other.example", "https://other.example", typed); err == nil || !strings.Contains(err.Error(), handshake.CodeTooMany) {
		t.Errorf("pages that take turns are not slowed: %v", err)
	}
	if all, err := Origins(opts.Dir); err != nil || len(all) != 0 {
		t.Errorf("origins: %v %v", all, err)
	}
	// Pages that say nothing cannot take all places for long.
	eventually(t, "the sockets of failed attempts are closed", func() bool { return len(r.slots) == 0 })
	open := 0
	for range 30 {
		if _, err := r.dial("https://silent.example"); err == nil {
			open++
		}
	}
	if open != maxSockets {
		t.Errorf("%d sockets are open", open)
	}
	eventually(t, "silent pages are closed", func() bool { return len(r.slots) == 0 })
	// One that passes messages on from another address is found out.
	c, err := r.dial("https://third.example")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	_, err = handshake.Pair(ctx, c, handshake.Profile{InstallID: "x", Origin: "https://third.example", Address: "127.0.0.1:1"}, typed)
	if err == nil || !strings.Contains(err.Error(), handshake.CodeWrongTarget) {
		t.Error(err)
	}
}

// TestNoTerminal refuses to pair where nobody could be asked.
func TestNoTerminal(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	_, err := r.pairAs(page, page, func(context.Context) (string, error) { return "", nil })
	if err == nil || !strings.Contains(err.Error(), "--allow https://app.example") {
		t.Error(err)
	}
}
