package proxy

import (
	"strconv"
	"strings"
)

// A Probe is one request of a diagnosis. It has neither the body nor the headers of the
// page's request, so it carries no credentials.
type Probe struct {
	Method, URL string
	Header      []Pair
	Body        []byte
}

// A Finding is the result of a probe: a status and a header, or a fault: "dns",
// "tls", "not_https", "refused", "timeout", "address" (not a public one) or "unreachable".
type Finding struct {
	Status int
	Header []Pair
	Fault  string
}

// needed are the headers that a server's preflight must allow to a page.
var needed = []string{"content-type", "mcp-protocol-version", "mcp-session-id", "authorization"}

// initialize is the first request of an MCP client (2025-11-25, lifecycle).
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"portolan-diagnosis","version":"1"}}}`

// diagnose decides POST /diagnose?url=…&id=…. A diagnosis finds faults that a browser
// hides from pages. Only callers that may use the proxy for the server may ask for it.
func (p *Policy) diagnose(d *Decision, id string) *Decision {
	n, err := strconv.ParseUint(id, 10, 53)
	if id == "" {
		n, err = 0, nil
	}
	if err != nil {
		return targetInvalid.decision(d.origin)
	}
	from := Pair{"origin", d.origin}
	d.Verdict, d.id = Diagnose, n
	d.Probes = []Probe{
		{"POST", d.URL, []Pair{from, {"content-type", "application/json"}, {"accept", "application/json, text/event-stream"}},
			[]byte(initialize)},
		{"OPTIONS", d.URL, []Pair{from, {"access-control-request-method", "POST"},
			{"access-control-request-headers", strings.Join(needed, ",")}}, nil},
		{"GET", d.URL, []Pair{from, {"accept", "text/event-stream"}}, nil},
	}
	return d
}

// A diagnosis is a code with a message and a hint.
type diagnosis struct{ code, message, hint string }

// Diagnosis answers with the meaning of the findings, which are in the order of the
// probes. The answer is a JSON-RPC response with the result {"code","message","hint"}. The
// codes are down, dns, tls, not_https, timeout, address, path, cors, get and fine.
func (d *Decision) Diagnosis(findings []Finding) *Decision {
	x := d.read(findings)
	return answer(d.origin, `{"jsonrpc":"2.0","id":`+strconv.FormatUint(d.id, 10)+`,"result":{"code":"`+x.code+
		`","message":`+strconv.Quote(x.message)+`,"hint":`+strconv.Quote(x.hint)+`}}`)
}

func (d *Decision) read(findings []Finding) diagnosis {
	if len(findings) != len(d.Probes) {
		return diagnosis{"down", "the probes of the server failed", "Try again."}
	}
	post, preflight, get1 := findings[0], findings[1], findings[2]
	if post.Fault != "" {
		if known, ok := faults[post.Fault]; ok {
			return known
		}
		return diagnosis{"down", "the server cannot be reached", "Check that it runs, and that its address is right."}
	}
	if missing := lacks(preflight, d.origin); missing != "" {
		return diagnosis{"cors", "the server does not let this page in: " + missing,
			"Let the server send CORS headers for " + d.origin + ", or reach it through the proxy: proxy: true."}
	}
	if allows, twice := allowsOrigin(post.Header, d.origin); !allows {
		fault := "lack Access-Control-Allow-Origin"
		if twice {
			fault = "have Access-Control-Allow-Origin twice"
		}
		return diagnosis{"cors", "the server's answers " + fault,
			"Let the server send CORS headers for " + d.origin +
				" with every answer, or reach it through the proxy: proxy: true."}
	}
	if post.Status == 404 || post.Status == 405 || post.Status >= 300 && post.Status < 400 {
		return diagnosis{"path", "nothing at this path takes MCP messages (status " + strconv.Itoa(post.Status) + ")",
			"Check the path of the URL; it is often /mcp or /sse."}
	}
	if get1.Fault == "" && get1.Status != 405 && get1.Status/100 != 4 &&
		mediaType(Get(get1.Header, "content-type")) != "text/event-stream" {
		return diagnosis{"get", "the server answers GET with status " + strconv.Itoa(get1.Status) +
			" and neither a stream nor 405", "Clients may take it for another transport: let it answer 405."}
	}
	return diagnosis{"fine", "the server answers and lets this page in",
		"Look at the browser: is it offline, is an extension in the way, does it ask for leave to reach the local network?"}
}

var faults = map[string]diagnosis{
	"dns":       {"dns", "the server's name is not known", "Check the spelling of its host."},
	"tls":       {"tls", "the server's certificate is not valid", "Let its owner renew it, or check the host."},
	"not_https": {"not_https", "this port does not speak https", "Use an http:// URL, or the port of https."},
	"refused":   {"down", "nothing listens there", "Check that the server runs, and its port."},
	"timeout":   {"timeout", "the server does not answer in time", "Try again later."},
	"address":   {"address", "the server's name leads to an address that is not public", "The proxy does not go there."},
}

// lacks returns the fault of a preflight's answer for a page of origin, in words, or "".
func lacks(f Finding, origin string) string {
	allows, twice := allowsOrigin(f.Header, origin)
	switch {
	case f.Fault != "" || f.Status < 200 || f.Status > 299:
		return "it refuses the preflight (status " + strconv.Itoa(f.Status) + ")"
	case twice:
		return "the preflight's answer has Access-Control-Allow-Origin twice"
	case !allows:
		return "the preflight's answer lacks Access-Control-Allow-Origin"
	}
	allowed := "," + strings.ReplaceAll(strings.ToLower(joined(f.Header, "access-control-allow-headers")), " ", "") + ","
	for _, name := range needed[:3] {
		if !strings.Contains(allowed, ","+name+",") && !strings.Contains(allowed, ",*,") {
			return "Access-Control-Allow-Headers lacks " + name
		}
	}
	return ""
}

// allowsOrigin reports whether a browser lets a page of origin read the answer, or refuses it for several origins.
func allowsOrigin(header []Pair, origin string) (allows, twice bool) {
	allowed := joined(header, "access-control-allow-origin")
	return allowed == "*" || allowed == origin, strings.Contains(allowed, ",")
}

// joined returns the values of all fields of that name, as browsers join them.
func joined(header []Pair, name string) string {
	var values []string
	for _, h := range header {
		if h.Name == name {
			values = append(values, h.Value)
		}
	}
	return strings.Join(values, ", ")
}
