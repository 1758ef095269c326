//go:build !js

package blackbox

import (
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// client follows no redirects, decodes no bodies and keeps no cookies.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8, DialContext: dial},
}

// dial makes connections that end with a reset. After a plain end workerd assumes that the
// client still reads, as HTTP/1.1 allows, until its next write fails.
func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil {
		err = conn.(*net.TCPConn).SetLinger(0)
	}
	return conn, err
}

const page = "http://localhost:5173"

// A call is one request to the proxy.
type call struct {
	config string // "" is "open"
	method string // "" is POST of a message
	path   string // the proxy's own; "" is "/"
	target string // "" names none
	header map[string]string
	body   io.Reader
	// without the headers that an MCP client sends by itself
	bare bool
}

// do sends a call. The response ends with the context.
func (c call) do(ctx context.Context, r running, name string) (*http.Response, error) {
	method := cmp.Or(c.method, "POST")
	if c.body == nil && method == "POST" {
		c.body = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.url[cmp.Or(c.config, "open")]+cmp.Or(c.path, "/"), c.body)
	if err != nil {
		return nil, err
	}
	if !c.bare {
		req.Header.Set("Origin", page)
		req.Header.Set("X-Case", name)
		req.Header.Set("Accept", "application/json, text/event-stream")
		if method == "POST" {
			req.Header.Set("Content-Type", "application/json")
		}
		if c.config == "tight" {
			req.Header.Set("X-Portolan-Key", callerKey)
		}
	}
	if c.target != "" {
		req.Header.Set("X-Portolan-Target", c.target)
	}
	for name, value := range c.header {
		req.Header[http.CanonicalHeaderKey(name)] = []string{value}
		if value == "" {
			req.Header.Del(name)
		}
	}
	return client.Do(req)
}

// closedPort returns a URL at which no server listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String() + "/mcp"
}

// table checks one call in each row.
func table(t *testing.T, r running, u *upstream) {
	other := newUpstream(t) // another origin
	const exact = ` "a, b",, c; q="d\"e", a, a,  f`
	for _, row := range []struct {
		name   string
		call   call
		status int
		code   string // of a refusal
		check  func(t *testing.T, res *http.Response, body string)
	}{
		{"page", call{bare: true, method: "GET"}, 200, "", contains(`"open":true`, `"hosts":["127.0.0.1"]`)},
		{"page without secrets", call{bare: true, method: "GET", config: "tight"}, 200, "",
			func(t *testing.T, _ *http.Response, body string) {
				if strings.Contains(body, callerKey) {
					t.Error("the key is shown")
				}
			}},
		{"healthz", call{bare: true, method: "GET", path: "/healthz"}, 200, "", contains(`"ok":true`)},
		{"not configured", call{config: "closed", target: u.URL + "/echo"}, 403, "not_configured", nil},
		{"not configured page", call{bare: true, method: "GET", config: "closed"}, 200, "", contains(`"open":false`)},

		{"preflight", call{method: "OPTIONS", header: map[string]string{
			"Access-Control-Request-Method":  "POST",
			"Access-Control-Request-Headers": "authorization,content-type,mcp-param-a,x-api-key,x-portolan-target",
		}}, 204, "", headers(map[string]string{
			"Access-Control-Allow-Origin":  page,
			"Access-Control-Allow-Headers": "authorization,content-type,mcp-param-a,x-api-key,x-portolan-target",
			"Access-Control-Max-Age":       "7200",
		})},
		{"preflight of another page", call{method: "OPTIONS",
			header: map[string]string{"Origin": "https://evil.example",
				"Access-Control-Request-Method": "POST"}}, 403, "origin_refused", nil},
		{"origin missing", call{target: u.URL + "/echo", header: map[string]string{"Origin": ""}}, 403, "origin_missing",
			nil},
		{"target missing", call{}, 400, "target_missing", nil},
		{"target invalid", call{target: "nonsense"}, 400, "target_invalid", nil},
		{"host refused", call{target: "https://mcp.example.com/mcp"}, 403, "host_refused", nil},
		{"self loop", call{target: r.url["open"] + "/"}, 403, "self_loop", nil},
		{"HEAD", call{method: "HEAD", target: u.URL + "/echo"}, 405, "method_refused", nil},
		{"PUT", call{method: "PUT", target: u.URL + "/echo"}, 405, "method_refused", nil},
		{"no relay for pages", call{method: "GET", target: u.URL + "/echo", header: map[string]string{"Accept": "text/html"}},
			403, "not_mcp", nil},
		{"key missing", call{config: "tight", target: u.URL + "/echo", header: map[string]string{"X-Portolan-Key": ""}}, 403,
			"caller_refused", nil},

		{"message", call{target: u.URL + "/echo"}, 200, "", func(t *testing.T, res *http.Response, body string) {
			contains(`{"bytes":40}`)(t, res, body)
			if res.ContentLength != int64(len(body)) || u.saw("message").ContentLength != 40 {
				t.Errorf("lengths %d and %d were not kept", res.ContentLength, u.saw("message").ContentLength)
			}
		}},
		{"template", call{path: "/?url=" + url.QueryEscape(u.URL+"/status?code=200&a=b%20c"), target: ""}, 200, "",
			func(t *testing.T, _ *http.Response, _ string) {
				if got := u.saw("template").RequestURI; got != "/status?code=200&a=b%20c" {
					t.Errorf("asked for %s", got)
				}
			}},
		{"chunked message", call{target: u.URL + "/echo",
			body: io.MultiReader(strings.NewReader("abc"), strings.NewReader("def"))}, 200, "", contains(`{"bytes":6}`)},
		{"DELETE", call{method: "DELETE", target: u.URL + "/status?code=204",
			header: map[string]string{"Mcp-Session-Id": "s"}}, 204, "", func(t *testing.T, _ *http.Response, _ string) {
			if got := u.saw("DELETE"); got == nil || got.Method != "DELETE" || got.Header.Get("Mcp-Session-Id") != "s" {
				t.Errorf("arrived as %v", got)
			}
		}},
		{"event stream without a body", call{method: "DELETE", target: u.URL + "/events/status?code=204",
			header: map[string]string{"Mcp-Session-Id": "s"}}, 204, "", nil},
		{"event stream of no events", call{target: u.URL + "/events/status?code=202"}, 202, "", nil},
		{"metadata that is cut", call{method: "GET", target: u.URL + "/.well-known/oauth-authorization-server/cut",
			config: "tight", header: map[string]string{"Accept": "application/json"}}, 502, "upstream_unreachable", nil},
		{"202", call{target: u.URL + "/status?code=202"}, 202, "", nil},
		{"404", call{target: u.URL + "/nowhere"}, 404, "",
			headers(map[string]string{"Access-Control-Allow-Origin": page, "X-Proxy-Error": ""})},
		{"request header", call{target: u.URL + "/echo", header: map[string]string{
			"Mcp-Param-A": exact, "Mcp-Param-Dup": "a, a", "X-Api-Key": "k,k", "Authorization": `Bearer a,b="c, d"`,
			"Last-Event-Id": "1,2",
			"Cookie":        "a=b", "Referer": "http://localhost:5173/x?secret", "X-Forwarded-For": "192.0.2.1",
			"Forwarded": "for=192.0.2.1", "Te": "trailers",
		}}, 200, "", func(t *testing.T, _ *http.Response, _ string) {
			got := u.saw("request header").Header
			for name, want := range map[string]string{"Mcp-Param-A": strings.TrimSpace(exact), "Mcp-Param-Dup": "a, a",
				"X-Api-Key": "k,k", "Authorization": `Bearer a,b="c, d"`, "Last-Event-Id": "1,2"} {
				if values := got.Values(name); len(values) != 1 || values[0] != want {
					t.Errorf("%s: %q, want %q", name, values, want)
				}
			}
			for _, name := range []string{"Cookie", "Origin", "Referer", "X-Forwarded-For", "Forwarded", "Te",
				"X-Portolan-Target", "Cf-Connecting-Ip"} {
				if values := got.Values(name); values != nil {
					t.Errorf("%s: %q was sent", name, values)
				}
			}
		}},
		{"response header", call{target: u.URL + "/headers"}, 200, "", headers(map[string]string{
			"Www-Authenticate": `Bearer realm="a, b", resource_metadata="https://a.example/x?y=1,2", error="invalid, token"`,
			"Mcp-Session-Id":   "0, 0, 1", "X-Quoted": `"a, b", 'c', "d\"e,f"`, "Access-Control-Allow-Origin": page,
			"Vary":       "Origin, X-Portolan-Target",
			"Set-Cookie": "", "Keep-Alive": "", "Proxy-Authenticate": "",
			"Access-Control-Expose-Headers": "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, " +
				"DPoP-Nonce, X-Proxy-Error, X-Portolan-Binding, X-Quoted",
		})},
		{"compressed", call{target: u.URL + "/gzip", header: map[string]string{"Accept-Encoding": "gzip"}}, 200, "",
			same(gzipped)},
		{"compressed, chunked", call{target: u.URL + "/gzip/chunked", header: map[string]string{"Accept-Encoding": "gzip"}},
			200, "", same(gzipped)},
		{"events", call{target: u.URL + "/events"}, 200, "", same(":\n\ndata: 1\n\n")},

		{"GET redirected", call{method: "GET", target: u.URL + "/redirect?to=/events"}, 200, "", same(":\n\ndata: 1\n\n")},
		{"GET redirected elsewhere", call{method: "GET", target: u.URL + "/redirect?to=" + other.URL + "/events",
			header: map[string]string{"Authorization": "Bearer secret",
				"X-Api-Key": "secret"}}, 200, "", func(t *testing.T, _ *http.Response, _ string) {
			got := other.saw("") // X-Case is removed as well
			if got == nil || got.Header.Get("Authorization") != "" || got.Header.Get("X-Api-Key") != "" ||
				got.Header.Get("Accept") == "" {
				t.Errorf("arrived as %v", got)
			}
		}},
		{"GET redirected to a host that is not allowed",
			call{method: "GET", target: u.URL + "/redirect?to=http://127.0.0.2:1/events"}, 502, "redirect_refused", nil},
		{"GET in a loop", call{method: "GET", target: u.URL + "/loop"}, 502, "redirect_refused", nil},
		{"POST redirected", call{target: u.URL + "/redirect?to=/echo"}, 502, "redirect_refused",
			func(t *testing.T, _ *http.Response, _ string) {
				if got := u.saw("POST redirected"); got.URL.Path != "/redirect" {
					t.Errorf("went to %s", got.URL)
				}
			}},

		{"nobody there", call{target: closedPort(t)}, 502, "upstream_unreachable", nil},
		{"no answer in time", call{config: "hurried", target: u.URL + "/silent"}, 504, "upstream_timeout", nil},
		{"request too large", call{config: "tight", target: u.URL + "/echo",
			body: strings.NewReader(strings.Repeat("x", 1001))}, 413, "request_too_large", nil},
		{"request of unknown length too large", call{config: "tight", target: u.URL + "/echo",
			body: io.MultiReader(strings.NewReader(strings.Repeat("x", 1001)))}, 413, "request_too_large", nil},
		{"request just large enough", call{config: "tight", target: u.URL + "/echo",
			body: strings.NewReader(strings.Repeat("x", 1000))}, 200, "", contains(`{"bytes":1000}`)},
		{"response too large", call{config: "tight", target: u.URL + "/large?bytes=1001"}, 502, "response_too_large", nil},
		{"response just small enough", call{config: "tight", target: u.URL + "/large?chunked=1&bytes=1000"}, 200, "",
			same(strings.Repeat("x", 1000))},

		{"form without a binding", call{config: "tight", target: u.URL + "/token", body: strings.NewReader("code=1"),
			header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}}, 403, "binding_missing", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			res, err := row.call.do(ctx, r, row.name)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			body := string(text)
			if res.StatusCode != row.status || res.Header.Get("X-Proxy-Error") != row.code {
				t.Fatalf("%d %q, want %d %q: %s", res.StatusCode, res.Header.Get("X-Proxy-Error"), row.status, row.code, body)
			}
			if row.code != "" {
				refusal(t, res, body, row.code, row.call)
			}
			if row.check != nil {
				row.check(t, res, body)
			}
		})
	}
}

// refusal checks the parts that every refusal has.
func refusal(t *testing.T, res *http.Response, body, code string, c call) {
	var e struct {
		Error struct{ Code, Message, Hint string }
	}
	if c.method != "HEAD" && (json.Unmarshal([]byte(body), &e) != nil || e.Error.Code != code || e.Error.Message == "" ||
		e.Error.Hint == "") {
		t.Errorf("body %s", body)
	}
	origin, named := c.header["Origin"]
	if !named {
		origin = page
	}
	if got := res.Header.Get("Access-Control-Allow-Origin"); got != origin {
		t.Errorf("Access-Control-Allow-Origin %q, want %q", got, origin)
	}
	if !strings.Contains(res.Header.Get("Access-Control-Expose-Headers"), "X-Proxy-Error") {
		t.Error("X-Proxy-Error is not exposed")
	}
}

type check = func(t *testing.T, res *http.Response, body string)

func contains(parts ...string) check {
	return func(t *testing.T, _ *http.Response, body string) {
		for _, part := range parts {
			if !strings.Contains(body, part) {
				t.Errorf("no %s in %s", part, body)
			}
		}
	}
}

func same(want string) check {
	return func(t *testing.T, _ *http.Response, body string) {
		if body != want {
			t.Errorf("%q, want %q", body, want)
		}
	}
}

// headers compares fields; "" means absent.
func headers(want map[string]string) check {
	return func(t *testing.T, res *http.Response, _ string) {
		for name, value := range want {
			if got := strings.Join(res.Header.Values(name), " | "); got != value {
				t.Errorf("%s: %q, want %q", name, got, value)
			}
		}
	}
}

// binding reads metadata, and uses its binding for the token endpoint.
func binding(t *testing.T, r running, u *upstream) {
	res, err := call{config: "tight", method: "GET", target: u.URL + "/.well-known/oauth-authorization-server",
		header: map[string]string{"Accept": "application/json", "Accept-Encoding": "gzip, deflate, br"}}.do(t.Context(), r, "metadata")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text := io.Reader(res.Body)
	if res.Header.Get("Content-Encoding") == "gzip" { // as wrangler dev sends it
		if text, err = gzip.NewReader(text); err != nil {
			t.Fatal(err)
		}
	}
	body, _ := io.ReadAll(text)
	if res.StatusCode != 200 || !strings.Contains(string(body), "/token") {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	token := res.Header.Get("X-Portolan-Binding")
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
		"X-Portolan-Binding": token}
	for target, want := range map[string]int{u.URL + "/token": 200, u.URL + "/echo": 403} {
		res, err := call{config: "tight", target: target, body: strings.NewReader("code=42"), header: form}.do(t.Context(), r,
			"form")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		if res.StatusCode != want || want == 200 && string(body) != `{"access_token":"42"}` {
			t.Errorf("%s: %d %s", target, res.StatusCode, body)
		}
	}
}

// rateLimit sends more requests than one page may send to one server.
func rateLimit(t *testing.T, r running, u *upstream) {
	for n := 0; n < 1300; n++ { // of 600 in each minute, and the minute may turn once
		c := call{target: u.URL + "/events", header: map[string]string{"Origin": "http://localhost:1"}}
		res, err := c.do(t.Context(), r, "")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode == 429 {
			t.Logf("after %d requests", n)
			refusal(t, res, string(body), "rate_limited", c)
			return
		}
	}
	t.Error("nothing was limited")
}
