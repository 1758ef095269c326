package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"maps"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const ide = "http://ide.example"

// runProxy runs the command until the test ends, and returns the proxy's URL.
func runProxy(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, append([]string{"proxy"}, args...), w, io.Discard)
		w.Close()
	}()
	t.Cleanup(func() {
		stop()
		if got := <-code; got != 0 {
			t.Errorf("the proxy ended with %d", got)
		}
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "The proxy is at ")
	if err != nil || !ok {
		t.Fatalf("%q, %v", line, err)
	}
	return url
}

// plainServer is an MCP server without CORS, which keeps the last headers it received.
func plainServer(t *testing.T) (url string, header func() http.Header) {
	var last http.Header
	handler := demoHandler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodPost {
			last = req.Header.Clone()
		}
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server.URL + "/mcp", func() http.Header { return last }
}

func TestDoctor(t *testing.T) {
	server, _ := plainServer(t)
	proxy := runProxy(t, "--origin", ide, "--host", "127.0.0.1", "--insecure-allow-private")
	code, out, _ := portolan(t, "doctor", "--proxy", proxy, "--origin", ide, "--server", server)
	if code != 0 || strings.Contains(out, "FAIL") || !strings.Contains(out, "pass  the server answers MCP (status 200)") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	strict := runProxy(t, "--origin", ide, "--host", "mcp.example.com")
	for _, at := range []string{strict, strict + "?url={href}"} { // as the registry's option has it
		if code, out, errs := portolan(t, "doctor", "--proxy", at, "--origin", ide); code != 0 ||
			strings.Contains(out, "FAIL") || strings.Count(out, "pass") < 5 {
			t.Errorf("%s: exit code %d\n%s%s", at, code, out, errs)
		}
	}
	if code, out, _ := portolan(t, "doctor", "--proxy", strict, "--origin", "http://other.example"); code != 1 ||
		!strings.Contains(out, "Add the origin to ALLOWED_ORIGINS") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, out, _ := portolan(t, "doctor", "--server", server, "--origin", ide); code != 1 ||
		!strings.Contains(out, "proxy: true") || !strings.Contains(out, "pass  the server answers") {
		t.Errorf("exit code %d\n%s", code, out)
	}
	open := start(t)
	if code, out, _ := portolan(t, "doctor", "--server", open+"/mcp", "--origin", ide); code != 0 {
		t.Errorf("exit code %d\n%s", code, out)
	}
	if code, _, _ := portolan(t, "doctor"); code != 2 {
		t.Errorf("without arguments: exit code %d", code)
	}
	if code, out, errs := portolan(t, "doctor", "--proxy", strict, "--origin", ide+"/"); code != 2 ||
		!strings.Contains(errs, "--origin: want an origin such as https://ide.example, without a path, a final slash") {
		t.Errorf("an origin with a slash: exit code %d\n%s%s", code, out, errs)
	}
}

// A page may send a ticket in place of a key.
func TestDoctorWithATicket(t *testing.T) {
	server, _ := plainServer(t)
	const key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	t.Setenv("TICKET_KEYS", key)
	code, ticket, errs := portolan(t, "proxy", "ticket", "--origin", ide, "--host", strings.TrimSuffix(strings.TrimPrefix(server, "http://"), "/mcp"))
	if code != 0 {
		t.Fatal(ticket, errs)
	}
	proxy := runProxy(t, "--origin", ide, "--insecure-allow-private")
	if code, out, _ := portolan(t, "doctor", "--proxy", proxy, "--origin", ide, "--server", server); code != 1 ||
		!strings.Contains(out, "FAIL  it goes to the server\n      The proxy says: caller_refused") {
		t.Errorf("without a ticket: exit code %d\n%s", code, out)
	}
	if code, out, errs := portolan(t, "doctor", "--proxy", proxy, "--origin", ide, "--server", server, "--ticket", strings.TrimSpace(ticket)); code != 0 ||
		!strings.Contains(out, "pass  the server answers MCP (status 200)") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// A key is checked without a server, too.
func TestDoctorWithAKey(t *testing.T) {
	const key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	proxy := runProxy(t, "--origin", ide, "--key", key)
	if code, out, errs := portolan(t, "doctor", "--proxy", proxy, "--origin", ide, "--key", key); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if code, out, _ := portolan(t, "doctor", "--proxy", proxy, "--origin", ide, "--key", key+"B"); code != 1 ||
		!strings.Contains(out, "FAIL  it accepts the key\n      The key is none of CALLER_KEYS.\n") {
		t.Errorf("another key: exit code %d\n%s", code, out)
	}
}

// A page of 2026-07-28 sends two more headers. A server of that version alone has no sessions.
func TestDoctorOfAModernServer(t *testing.T) {
	for name, row := range map[string]struct {
		stream       bool
		allows, want string
		passes       bool
	}{
		"without its headers": {false, "content-type, mcp-protocol-version, authorization", "FAIL  it allows the header mcp-method\n", false},
		"with its headers":    {true, "content-type, mcp-protocol-version, authorization, mcp-method, mcp-name", "pass  it allows the header mcp-name\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				w.Header().Set("Access-Control-Allow-Origin", ide)
				w.Header().Set("Access-Control-Allow-Headers", row.allows)
				text, _ := io.ReadAll(req.Body)
				switch {
				case req.Method == http.MethodOptions:
					w.WriteHeader(http.StatusNoContent)
				case req.Method == http.MethodGet:
					w.WriteHeader(http.StatusMethodNotAllowed)
				case strings.Contains(string(text), `"server/discover"`) && req.Header.Get("Mcp-Method") == "server/discover":
					said := `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}`
					if row.stream {
						w.Header().Set("Content-Type", "text/event-stream")
						said = ": hello\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\ndata: " + said + "\n\n"
					}
					_, _ = io.WriteString(w, said)
				default:
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported protocol version"}}`)
				}
			}))
			defer server.Close()
			code, out, _ := portolan(t, "doctor", "--server", server.URL+"/mcp", "--origin", ide)
			if (code == 0) != row.passes || !strings.Contains(out, row.want) || strings.Contains(out, "session") {
				t.Errorf("exit code %d\n%s", code, out)
			}
		})
	}
}

// The version of a server that asks for sign-in shows with a token. So do the headers that its pages lack.
func TestDoctorBehindASignIn(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", ide)
		w.Header().Set("Access-Control-Allow-Headers", "content-type, mcp-protocol-version, mcp-session-id, authorization")
		w.Header().Set("Access-Control-Expose-Headers", "WWW-Authenticate")
		switch {
		case req.Method == http.MethodOptions:
			w.WriteHeader(http.StatusNoContent)
		case req.Header.Get("Authorization") != "Bearer right":
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(http.StatusUnauthorized)
		case req.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		default:
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}`)
		}
	}))
	defer server.Close()
	const lacks = "FAIL  it allows the header mcp-method\n"
	const advice = "give a token by --header 'Authorization: Bearer TOKEN'"
	at := server.URL + "/mcp"
	if code, out, _ := portolan(t, "doctor", "--server", at, "--origin", ide); code != 0 || !strings.Contains(out, advice) {
		t.Errorf("exit code %d\n%s", code, out)
	}
	code, out, errs := portolan(t, "doctor", "--server", at, "--origin", ide, "--header", "Authorization: Bearer right", "--header", "X-Api-Key: k")
	if code != 1 || !strings.Contains(out, lacks) || !strings.Contains(out, "FAIL  it allows the header x-api-key\n") ||
		strings.Contains(out, advice) || strings.Contains(out+errs, "right") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	proxy := runProxy(t, "--origin", ide, "--host", "127.0.0.1", "--insecure-allow-private")
	if code, out, errs := portolan(t, "doctor", "--proxy", proxy, "--origin", ide, "--server", at, "--header", "Authorization: Bearer right"); code != 0 ||
		!strings.Contains(out, "pass  the server answers MCP (status 200)") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// The doctor names the address to which a server redirects, as frameworks do for a missing slash. Its query may hold a
// key.
func TestDoctorNamesARedirect(t *testing.T) {
	for location, want := range map[string]string{
		"/mcp/?key=s3cr3t": "It redirects to http://SERVER/mcp/. If you trust that, make it the server's URL.",
		"":                 "Check the path of the URL: Temporary Redirect",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if location != "" {
				w.Header().Set("Location", location)
			}
			w.WriteHeader(http.StatusTemporaryRedirect)
		}))
		_, out, _ := portolan(t, "doctor", "--server", server.URL+"/mcp", "--origin", ide)
		server.Close()
		want = strings.ReplaceAll(want, "SERVER", strings.TrimPrefix(server.URL, "http://"))
		if !strings.Contains(out, "FAIL  it answers MCP (status 307)\n      "+want+"\n") || strings.Contains(out, "s3cr3t") {
			t.Errorf("%s\nwant %s", out, want)
		}
	}
}

// The doctor ends the sessions that it has begun, also through a proxy.
func TestDoctorEndsItsSessions(t *testing.T) {
	var mu sync.Mutex
	begun, ended := map[string]bool{}, map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		text, _ := io.ReadAll(req.Body)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case req.Method == http.MethodDelete:
			ended[req.Header.Get("Mcp-Session-Id")] = true
		case req.Method == http.MethodGet:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case strings.Contains(string(text), `"initialize"`):
			id := strconv.Itoa(len(begun))
			begun[id] = true
			w.Header().Set("Mcp-Session-Id", id)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer server.Close()
	proxy := runProxy(t, "--origin", ide, "--host", "127.0.0.1", "--insecure-allow-private")
	_, _, _ = portolan(t, "doctor", "--server", server.URL+"/mcp", "--origin", ide)
	_, _, _ = portolan(t, "doctor", "--proxy", proxy, "--server", server.URL+"/mcp", "--origin", ide)
	mu.Lock()
	defer mu.Unlock()
	if len(begun) != 2 || !maps.Equal(begun, ended) {
		t.Errorf("begun %v, ended %v", begun, ended)
	}
}

// A browser joins the fields of one name. It takes no origin that is there twice, as behind a web server that adds it,
// too.
func TestDoctorOfRepeatedHeaders(t *testing.T) {
	for origins, want := range map[int]string{1: "", 2: "It sends Access-Control-Allow-Origin 2 times"} {
		exposed := []string{"WWW-Authenticate", "Mcp-Session-Id"}
		if origins > 1 {
			exposed = []string{"*"}
		}
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			h := w.Header()
			for range origins {
				h.Add("Access-Control-Allow-Origin", "*")
			}
			for _, name := range []string{"Content-Type", "MCP-Protocol-Version", "Mcp-Session-Id", "Authorization"} {
				h.Add("Access-Control-Allow-Headers", name)
			}
			h["Access-Control-Expose-Headers"] = exposed
			h.Set("Mcp-Session-Id", "1")
			if req.Method == http.MethodGet {
				w.WriteHeader(http.StatusMethodNotAllowed)
			}
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		}))
		code, out, _ := portolan(t, "doctor", "--server", server.URL+"/mcp", "--origin", ide)
		server.Close()
		if (code == 0) != (want == "") || !strings.Contains(out, want) || !strings.Contains(out, "pass  the session id can be read") {
			t.Errorf("%d origins: exit code %d\n%s", origins, code, out)
		}
	}
}

// The doctor knows an MCP server by its words, and not by its status.
func TestDoctorKnowsMCP(t *testing.T) {
	type reply struct {
		status     int
		kind, body string
	}
	html := reply{200, "text/html", "<!doctype html><title>A site</title>"}
	modern := reply{400, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"unsupported protocol version"}}`}
	stream := reply{200, "text/event-stream", "event: endpoint\ndata: /messages\n\n"}
	for name, row := range map[string]struct {
		post, get reply
		want      string
	}{
		"a site":                    {html, html, "FAIL  it answers MCP (status 200)\n      Check the path of the URL: the answer is text/html"},
		"nothing":                   {reply{404, "text/plain", "no"}, html, "FAIL  it answers MCP (status 404)\n      Check the path of the URL: Not Found"},
		"a server that is busy":     {reply{429, "text/plain", "no"}, html, "FAIL  it answers MCP (status 429)\n      Try again later: Too Many Requests"},
		"a server of 2026-07-28":    {modern, reply{405, "", ""}, "pass  it answers MCP (status 400)"},
		"a server of HTTP+SSE":      {reply{405, "text/plain", "no"}, stream, "pass  it answers MCP (status 405)"},
		"a server of event streams": {stream, reply{405, "", ""}, "pass  it answers MCP (status 200)"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				r := row.post
				if req.Method == http.MethodGet {
					r = row.get
				}
				w.Header().Set("Content-Type", r.kind)
				w.WriteHeader(r.status)
				_, _ = io.WriteString(w, r.body)
			}))
			defer server.Close()
			if _, out, _ := portolan(t, "doctor", "--server", server.URL+"/mcp", "--origin", ide); !strings.Contains(out, row.want) {
				t.Errorf("%s\nwant %s", out, row.want)
			}
			proxy := runProxy(t, "--origin", ide, "--host", "127.0.0.1", "--insecure-allow-private")
			want := strings.ReplaceAll(strings.ReplaceAll(row.want, "it answers", "the server answers"), "the URL", "the server's URL")
			if _, out, _ := portolan(t, "doctor", "--proxy", proxy, "--server", server.URL+"/mcp", "--origin", ide); !strings.Contains(out, want) {
				t.Errorf("%s\nwant %s", out, want)
			}
		})
	}
}

// TestTicketAndSeal uses a ticket and a seal of the commands, as a page without the keys
// of the proxy and the server.
func TestTicketAndSeal(t *testing.T) {
	server, header := plainServer(t)
	t.Setenv("TICKET_KEYS", "a-ticket-key-that-is-long-enough an-older-key-that-is-long-enough")
	t.Setenv("SEAL_KEYS", "a-seal-key-that-is-long-enough")
	t.Setenv("API_KEY", "Bearer of the server")
	host := strings.TrimSuffix(strings.TrimPrefix(server, "http://"), "/mcp")
	made := func(args ...string) string {
		t.Helper()
		code, out, errs := portolan(t, append([]string{"proxy"}, args...)...)
		if code != 0 || strings.Contains(out, "Bearer") {
			t.Fatalf("%v: exit code %d, %s%s", args, code, out, errs)
		}
		return strings.TrimSpace(out)
	}
	ticket := made("ticket", "--origin", ide, "--host", host)
	sealed := made("seal", "--origin", ide, "--host", host, "--header", "Authorization: $API_KEY")
	proxy := runProxy(t, "--origin", ide, "--insecure-allow-private")
	post := func(header ...string) *http.Response {
		t.Helper()
		req, err := http.NewRequest("POST", proxy, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		req.Header.Set("Origin", ide)
		req.Header.Set("X-Portolan-Target", server)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	if res := post(); res.Header.Get("X-Proxy-Error") != "caller_refused" {
		t.Errorf("without a ticket: %v", res.Header)
	}
	if res := post("X-Portolan-Ticket", ticket, "X-Portolan-Sealed", sealed); res.StatusCode != 200 ||
		header().Get("Authorization") != "Bearer of the server" {
		t.Errorf("status %d, %v, the server got %v", res.StatusCode, res.Header, header())
	}
	for _, args := range [][]string{
		{"ticket"}, {"ticket", "--origin", ide}, {"seal", "--origin", ide, "--host", host}, {"seal", "--origin", ide,
			"--host", host, "--header", "Cookie: x"},
		{"seal", "--origin", ide, "--host", host, "--header", "A: $NOT_SET_ANYWHERE"},
		{"ticket", "--origin", ide + "/", "--host", host}, {"ticket", "--origin", "https://*.example", "--host", host},
		{"ticket", "--origin", ide, "--host", server}, {"ticket", "--origin", ide, "--host", "mcp.example.com:443"},
		{"seal", "--origin", ide, "--host", "*.example.com", "--header", "A: x"},
		{"ticket", "--origin", ide, "--host", host, "--header", "X-Api-Key: s3cr3t"},
	} {
		if code, out, errs := portolan(t, append([]string{"proxy"}, args...)...); code != 2 || strings.Contains(out+errs, "s3cr3t") {
			t.Errorf("%v: exit code %d, %s%s", args, code, out, errs)
		}
	}
}

// TestSDKClientThroughTheProxy speaks streamable HTTP and HTTP+SSE with an official client.
func TestSDKClientThroughTheProxy(t *testing.T) {
	server, _ := plainServer(t)
	proxy := runProxy(t, "--origin", ide, "--host", "127.0.0.1", "--insecure-allow-private")
	client := &http.Client{Transport: through{proxy}}
	for name, transport := range map[string]mcp.Transport{
		"streamable": &mcp.StreamableClientTransport{Endpoint: server, HTTPClient: client},
		"sse":        &mcp.SSEClientTransport{Endpoint: strings.TrimSuffix(server, "/mcp") + "/sse", HTTPClient: client},
	} {
		t.Run(name, func(t *testing.T) {
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport,
				nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			result, err := session.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "add", Arguments: map[string]any{"a": 40, "b": 2}})
			if err != nil || result.Content[0].(*mcp.TextContent).Text != "42" {
				t.Errorf("%v, %v", result, err)
			}
		})
	}
}

// through sends requests to the proxy, as a page of ide.
type through struct{ proxy string }

func (p through) RoundTrip(req *http.Request) (*http.Response, error) {
	out := req.Clone(req.Context())
	out.Header.Set("X-Portolan-Target", req.URL.String())
	out.Header.Set("Origin", ide)
	if out.Header.Get("Accept") == "" {
		out.Header.Set("Accept", "*/*") // as browsers do
	}
	to, err := http.NewRequest(req.Method, p.proxy, nil)
	if err != nil {
		return nil, err
	}
	out.URL, out.Host = to.URL, to.Host
	return http.DefaultTransport.RoundTrip(out)
}

// TestProxyLog refuses requests, and reads the security log (O12).
func TestProxyLog(t *testing.T) {
	server, _ := plainServer(t)
	file := filepath.Join(t.TempDir(), "proxy.log")
	proxy := runProxy(t, "--origin", ide, "--host", "127.0.0.1", "--insecure-allow-private", "--log-file", file)
	for target, origin := range map[string]string{
		server: ide, "http://10.0.0.1/secret-path?secret-query": ide, "http://127.0.0.1/x": "http://evil.example\tcode=none",
	} {
		req, err := http.NewRequest("POST", proxy, strings.NewReader(initialize))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{
			"Origin": {origin}, "X-Portolan-Target": {target}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer secret-token"},
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	log := string(text)
	for _, want := range []string{
		`msg=refused code=host_refused origin=http://ide.example host=10.0.0.1 client=127.0.0.1` + "\n",
		`msg=refused code=origin_refused origin="http://evil.example\tcode=none" host="" client=127.0.0.1` + "\n",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log has no %s", want)
		}
	}
	if strings.Count(log, "\n") != 2 || strings.Contains(log, "secret") {
		t.Error(log)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if code, _, errs := portolan(t, "proxy", "--origin", ide, "--host", "h.example", "--log-file", t.TempDir()); code != 1 {
		t.Errorf("a folder as log: exit code %d, %s", code, errs)
	}
}

// pipes is a listener whose connections are in memory.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error { close(p); return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

func TestIdleConnectionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := make(pipes)
		stop := serve(t.Context(), l, http.NotFoundHandler(), make(chan error, 1))
		defer func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}()
		client, server := net.Pipe()
		defer client.Close()
		l <- server
		if _, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		_ = client.SetDeadline(time.Now().Add(time.Hour))
		if text, err := io.ReadAll(client); err != nil { // until the server closes
			t.Errorf("after %q the connection stays open: %v", text, err)
		}
	})
}

// A code that a proxy sends does not control the terminal.
func TestDoctorOfAHostileProxy(t *testing.T) {
	hostile := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", ide)
		w.Header().Set("X-Proxy-Error", "\u009b2Jcleared")
		switch req.Method {
		case http.MethodPost:
			w.WriteHeader(http.StatusForbidden)
		case http.MethodOptions:
			w.WriteHeader(http.StatusNoContent)
		}
		_, _ = io.WriteString(w, `{"open":true}`)
	}))
	defer hostile.Close()
	_, out, _ := portolan(t, "doctor", "--proxy", hostile.URL, "--origin", ide)
	if !strings.Contains(out, "cleared") || strings.Contains(out, "\u009b") {
		t.Errorf("%q", out)
	}
}

// A certificate whose names are terminal codes does not control the terminal.
func TestDoctorOfAHostileCertificate(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"\x1b[2Jcleared.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	_, out, errs := portolan(t, "doctor", "--server", "https://localhost:"+port+"/mcp", "--origin", ide)
	if !strings.Contains(out, "cleared.example") || strings.Contains(out+errs, "\x1b") {
		t.Errorf("%q %q", out, errs)
	}
}
