package proxy

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	page   = "https://ide.example"
	server = "https://mcp.example.com/mcp"
	key    = "a caller key that is long enough"
	signer = "a ticket key that is long enough"
	sealed = "a seal key that is long enough!!"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func policy(t testing.TB, cfg Config) *Policy {
	t.Helper()
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// message returns a POST of an MCP client. more has headers to replace or add, names and values in turn.
func message(target string, more ...string) *Request {
	return with(&Request{
		Method: "POST", URL: "https://proxy.example/", Client: "192.0.2.1", Now: noon,
		Header: []Pair{{"origin", page}, {"content-type", "application/json"},
			{"accept", "application/json, text/event-stream"}, {"x-portolan-target", target}},
	}, more...)
}

func with(r *Request, more ...string) *Request {
	for i := 0; i < len(more); i += 2 {
		r.Header = slices.DeleteFunc(r.Header, func(h Pair) bool { return h.Name == more[i] })
		if more[i+1] != "" {
			r.Header = append(r.Header, Pair{more[i], more[i+1]})
		}
	}
	return r
}

func method(m string, r *Request) *Request {
	r.Method = m
	return r
}

func at(url string, r *Request) *Request {
	r.URL = url
	return r
}

func TestDecide(t *testing.T) {
	hosts := Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}}
	keys := Config{Origins: []string{page}, Keys: []string{key}}
	ticket := Ticket{Origin: page, Host: "mcp.example.com", Headers: []string{"X-Api-Key"}, Expires: noon.Add(time.Hour)}
	tickets := Config{Origins: []string{page}, TicketKeys: []string{signer}}
	other := ticket
	other.Origin = "https://other.example"
	stream := func(target string) *Request {
		return method("GET", message(target, "accept", "text/event-stream", "content-type", ""))
	}
	for _, row := range []struct {
		name string
		cfg  Config
		r    *Request
		code string // "" means sent
	}{
		{"a message", hosts, message(server), ""},
		{"a message by query", hosts, at("https://proxy.example/?url=https%3A%2F%2Fmcp.example.com%2Fmcp", message("")), ""},
		{"two targets that differ", hosts, at("https://proxy.example/?url=https%3A%2F%2Fmcp.example.com%2Fx",
			message(server)), "target_invalid"},
		{"two targets in the query", hosts,
			at("https://proxy.example/?url=https%3A%2F%2Fa.example&url=https%3A%2F%2Fb.example", message("")), "target_invalid"},
		{"no target", hosts, message(""), "target_missing"},
		{"nothing is configured", Config{}, message(server), "not_configured"},
		{"only origins are configured", Config{Origins: []string{page}}, message(server), "not_configured"},
		{"only hosts are configured", Config{Hosts: []string{"mcp.example.com"}}, message(server), "not_configured"},
		{"no origin", hosts, message(server, "origin", ""), "origin_missing"},
		{"another origin", hosts, message(server, "origin", "https://evil.example"), "origin_refused"},
		{"an origin of the same beginning", hosts, message(server, "origin", page+".evil.example"), "origin_refused"},
		{"a sandboxed page", hosts, message(server, "origin", "null"), "origin_refused"},
		{"another host", hosts, message("https://evil.example/mcp"), "host_refused"},
		{"a private address", hosts, message("https://10.0.0.1/mcp"), "address_private"},
		{"http", hosts, message("http://mcp.example.com/mcp"), "scheme_refused"},
		{"the proxy itself", Config{Origins: []string{page}, Hosts: []string{"proxy.example"}},
			message("https://proxy.example/?url=x"), "self_loop"},
		{"PUT", hosts, method("PUT", message(server)), "method_refused"},
		{"a form", hosts, message(server, "content-type", "application/x-www-form-urlencoded"), "binding_missing"},
		{"text", hosts, message(server, "content-type", "text/plain"), "not_mcp"},
		{"a message for people", hosts, message(server, "accept", "text/html"), "not_mcp"},
		{"a message of one type", hosts, message(server, "accept", "application/json"), "not_mcp"},
		{"a message of HTTP+SSE", hosts, message(server, "accept", "*/*"), ""},
		{"a message of HTTP+SSE without Accept", hosts, message(server, "accept", ""), ""},
		{"JSON with a charset", hosts, message(server, "content-type", "application/json; charset=utf-8"), ""},
		{"a stream", hosts, stream(server), ""},
		{"a page", hosts, with(stream(server), "accept", "text/html,*/*"), "not_mcp"},
		{"metadata", hosts, with(stream("https://mcp.example.com/.well-known/oauth-protected-resource/mcp"), "accept", "*/*"),
			""},
		{"metadata of an issuer with a path", hosts,
			with(stream("https://mcp.example.com/a/.well-known/openid-configuration"), "accept", ""), ""},
		{"metadata with a query", hosts, with(stream("https://mcp.example.com/.well-known/openid-configuration?x=1"),
			"accept", "*/*"), "not_mcp"},
		{"another well-known file", hosts, with(stream("https://mcp.example.com/.well-known/security.txt"), "accept", "*/*"),
			"not_mcp"},
		{"a session's end", hosts, method("DELETE", message(server, "mcp-session-id", "s")), ""},
		{"a DELETE without a session", hosts, method("DELETE", message(server)), "not_mcp"},
		{"too long", hosts, message(server, "content-length", "99999999999"), "request_too_large"},
		{"a length that is none", hosts, message(server, "content-length", "-1"), "request_too_large"},
		{"no key", keys, message(server), "caller_refused"},
		{"a wrong key", keys, message(server, "x-portolan-key", key+"x"), "caller_refused"},
		{"the key", keys, message(server, "x-portolan-key", key), ""},
		{"the key, a private address", keys, message("https://[::1]/mcp", "x-portolan-key", key), "address_loopback"},
		{"no ticket", tickets, message(server), "caller_refused"},
		{"a ticket", tickets, message(server, "x-portolan-ticket", ticket.Sign(signer)), ""},
		{"a ticket for another host", tickets, message("https://b.example/mcp", "x-portolan-ticket", ticket.Sign(signer)),
			"ticket_invalid"},
		{"a ticket for another port", tickets, message("https://mcp.example.com:8443/mcp", "x-portolan-ticket",
			ticket.Sign(signer)), "ticket_invalid"},
		{"a ticket for another origin", tickets, message(server, "x-portolan-ticket", other.Sign(signer)), "ticket_invalid"},
		{"a ticket of another key", tickets, message(server, "x-portolan-ticket", ticket.Sign(key)), "ticket_invalid"},
		{"a ticket's header", tickets, message(server, "x-portolan-ticket", ticket.Sign(signer), "x-api-key", "k"), ""},
		{"headers of browsers, and DPoP", tickets, message(server, "x-portolan-ticket", ticket.Sign(signer), "dpop", "x",
			"if-none-match", `"1"`, "if-modified-since", "x", "save-data", "on", "x-requested-with", "x"), ""},
		{"a header beyond the ticket", tickets, message(server, "x-portolan-ticket", ticket.Sign(signer), "x-other", "k"),
			"header_refused"},
		{"an expired ticket", tickets, func() *Request {
			r := message(server, "x-portolan-ticket", ticket.Sign(signer))
			r.Now = noon.Add(time.Hour)
			return r
		}(), "ticket_invalid"},
		{"sealed nonsense", hosts, message(server, "x-portolan-sealed", "v1.AAAA"), "seal_invalid"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := policy(t, row.cfg).Decide(row.r)
			if d.Code != row.code || (d.Verdict == Send) != (row.code == "") {
				t.Fatalf("verdict %d, code %q, want %q", d.Verdict, d.Code, row.code)
			}
			if row.code == "" {
				return
			}
			if d.Status < 400 || d.Status > 499 || Get(d.Header, "x-proxy-error") != row.code ||
				!strings.Contains(string(d.Body), `"code":"`+row.code+`"`) {
				t.Errorf("refused with %d %v %s", d.Status, d.Header, d.Body)
			}
			if origin := Get(row.r.Header, "origin"); origin != "" && origin != "null" &&
				Get(d.Header, "access-control-allow-origin") != origin {
				t.Errorf("the page cannot read the refusal: %v", d.Header)
			}
		})
	}
}

func TestHeadersGoAsTheyAreOrNot(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, SealKeys: []string{sealed}})
	token, err := Seal(sealed, page, "mcp.example.com", []Pair{{"Authorization", "Bearer in the box"}}, zero{})
	if err != nil {
		t.Fatal(err)
	}
	r := message(server, "x-portolan-sealed", token, "authorization", "Bearer seen",
		"mcp-param-list", `a, "b, c",d`, "cookie", "a=b", "referer", page+"/x", "forwarded", "for=x", "x-forwarded-for", "x",
		"cf-connecting-ip", "x", "sec-fetch-site", "cross-site", "connection", "keep-alive, x-hop", "x-hop", "1", "te",
		"trailers",
		"x-portolan-key", "", "x-api-key", "k", "last-event-id", "7", "user-agent", "Browser/1")
	d := p.Decide(r)
	if d.Verdict != Send {
		t.Fatalf("refused: %s", d.Code)
	}
	want := []Pair{
		{"content-type", "application/json"}, {"accept", "application/json, text/event-stream"},
		{"mcp-param-list", `a, "b, c",d`}, {"x-api-key", "k"}, {"last-event-id", "7"}, {"user-agent", "Browser/1"},
		{"authorization", "Bearer in the box"},
	}
	if diff := cmp.Diff(want, d.Header); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if d := p.Decide(message("https://mcp.example.com:8443/mcp", "x-portolan-sealed", token)); d.Code != "seal_invalid" &&
		d.Code != "host_refused" {
		t.Errorf("sealed for one port, opened for another: %q", d.Code)
	}
	if d := p.Decide(at("https://proxy.example/",
		message(server, "x-portolan-sealed", token[:len(token)-2]+"AA"))); d.Code != "seal_invalid" {
		t.Errorf("a changed seal: %q", d.Code)
	}
}

type zero struct{}

func (zero) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestPreflight(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}})
	ask := func(origin, method, headers string) *Decision {
		return p.Decide(&Request{Method: "OPTIONS", URL: "https://proxy.example/?url=" + "https%3A%2F%2Fmcp.example.com",
			Now: noon, Header: []Pair{
				{"origin", origin}, {"access-control-request-method", method}, {"access-control-request-headers", headers}}})
	}
	d := ask(page, "POST", "authorization,content-type,mcp-param-region,x-api-key")
	want := []Pair{
		{"access-control-allow-origin", page}, {"access-control-allow-methods",
			"GET, POST, DELETE"}, {"access-control-max-age", "7200"},
		{"vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"},
		{"access-control-allow-headers", "authorization,content-type,mcp-param-region,x-api-key"},
	}
	if diff := cmp.Diff(want, d.Header); d.Status != 204 || diff != "" {
		t.Errorf("status %d (-want +got)\n%s", d.Status, diff)
	}
	for _, row := range []struct{ origin, method, headers, code string }{
		{"https://evil.example", "POST", "", "origin_refused"},
		{page, "PUT", "", "method_refused"},
		{page, "POST", "a b", "header_refused"},
		{page, "POST", "x\r\ny", "header_refused"},
		{page, "POST", strings.Repeat("x,", 4000) + "x", "header_refused"},
	} {
		if d := ask(row.origin, row.method, row.headers); d.Code != row.code {
			t.Errorf("%v: code %q", row, d.Code)
		}
	}
}

func TestRespond(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, MaxResponse: 1000})
	reply := p.Decide(message(server)).Respond(&Response{Status: 200, Header: []Pair{
		{"content-type", "application/json"}, {"mcp-session-id", "s"}, {"set-cookie", "a=b"}, {"connection",
			"close, x-hop"}, {"x-hop", "1"},
		{"access-control-allow-origin", "*"}, {"access-control-expose-headers", "X-Own"}, {"x-own", `a, "b`}, {"vary",
			"Accept"}, {"clear-site-data", `"*"`},
	}})
	want := []Pair{
		{"access-control-allow-origin", page}, {"vary", "Origin, X-Portolan-Target"}, {"content-type", "application/json"},
		{"mcp-session-id", "s"},
		{"x-own", `a, "b`}, {"vary", "Accept"}, {"access-control-expose-headers", exposed + ", X-Own"},
	}
	if diff := cmp.Diff(want, reply.Header); reply.Status != 200 || reply.MaxBody != 1000 || diff != "" {
		t.Errorf("%+v (-want +got)\n%s", reply, diff)
	}
	if r := p.Decide(message(server)).Respond(&Response{Status: 200,
		Header: []Pair{{"content-type", "text/event-stream; charset=utf-8"}}}); !r.Prime || !r.Stream || r.MaxBody != 0 {
		t.Errorf("an event stream: %+v", r)
	}
	if r := p.Decide(message(server)).Respond(&Response{Status: 200,
		Header: []Pair{{"content-length", "1001"}}}); r.Code != "response_too_large" || r.Status != 502 {
		t.Errorf("too large: %+v", r)
	}
	if r := p.Decide(message(server)).Respond(&Response{Status: 503,
		Header: []Pair{{"retry-after", "3"}, {"x-proxy-error", "forged"}}}); r.Status != 503 ||
		Get(r.Header, "retry-after") != "3" || has(r.Header, "x-proxy-error") {
		t.Errorf("the server's own error: %+v", r)
	}
}

// TestCachesKeepServersApart looks at what browsers keep of a GET: all servers share the proxy's origin.
func TestCachesKeepServersApart(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}})
	metadata := method("GET", message("https://mcp.example.com/.well-known/oauth-protected-resource"))
	reply := p.Decide(metadata).Respond(&Response{Status: 200, Header: []Pair{
		{"content-type", "application/json"}, {"cache-control", "max-age=31536000"}, {"no-vary-search", "params"},
		{"use-as-dictionary", `match="/*", id="somebody"`},
	}})
	if vary := Get(reply.Header, "vary"); !strings.Contains(vary, "X-Portolan-Target") {
		t.Errorf("vary: %s", vary)
	}
	if has(reply.Header, "no-vary-search") {
		t.Error("a server may say that ?url= does not matter")
	}
	if has(reply.Header, "use-as-dictionary") {
		t.Error("a browser would send a server's dictionary, and its id, to other servers")
	}
}

// TestBindingsAreNotCached has metadata that browsers may keep for a year. Its binding lasts a day, or until the proxy is
// started again.
func TestBindingsAreNotCached(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, BindingKeys: []string{signer}})
	d := p.Decide(method("GET", message("https://mcp.example.com/.well-known/oauth-authorization-server")))
	reply := d.Respond(&Response{Status: 200, Header: []Pair{{"cache-control", "max-age=31536000"}}})
	d.Bind(reply, []byte(`{"token_endpoint":"https://mcp.example.com/token"}`))
	var caches []string
	for _, h := range reply.Header {
		if h.Name == "cache-control" {
			caches = append(caches, h.Value)
		}
	}
	if diff := cmp.Diff([]string{"no-store"}, caches); diff != "" || !has(reply.Header, "x-portolan-binding") {
		t.Error(diff)
	}
}

// TestServersSendNoFilesOfTheOperator has headers at which nginx and Apache, in front of the proxy, would send a file of
// their own in place of the answer.
func TestServersSendNoFilesOfTheOperator(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}})
	reply := p.Decide(message(server)).Respond(&Response{Status: 200, Header: []Pair{
		{"x-accel-redirect", "/private/"}, {"x-sendfile", "/etc/passwd"}, {"x-lighttpd-send-file", "/etc/passwd"},
		{"x-accel-buffering", "no"},
	}})
	for _, name := range []string{"x-accel-redirect", "x-sendfile", "x-lighttpd-send-file"} {
		if has(reply.Header, name) {
			t.Error(name)
		}
	}
	if !has(reply.Header, "x-accel-buffering") { // nginx would keep events back
		t.Error("a stream cannot be let through")
	}
}

// TestExposedNamesAreBounded has a server expose all of its fields many times.
func TestExposedNamesAreBounded(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}})
	var header []Pair
	for i := range 1000 {
		header = append(header, Pair{"x-" + strconv.Itoa(i), ""}, Pair{"access-control-expose-headers", "*,*,*,*,*"})
	}
	reply := p.Decide(message(server)).Respond(&Response{Status: 200, Header: header})
	expose := Get(reply.Header, "access-control-expose-headers")
	if !strings.Contains(expose, ", x-999") || len(expose) > 64<<10 {
		t.Errorf("%d bytes", len(expose))
	}
}

// TestManyHopByHopFields has a header whose fields would each be looked for among as many names. That would take hours.
func TestManyHopByHopFields(t *testing.T) {
	const many = 300_000
	header := make([]Pair, 0, many+1)
	var names strings.Builder
	for i := range many {
		header = append(header, Pair{"x-" + strconv.Itoa(i), ""})
		names.WriteString("y-" + strconv.Itoa(i) + ", ")
	}
	header = append(header, Pair{"connection", names.String() + "x-7"})
	if got := len(upstreamHeader(header)); got != many-1 {
		t.Errorf("the server gets %d fields, want %d", got, many-1)
	}
	if got := len(pageHeader(header, page)); got != many-1+3 {
		t.Errorf("the page gets %d fields, want %d", got, many-1+3)
	}
}

func TestRedirects(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com", "b.example"}})
	metadata := "https://mcp.example.com/.well-known/oauth-authorization-server"
	read := func() *Decision {
		return p.Decide(method("GET", message(metadata, "authorization", "Bearer x", "accept", "*/*", "content-type", "")))
	}
	to := func(d *Decision, location string) *Reply {
		return d.Respond(&Response{Status: 302, Header: []Pair{{"location", location}}})
	}
	same := to(read(), "/.well-known/oauth-authorization-server/a").Follow
	if same == nil || same.URL != "https://mcp.example.com/.well-known/oauth-authorization-server/a" ||
		Get(same.Header, "authorization") == "" {
		t.Errorf("on the same origin: %+v", same)
	}
	elsewhere := to(read(), "https://b.example/.well-known/openid-configuration").Follow
	if elsewhere == nil || Get(elsewhere.Header, "authorization") != "" || Get(elsewhere.Header, "accept") == "" ||
		Get(elsewhere.Header, "accept-encoding") != "identity" {
		t.Errorf("on another origin: %+v", elsewhere)
	}
	for _, location := range []string{
		"https://evil.example/.well-known/openid-configuration", "https://127.0.0.1/.well-known/openid-configuration",
		"http://mcp.example.com/.well-known/openid-configuration", "//169.254.169.254/.well-known/openid-configuration",
		`\\evil.example/.well-known/openid-configuration`, "https://mcp.example.com@evil.example/", "/somewhere/else",
		"javascript:alert(1)", "https://2130706433/",
	} {
		if r := to(read(), location); r.Follow != nil || r.Code != "redirect_refused" || r.Status != 502 {
			t.Errorf("to %s: %+v", location, r)
		}
	}
	if r := to(p.Decide(message(server)), "/mcp2"); r.Follow != nil || r.Code != "redirect_refused" {
		t.Errorf("a POST: %+v", r)
	}
	d := read()
	for range maxHops {
		if d = to(d, metadata).Follow; d == nil {
			t.Fatal("three redirects are followed")
		}
	}
	if r := to(d, metadata); r.Code != "redirect_refused" {
		t.Errorf("the fourth redirect: %+v", r)
	}
}

// Without a key the proxy signs no bindings. What sign-in sends is refused then, with a hint for the operator.
func TestRefusalsWithoutAKeyForBindings(t *testing.T) {
	form := message(server, "content-type", "application/x-www-form-urlencoded", "accept", "application/json")
	registration := message(server, "accept", "application/json")
	for _, keys := range [][]string{nil, {signer}} {
		p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, TicketKeys: keys})
		for _, r := range []*Request{form, registration} {
			if body := string(p.Decide(r).Body); strings.Contains(body, "set TICKET_KEYS") != (keys == nil) {
				t.Errorf("with %d keys: %s", len(keys), body)
			}
		}
	}
}

func TestBindings(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, TicketKeys: []string{signer}})
	get1 := func(target string, more ...string) *Decision {
		return p.Decide(with(method("GET", message(target, "accept", "*/*", "content-type", "")), more...))
	}
	bind := func(d *Decision, document string) string {
		t.Helper()
		if d.Verdict != Send {
			t.Fatalf("refused: %s", d.Code)
		}
		reply := d.Respond(&Response{Status: 200, Header: []Pair{{"content-type", "application/json"}}})
		if reply.Bind == 0 {
			t.Fatal("the document is not read")
		}
		d.Bind(reply, []byte(document))
		return Get(reply.Header, "x-portolan-binding")
	}
	const issuer = "https://auth.example/.well-known/oauth-authorization-server"
	if d := get1(issuer); d.Code != "host_refused" {
		t.Fatalf("an authorization server that nothing names: %q", d.Code)
	}
	resource := bind(get1("https://mcp.example.com/.well-known/oauth-protected-resource"),
		`{"authorization_servers":["https://auth.example","https://10.0.0.1"]}`)
	tokens := bind(get1(issuer, "x-portolan-binding", resource),
		`{"token_endpoint":"https://auth.example/token","registration_endpoint":"https://auth.example/register"}`)
	form := func(target, binding string) *Decision {
		return p.Decide(message(target, "content-type", "application/x-www-form-urlencoded", "accept", "application/json",
			"x-portolan-binding", binding))
	}
	if d := form("https://auth.example/token", tokens); d.Verdict != Send {
		t.Errorf("the token endpoint: %q", d.Code)
	}
	if d := p.Decide(message("https://auth.example/register", "accept", "application/json", "x-portolan-binding",
		tokens)); d.Verdict != Send {
		t.Errorf("registration: %q", d.Code)
	}
	for _, row := range []struct{ target, binding, code string }{
		{"https://auth.example/other", tokens, "binding_invalid"},
		{"https://auth.example/token", resource, "binding_invalid"},
		{"https://auth.example/token", tokens[:len(tokens)-3], "binding_invalid"},
		{"https://10.0.0.1/token", tokens, "address_private"},
	} {
		if d := form(row.target, row.binding); d.Code != row.code {
			t.Errorf("%s: %q, want %q", row.target, d.Code, row.code)
		}
	}
	if d := p.Decide(message("https://auth.example/mcp", "x-portolan-binding", resource)); d.Code != "binding_invalid" {
		t.Errorf("a message to an authorization server: %q", d.Code)
	}
}

// A ticket is for one host. Metadata of another, which a binding names, leads no further.
func TestTicketsDoNotFollowMetadataElsewhere(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Keys: []string{key}, TicketKeys: []string{signer}})
	read := func(target string, more ...string) *Decision {
		return p.Decide(with(method("GET", message(target, "content-type", "")), more...))
	}
	ticket := Ticket{Origin: page, Host: "mcp.example.com", Expires: noon.Add(time.Hour)}.Sign(signer)
	d := read("https://mcp.example.com/.well-known/oauth-protected-resource", "x-portolan-ticket", ticket)
	reply := d.Respond(&Response{Status: 200})
	d.Bind(reply, []byte(`{"authorization_servers":["https://auth.example"]}`))
	binding := Get(reply.Header, "x-portolan-binding")
	for caller, row := range map[string]struct {
		value   string
		follows bool
	}{"x-portolan-ticket": {ticket, false}, "x-portolan-key": {key, true}} {
		d := read("https://auth.example/.well-known/openid-configuration", "x-portolan-binding", binding, caller, row.value)
		if d.Verdict != Send {
			t.Fatalf("%s: %q", caller, d.Code)
		}
		for location, follows := range map[string]bool{"/.well-known/openid-configuration/a": true, "https://b.example/mcp": row.follows} {
			r := d.Respond(&Response{Status: 302, Header: []Pair{{"location", location}}})
			if (r.Follow != nil) != follows {
				t.Errorf("%s: to %s: %q", caller, location, r.Code)
			}
		}
	}
}

// The metadata URL of a 401 can be read, on the same host only. A server whose 401 has no
// URL can be its own authorization server (2025-03-26).
func TestChallengesBind(t *testing.T) {
	p := policy(t, Config{Origins: []string{page}, Hosts: []string{"mcp.example.com"}, BindingKeys: []string{signer}})
	const server = "https://mcp.example.com/mcp"
	bound := func(status int, challenge string) string {
		t.Helper()
		d := p.Decide(message(server))
		if d.Verdict != Send {
			t.Fatalf("refused: %s", d.Code)
		}
		header := []Pair{{"www-authenticate", `Basic realm="all"`}, {"www-authenticate", challenge}}
		return Get(d.Respond(&Response{Status: status, Header: header}).Header, "x-portolan-binding")
	}
	if binding := bound(403, ""); binding != "" {
		t.Error("a 403 binds")
	}
	own := bound(401, `Bearer error="invalid_token", resource_metadata="https://mcp.example.com/custom/place.json"`)
	foreign := bound(401, `Bearer resource_metadata="https://evil.example/place.json"`)
	read := func(target, binding string) *Decision {
		return p.Decide(with(method("GET", message(target, "accept", "application/json", "content-type", "")),
			"x-portolan-binding", binding))
	}
	form := func(target, binding string) *Decision {
		return p.Decide(message(target, "content-type", "application/x-www-form-urlencoded", "accept", "application/json",
			"x-portolan-binding", binding))
	}
	for what, d := range map[string]*Decision{
		"its metadata":       read("https://mcp.example.com/custom/place.json", own),
		"its token endpoint": form("https://mcp.example.com/token", own),
		"with any challenge": form("https://mcp.example.com/token", foreign),
	} {
		if d.Verdict != Send {
			t.Errorf("%s: %q", what, d.Code)
		}
	}
	for what, d := range map[string]*Decision{
		"without a binding":    read("https://mcp.example.com/custom/place.json", ""),
		"another place":        read("https://mcp.example.com/custom/other.json", own),
		"another host":         read("https://evil.example/place.json", foreign),
		"a form to metadata":   form("https://mcp.example.com/custom/place.json", own),
		"a form to the server": form(server, own),
		"reading the endpoint": read("https://mcp.example.com/token", own),
	} {
		if d.Verdict == Send {
			t.Errorf("%s: passes", what)
		}
	}
}
