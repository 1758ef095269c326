package proxy

import (
	"slices"
	"strings"
)

// hopByHop are the fields of one connection (RFC 9110, 7.6.1), and those that browsers and
// old proxies send about it.
var hopByHop = setOf("connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
	"te", "trailer", "transfer-encoding", "upgrade", "http2-settings")

// notSent are headers about the page and the network path. Servers do not get them.
var notSent = setOf("host", "origin", "referer", "cookie", "forwarded", "via", "x-real-ip", "true-client-ip",
	"cdn-loop", "expect", "access-control-request-method", "access-control-request-headers",
	"access-control-request-private-network")

// notReturned are headers that would change the proxy's own origin, which all servers
// share.
var notReturned = setOf("set-cookie", "set-cookie2", "clear-site-data", "strict-transport-security", "alt-svc",
	"service-worker-allowed", "nel", "report-to", "reporting-endpoints", "x-proxy-error")

func setOf(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// connectionFields returns the fields that Connection makes hop-by-hop.
func connectionFields(header []Pair) map[string]bool {
	m := map[string]bool{}
	for _, h := range header {
		if h.Name == "connection" {
			for name := range strings.SplitSeq(h.Value, ",") {
				m[lower(strings.TrimSpace(name))] = true
			}
		}
	}
	return m
}

// upstreamHeader returns the fields of a request that go to the server.
func upstreamHeader(header []Pair) []Pair {
	hop := connectionFields(header)
	return slices.DeleteFunc(slices.Clone(header), func(h Pair) bool {
		return hopByHop[h.Name] || hop[h.Name] || !sendable(h.Name)
	})
}

func sendable(name string) bool {
	for _, prefix := range []string{"x-portolan-", "x-forwarded-", "cf-", "sec-"} {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return !notSent[name]
}

// safeElsewhere are the fields that follow a redirect to another origin.
var safeElsewhere = setOf("accept", "accept-language", "user-agent", "mcp-protocol-version")

func elsewhere(header []Pair) []Pair {
	return slices.DeleteFunc(slices.Clone(header), func(h Pair) bool { return !safeElsewhere[h.Name] })
}

// cors returns the fields that let origin read an answer.
func cors(origin string) []Pair {
	if origin == "" {
		return []Pair{{"vary", "Origin"}}
	}
	return []Pair{{"access-control-allow-origin", origin}, {"vary", "Origin"}}
}

const exposed = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, DPoP-Nonce, X-Proxy-Error, " +
	"X-Portolan-Binding"

// pageHeader returns the fields of a response that go back to a page of origin.
func pageHeader(header []Pair, origin string) []Pair {
	out := cors(origin)
	hop := connectionFields(header)
	expose := exposed
	for _, h := range header {
		switch {
		case hopByHop[h.Name] || hop[h.Name] || notReturned[h.Name] || strings.HasPrefix(h.Name, "x-portolan-"):
		case h.Name == "access-control-expose-headers":
			expose += exposes(h.Value, header)
		case strings.HasPrefix(h.Name, "access-control-"):
		default:
			out = append(out, h)
		}
	}
	return append(out, Pair{"access-control-expose-headers", expose})
}

// exposes returns the names that a server exposes by itself. "*" becomes the names of
// all its fields, because "*" does not work for requests with credentials.
func exposes(list string, header []Pair) string {
	var more strings.Builder
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "*" {
			for _, h := range header {
				more.WriteString(", " + h.Name)
			}
		} else if isToken(name) {
			more.WriteString(", " + name)
		}
	}
	return more.String()
}

// isToken reports whether s can be a field name (RFC 9110, 5.6.2).
func isToken(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}

// isValue reports whether s can be a field value.
func isValue(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return s == strings.TrimSpace(s)
}
