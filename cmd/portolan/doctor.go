package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	corsproxy "github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

// A report prints a line for each check, and counts them.
type report struct {
	client         *http.Client
	origin         string
	headers        []string // of requests to the server: names and values
	out            io.Writer
	checks, failed int
}

func (r *report) note(ok bool, what, fix string) bool {
	r.checks++
	if ok {
		fmt.Fprintf(r.out, "pass  %s\n", what)
	} else {
		r.failed++
		fmt.Fprintf(r.out, "FAIL  %s\n      %s\n", what, fix)
	}
	return ok
}

// doctor checks a deployed proxy, an MCP server, or a server through a proxy. It sends the
// requests of a page of --origin, and prints a line for each finding.
func doctor(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("doctor")
	proxyURL, server := flags.String("proxy", "", ""), flags.String("server", "", "")
	origin, key, ticket := flags.String("origin", "", ""), flags.String("key", "", ""), flags.String("ticket", "", "")
	headers := headersFlag(flags)
	if err := parseAll(flags, args); err != nil {
		return err
	}
	if *proxyURL == "" && *server == "" {
		return fmt.Errorf("%w: want --proxy or --server, or both", errUsage)
	}
	if *proxyURL == "" && *key+*ticket != "" {
		return fmt.Errorf("%w: --key and --ticket are for a proxy, whose address --proxy says", errUsage)
	}
	if *server == "" && len(headers) > 0 {
		return fmt.Errorf("%w: --header is for a server, whose address --server says", errUsage)
	}
	for name, u := range map[string]string{"--proxy": *proxyURL, "--server": *server} {
		if parsed, err := url.Parse(u); err != nil || u != "" && parsed.Host == "" { // the URL may hold a key
			return fmt.Errorf("%w: %s: not an absolute URL", errUsage, name)
		}
	}
	*origin = cmp.Or(*origin, "http://localhost:3000")
	if err := corsproxy.CheckOrigin(*origin); err != nil { // no browser sends it
		return fmt.Errorf("%w: --origin: %v", errUsage, err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.OnProxyConnectResponse = proxyRefused
	r := &report{origin: *origin, out: stdout, client: &http.Client{
		Transport:     transport,
		Timeout:       15 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	defer transport.CloseIdleConnections()
	for name, value := range headers {
		r.headers = append(r.headers, name, value)
	}
	if *proxyURL != "" {
		r.checkProxy(ctx, *proxyURL, *server, *key, *ticket)
	} else {
		r.checkServer(ctx, *server)
	}
	if r.failed > 0 {
		return fmt.Errorf("%d of %d checks failed", r.failed, r.checks)
	}
	return nil
}

// proxyRefused names a proxy of the environment that refuses to connect. Its bare status would look like the server's.
func proxyRefused(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return fmt.Errorf("the proxy %s, which HTTPS_PROXY names, refuses to connect: %s", proxy.Host, res.Status)
}

// acceptBoth is the Accept header of a POST (2025-11-25, transports).
const acceptBoth = "application/json, text/event-stream"

// initialize is the first request of an MCP client (2025-11-25, lifecycle).
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"portolan-doctor","version":"1"}}}`

// discover is the first request of a client of 2026-07-28.
const discover = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"portolan-doctor","version":"1"}}}}`

// speaksModern reports whether the server speaks 2026-07-28.
func (r *report) speaksModern(ctx context.Context, server string) bool {
	a, _ := r.do(ctx, "POST", server, discover, append([]string{"Origin", r.origin, "Content-Type", "application/json",
		"Accept", acceptBoth, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover"}, r.headers...)...)
	var said struct {
		Result struct{ SupportedVersions []string }
	}
	_ = json.Unmarshal([]byte(a.body), &said)
	return slices.Contains(said.Result.SupportedVersions, "2026-07-28")
}

// An answer is a response, with its body unless that is a stream.
type answer struct {
	status   int
	header   http.Header
	body     string
	redirect string // where it leads, without the query, which may hold a key
}

func (a answer) code() string { return printable(a.header.Get("X-Proxy-Error")) }

func (r *report) do(ctx context.Context, method, to, body string, header ...string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	res, err := r.client.Do(req)
	if err != nil {
		if bare, ok := errors.AsType[*url.Error](err); ok {
			err = bare.Err // without the URL, which may hold a key
		}
		return answer{}, err
	}
	defer res.Body.Close()
	a := answer{status: res.StatusCode, header: res.Header}
	if to, err := res.Location(); err == nil && a.status >= 300 && a.status < 400 {
		to.User, to.RawQuery, to.Fragment = nil, "", ""
		a.redirect = printable(to.String())
	}
	limited := io.LimitReader(res.Body, 1<<20)
	switch {
	case !a.isStream():
		text, _ := io.ReadAll(limited)
		a.body = string(bytes.TrimSpace(text))
	case method == "POST": // of others it may stay open
		a.body = firstAnswer(limited)
	}
	return a, nil
}

// endSession ends the session that an answer to initialize has begun. Some servers have one at a time.
func (r *report) endSession(ctx context.Context, at string, a answer, header ...string) {
	if id := a.header.Get("Mcp-Session-Id"); id != "" {
		_, _ = r.do(ctx, "DELETE", at, "", append(header, "Mcp-Session-Id", id, "MCP-Protocol-Version", "2025-11-25")...)
	}
}

// firstAnswer returns the first JSON-RPC response of a stream, or "".
func firstAnswer(stream io.Reader) string {
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		var message struct{ Result, Error json.RawMessage }
		if ok && json.Unmarshal([]byte(data), &message) == nil && (message.Result != nil || message.Error != nil) {
			return data
		}
	}
	return ""
}

func (a answer) isStream() bool {
	return a.status == 200 && strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream")
}

// noteMCP notes whether the answer to initialize is that of an MCP server, whatever its version. A server of HTTP+SSE
// answers GET with a stream.
func (r *report) noteMCP(who, path string, a, get answer) {
	var message struct{ JSONRPC string }
	_ = json.Unmarshal([]byte(a.body), &message)
	fix := "Check the path of " + path + ": "
	switch {
	case a.status == 200:
		fix += "the answer is " + cmp.Or(printable(a.header.Get("Content-Type")), "empty")
	case a.redirect != "":
		fix = "It redirects to " + a.redirect + ". If you trust that, make it the server's URL."
	case a.status == http.StatusProxyAuthRequired: // no server answers that
		fix = "Check the proxy that HTTP_PROXY names; NO_PROXY leaves hosts out."
	case a.status == 429 || a.status >= 500:
		fix = "Try again later: " + http.StatusText(a.status)
	default:
		fix += http.StatusText(a.status)
	}
	r.note(message.JSONRPC == "2.0" || a.status == 401 || a.isStream() || get.isStream(),
		fmt.Sprintf("%s answers MCP (status %d)", who, a.status), fix)
}

// checkProxy checks that a proxy works for the origin, and for no other one.
func (r *report) checkProxy(ctx context.Context, at, server, key, ticket string) {
	at, _, _ = strings.Cut(at, "?") // of the registry's option, which ends with ?url={href}
	at = strings.TrimSuffix(at, "/") + "/"
	a, err := r.do(ctx, "GET", at+"healthz", "")
	if !r.note(err == nil && a.status == 200, "the proxy answers",
		advice("Check the address, and that it is deployed", a, err)) {
		return
	}
	a, _ = r.do(ctx, "GET", at, "", "Origin", r.origin)
	var policy struct {
		Open bool `json:"open"`
	}
	_ = json.Unmarshal([]byte(a.body), &policy)
	if !r.note(policy.Open, "it is configured",
		"Set ALLOWED_ORIGINS and one of ALLOWED_HOSTS, CALLER_KEYS and TICKET_KEYS.") {
		return
	}
	asked := "content-type,mcp-protocol-version,mcp-session-id,x-portolan-target,x-portolan-key,x-portolan-ticket"
	a, _ = r.do(ctx, "OPTIONS", at, "", "Origin", r.origin, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", asked)
	if !r.note(a.status == 204 && a.header.Get("Access-Control-Allow-Origin") == r.origin,
		"pages of "+r.origin+" may use it",
		"Add the origin to ALLOWED_ORIGINS, or name another with --origin.") {
		return
	}
	name := strings.Trim(strings.NewReplacer("://", "-", ":", "-", "*", "-").Replace(r.origin), "-")
	evil := "https://not-" + name + ".example"
	a, _ = r.do(ctx, "OPTIONS", at, "", "Origin", evil, "Access-Control-Request-Method", "POST")
	r.note(a.status == 403, "pages of other origins may not", "ALLOWED_ORIGINS allows too much: list exact origins.")

	send := func(method, body, target, accept string) answer {
		header := []string{"Origin", r.origin, "X-Portolan-Target", target, "X-Portolan-Key", key, "X-Portolan-Ticket",
			ticket}
		if target == server {
			header = append(header, r.headers...)
		}
		a, _ := r.do(ctx, method, at, body, append(header, "Content-Type", "application/json", "Accept", accept)...)
		r.endSession(ctx, at, a, header...)
		return a
	}
	a = send("POST", initialize, "https://169.254.169.254/latest/meta-data", acceptBoth)
	r.note(a.status >= 400 && a.status < 500 && a.code() != "", "it refuses internal addresses ("+a.code()+")",
		"Unset ALLOW_PRIVATE: it is for local development.")
	r.note(a.header.Get("Access-Control-Allow-Origin") == r.origin, "its refusals can be read by the page",
		"Something in front of the proxy removes CORS headers.")
	if key != "" { // no server has this name
		a = send("POST", initialize, "https://mcp.invalid/mcp", acceptBoth)
		r.note(a.code() != "caller_refused", "it accepts the key", "The key is none of CALLER_KEYS.")
	}
	if server == "" {
		return
	}
	a = send("POST", initialize, server, "text/html")
	r.note(a.status >= 400 && a.status < 500 && a.code() != "", "it is no general relay ("+a.code()+")",
		"Is this Portolan's proxy?")
	a = send("POST", initialize, server, acceptBoth)
	r.note(a.code() == "", "it goes to the server", "The proxy says: "+a.code()+". "+hintOf(a.body))
	if a.code() == "" {
		r.noteMCP("the server", "the server's URL", a, send("GET", "", server, "text/event-stream"))
	}
}

// checkServer checks whether a page can use a server directly.
func (r *report) checkServer(ctx context.Context, server string) {
	header := append([]string{"Origin", r.origin}, r.headers...)
	a, err := r.do(ctx, "POST", server, initialize,
		append(header, "Content-Type", "application/json", "Accept", acceptBoth)...)
	r.endSession(ctx, server, a, header...)
	if !r.note(err == nil, "the server answers", advice("Check the address and that the server runs", a, err)) {
		return
	}
	get, err := r.do(ctx, "GET", server, "", append(header, "Accept", "text/event-stream")...)
	r.noteMCP("it", "the URL", a, get)
	const viaProxy = "Add CORS headers to the server, or use a proxy: proxy: true."
	fix := viaProxy
	if n := len(a.header.Values("Access-Control-Allow-Origin")); n > 1 {
		fix = fmt.Sprintf("It sends Access-Control-Allow-Origin %d times, which browsers refuse: let it send one.", n)
	}
	r.note(allows(a, r.origin), "its answers can be read by pages of "+r.origin, fix)
	exposed := a.listed("Access-Control-Expose-Headers")
	if a.header.Get("Mcp-Session-Id") != "" {
		r.note(exposed("mcp-session-id"), "the session id can be read",
			"Let the server send Access-Control-Expose-Headers: Mcp-Session-Id.")
	}
	if a.status == 401 {
		r.note(exposed("www-authenticate"), "what sign-in it asks for can be read",
			"Let the server send Access-Control-Expose-Headers: WWW-Authenticate.")
		fmt.Fprintln(r.out, "note  Its version shows behind the sign-in only: give a token by --header 'Authorization: Bearer TOKEN'.")
	}
	asked := []string{"content-type", "mcp-protocol-version", "mcp-session-id", "authorization"}
	for i := 0; i < len(r.headers); i += 2 {
		if name := strings.ToLower(r.headers[i]); !slices.Contains(asked, name) {
			asked = append(asked, name)
		}
	}
	modern := r.speaksModern(ctx, server)
	if modern {
		asked = append(asked, "mcp-method", "mcp-name")
	}
	if modern && a.status >= 400 { // it has no sessions
		asked = slices.DeleteFunc(asked, func(name string) bool { return name == "mcp-session-id" })
	}
	pre, _ := r.do(ctx, "OPTIONS", server, "", "Origin", r.origin, "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", strings.Join(asked, ","))
	r.note(pre.status >= 200 && pre.status < 300 && allows(pre, r.origin), "it allows the preflight of a POST", viaProxy)
	allowed := pre.listed("Access-Control-Allow-Headers")
	for _, name := range asked {
		r.note(allowed(name), "it allows the header "+name, "Let the server name it in Access-Control-Allow-Headers.")
	}
	ok := err != nil || get.status == 405 || get.isStream() || get.status == 400 || get.status == 401
	r.note(ok, "it answers a GET with a stream, or with 405",
		fmt.Sprintf("It answers %d: clients may take that for another transport.", get.status))
}

// allows reports whether a browser lets a page of origin read the answer. It joins several fields, which then fit no
// origin.
func allows(a answer, origin string) bool {
	allowed := strings.Join(a.header.Values("Access-Control-Allow-Origin"), ", ")
	return allowed == "*" || allowed == origin
}

// listed returns a function that tells whether the field lists a header, in lower case. "*" stands for all but
// Authorization.
func (a answer) listed(field string) func(name string) bool {
	text := strings.ToLower(strings.Join(a.header.Values(field), ","))
	names := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	return func(name string) bool {
		return slices.Contains(names, name) || name != "authorization" && slices.Contains(names, "*")
	}
}

func advice(advice string, a answer, err error) string {
	if err != nil {
		return advice + ": " + printable(err.Error()) // a certificate has texts of the server
	}
	return fmt.Sprintf("%s: it answers %d", advice, a.status)
}

// hintOf reads the hint of a refusal.
func hintOf(body string) string {
	var refusal struct {
		Error struct {
			Hint string `json:"hint"`
		} `json:"error"`
	}
	_ = json.Unmarshal([]byte(body), &refusal)
	return printable(refusal.Error.Hint)
}
