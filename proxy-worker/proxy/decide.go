package proxy

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Decide decides a request.
func (p *Policy) Decide(r *Request) *Decision {
	path, query := pathOf(r.URL)
	origin, refused := p.pageOf(r)
	raw := Get(r.Header, "x-portolan-target")
	fromQuery, id, problem := targetIn(query)
	switch {
	case problem || raw != "" && fromQuery != "" && raw != fromQuery:
		return targetInvalid.decision(origin)
	case raw == "":
		raw = fromQuery
	}
	if r.Method == "GET" && raw == "" {
		switch path {
		case "/":
			return p.page(origin)
		case "/healthz":
			return answer(origin, `{"ok":true}`)
		case "/metrics":
			if len(p.metricsKeys) > 0 {
				return p.metrics(r, origin)
			}
		}
	}
	switch {
	case !p.configured():
		return notConfigured.decision(origin)
	case refused != nil:
		return refused.decision(origin)
	case r.Method == "OPTIONS" && has(r.Header, "access-control-request-method"):
		return preflight(r, origin)
	case r.Method != "POST" && r.Method != "GET" && r.Method != "DELETE":
		d := methodRefused.decision(origin)
		d.Header = append(d.Header, Pair{"allow", "GET, POST, DELETE, OPTIONS"})
		return d
	case raw == "":
		return targetMissing.decision(origin)
	}
	t, refused := p.parsed.target(raw)
	if refused == nil {
		refused = p.checkTarget(t, r.URL)
	}
	var d *Decision
	if refused != nil {
		d = refused.decision(origin)
	} else {
		d = p.admitted(r, origin, t, path == "/diagnose" && r.Method == "POST", id)
	}
	d.target = t
	return d
}

// pageOf returns the origin of the page, and a refusal if it is not permitted.
func (p *Policy) pageOf(r *Request) (origin string, refused *refusal) {
	value := Get(r.Header, "origin")
	if value == "" {
		return "", &originMissing
	}
	for _, pattern := range p.origins {
		if pattern.exact == value {
			return value, nil // an exact pattern is an origin, so this is one
		}
	}
	origin, ok := originOf(value)
	if !ok {
		return "", &originRefused
	}
	for _, pattern := range p.origins {
		if pattern.matches(origin) {
			return origin, nil
		}
	}
	return origin, &originRefused
}

// admitted decides a request of a permitted page to, or about, the server of t.
func (p *Policy) admitted(r *Request, origin string, t target, about bool, id string) *Decision {
	bound := false
	if token := Get(r.Header, "x-portolan-binding"); token != "" {
		if bound = p.binds(token, r.Method, origin, t, r.Now); !bound {
			return bindingInvalid.decision(origin)
		}
	}
	caller, covers, refused := p.callerOf(r, origin, t, bound)
	if refused != nil {
		return refused.decision(origin)
	}
	rateKey := origin + "|" + caller + "|" + t.host
	d := &Decision{
		Verdict: Send, Method: r.Method, URL: t.url,
		RateKey: rateKey, Caller: rateKey[:len(rateKey)-len(t.host)-1],
		MaxRequest: p.cfg.MaxRequest, MaxResponse: p.cfg.MaxResponse, FirstByte: p.cfg.FirstByte,
		policy: p, origin: origin, target: t, self: r.URL, anyHost: len(p.hosts) == 0 && strings.HasPrefix(caller, "key:"), now: r.Now,
	}
	if about {
		d.FirstByte = min(d.FirstByte, diagnosisTime)
		return p.diagnose(d, id)
	}
	k := admit(r.Method, r.Header, t, bound)
	if k == kindNone {
		refused, contentType := notMCP, mediaType(Get(r.Header, "content-type"))
		isForm := contentType == "application/x-www-form-urlencoded"
		if r.Method == "POST" && isForm {
			refused = unbound
		}
		if r.Method == "POST" && len(p.bindings) == 0 && (isForm || contentType == "application/json") {
			refused.hint += " Sign-in takes a key in the proxy: set TICKET_KEYS."
		}
		return refused.decision(origin)
	}
	header := upstreamHeader(r.Header)
	if covers != nil {
		for _, h := range header {
			if !ofMCP(h.Name) && !covers[h.Name] {
				return headerRefused.decision(origin)
			}
		}
	}
	if sealed := Get(r.Header, "x-portolan-sealed"); sealed != "" {
		more, ok := p.unseal(sealed, origin, t)
		if !ok {
			return sealInvalid.decision(origin)
		}
		header = replaced(header, more)
	}
	if length := Get(r.Header, "content-length"); length != "" {
		if n, err := strconv.ParseInt(length, 10, 64); err != nil || n < 0 || n > p.cfg.MaxRequest {
			return requestTooLarge.decision(origin)
		}
	}
	if k == kindDiscovery {
		header = replaced(header, []Pair{{"accept-encoding", "identity"}}) // Bind reads the document
	}
	d.Header, d.kind = header, k
	return d
}

// callerOf returns the key under which the request is counted. For a ticket, covers has
// the header names that the ticket adds to MCP's. Otherwise covers is nil.
func (p *Policy) callerOf(
	r *Request, origin string, t target, bound bool,
) (caller string, covers map[string]bool, refused *refusal) {
	if token := Get(r.Header, "x-portolan-ticket"); token != "" {
		names, ok := p.ticket(token, origin, t, r.Now)
		if !ok && !bound {
			return "", nil, &ticketInvalid
		}
		if ok {
			return "ticket:" + token[len(token)-8:], setOf(names...), nil
		}
	}
	caller = r.Client
	key := Get(r.Header, "x-portolan-key")
	switch {
	case key != "":
		if !isAmong(p.keys, key) {
			return "", nil, &callerRefused
		}
		d := digest(key)
		caller = "key:" + encoding.EncodeToString(d[:6])
	case bound:
	case len(p.keys) > 0 || len(p.hosts) == 0:
		return "", nil, &callerRefused
	}
	if len(p.hosts) > 0 && !bound && !p.hostAllowed(t) {
		return "", nil, &hostRefused
	}
	return caller, nil, nil
}

// ofMCP reports whether a ticket covers a header without naming it: those of MCP and sign-in, and those of browsers.
func ofMCP(name string) bool {
	return strings.HasPrefix(name, "mcp-") || mcpHeaders[name]
}

var mcpHeaders = setOf("accept", "accept-encoding", "accept-language", "content-type", "content-length", "user-agent",
	"last-event-id", "cache-control", "pragma", "priority", "dnt", "authorization", "dpop",
	"if-none-match", "if-modified-since", "save-data", "x-requested-with") // which browsers add

// replaced returns header with the fields of more instead of those of the same names.
func replaced(header, more []Pair) []Pair {
	kept := slices.DeleteFunc(slices.Clone(header), func(h Pair) bool { return has(more, h.Name) })
	return append(kept, more...)
}

// diagnosisTime bounds each probe of a diagnosis.
const diagnosisTime = 5 * time.Second

// maxAsked bounds the headers that a preflight may ask for, in bytes.
const maxAsked = 4 << 10

// preflight allows the headers that it asks for. The request itself is decided later.
func preflight(r *Request, origin string) *Decision {
	method := Get(r.Header, "access-control-request-method")
	if method != "GET" && method != "POST" && method != "DELETE" {
		return methodRefused.decision(origin)
	}
	d := &Decision{Verdict: Answer, Status: 204, Header: []Pair{
		{"access-control-allow-origin", origin},
		{"access-control-allow-methods", "GET, POST, DELETE"},
		{"access-control-max-age", "7200"},
		{"vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers"},
	}}
	if asked := Get(r.Header, "access-control-request-headers"); asked != "" {
		for name := range strings.SplitSeq(asked, ",") {
			if len(asked) > maxAsked || !isToken(strings.TrimSpace(name)) {
				return headerRefused.decision(origin)
			}
		}
		d.Header = append(d.Header, Pair{"access-control-allow-headers", asked})
	}
	if Get(r.Header, "access-control-request-private-network") == "true" {
		d.Header = append(d.Header, Pair{"access-control-allow-private-network", "true"})
	}
	return d
}

// pathOf returns path and query of the request's own URL.
func pathOf(raw string) (path, query string) {
	_, rest, _ := strings.Cut(raw, "://")
	slash := strings.IndexAny(rest, "/?#")
	if slash < 0 {
		return "/", ""
	}
	rest, _, _ = strings.Cut(rest[slash:], "#")
	path, query, _ = strings.Cut(rest, "?")
	if path == "" {
		path = "/"
	}
	return path, query
}

// targetIn reads ?url=, and the &id= of a diagnosis. A second URL, or a URL that cannot be
// decoded, is a problem.
func targetIn(query string) (raw, id string, problem bool) {
	if query == "" {
		return "", "", false
	}
	values, err := url.ParseQuery(query)
	if err != nil || len(values["url"]) > 1 {
		return "", "", true
	}
	return values.Get("url"), values.Get("id"), false
}

func answer(origin, json string) *Decision {
	return &Decision{Verdict: Answer, Status: 200, Body: []byte(json),
		Header: append(cors(origin), Pair{"content-type", "application/json"}, Pair{"cache-control", "no-store"})}
}
