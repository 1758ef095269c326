package proxy

import (
	"slices"
	"strings"
)

// The sets of names below are switches. Each request asks them some twenty times, and a
// map takes several times as long in wasm.

// isHopByHop reports whether a field is of one connection (RFC 9110, 7.6.1), or one that
// browsers and old proxies send about it.
func isHopByHop(name string) bool {
	switch name {
	case "connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
		"te", "trailer", "transfer-encoding", "upgrade", "http2-settings":
		return true
	}
	return false
}

// sendable reports whether servers get a header. They get none about the page and the network path.
func sendable(name string) bool {
	switch name {
	case "host", "origin", "referer", "cookie", "forwarded", "via", "x-real-ip", "true-client-ip",
		"cdn-loop", "expect", "access-control-request-method", "access-control-request-headers",
		"access-control-request-private-network":
		return false
	}
	return !strings.HasPrefix(name, "x-portolan-") && !strings.HasPrefix(name, "x-forwarded-") &&
		!strings.HasPrefix(name, "cf-") && !strings.HasPrefix(name, "sec-")
}

// returnable reports whether pages get a header. They get none that would change the proxy's own origin, which all
// servers share. They get none that lets a web server in front of the proxy send its own files.
func returnable(name string) bool {
	switch name {
	case "set-cookie", "set-cookie2", "clear-site-data", "strict-transport-security", "alt-svc",
		"service-worker-allowed", "no-vary-search", "use-as-dictionary", "nel", "report-to", "reporting-endpoints", "x-proxy-error",
		"x-accel-redirect", "x-sendfile", "x-lighttpd-send-file":
		return false
	}
	return !strings.HasPrefix(name, "x-portolan-") && !strings.HasPrefix(name, "access-control-")
}

func setOf(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}

// connectionFields returns the fields that Connection makes hop-by-hop, nil if there is no such header.
func connectionFields(header []Pair) map[string]bool {
	var names map[string]bool
	for _, h := range header {
		if h.Name != "connection" {
			continue
		}
		if names == nil {
			names = map[string]bool{}
		}
		for name := range strings.SplitSeq(h.Value, ",") {
			names[strings.ToLower(strings.TrimSpace(name))] = true
		}
	}
	return names
}

// upstreamHeader returns the fields of a request that go to the server.
func upstreamHeader(header []Pair) []Pair {
	out := make([]Pair, 0, len(header))
	hop := connectionFields(header)
	for _, h := range header {
		if !isHopByHop(h.Name) && sendable(h.Name) && !hop[h.Name] {
			out = append(out, h)
		}
	}
	return out
}

// safeElsewhere are the fields that follow a redirect to another origin.
var safeElsewhere = setOf("accept", "accept-encoding", "accept-language", "user-agent", "mcp-protocol-version")

func elsewhere(header []Pair) []Pair {
	return slices.DeleteFunc(slices.Clone(header), func(h Pair) bool { return !safeElsewhere[h.Name] })
}

// cors returns the fields that let origin read an answer. A browser's cache keeps the answers of two servers apart,
// though both may have the proxy's URL.
func cors(origin string) []Pair {
	vary := Pair{"vary", "Origin, X-Portolan-Target"}
	if origin == "" {
		return []Pair{vary}
	}
	return []Pair{{"access-control-allow-origin", origin}, vary}
}

const exposed = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, DPoP-Nonce, X-Proxy-Error, " +
	"X-Portolan-Binding"

// pageHeader returns the fields of a response that go back to a page of origin.
func pageHeader(header []Pair, origin string) []Pair {
	out := append(make([]Pair, 0, len(header)+4), cors(origin)...)
	hop := connectionFields(header)
	var expose strings.Builder
	expose.WriteString(exposed)
	all := false
	for _, h := range header {
		switch {
		case isHopByHop(h.Name) || hop[h.Name]:
		case h.Name == "access-control-expose-headers":
			all = exposes(&expose, h.Value) || all
		case returnable(h.Name):
			out = append(out, h)
		}
	}
	if all {
		for _, h := range header {
			expose.WriteString(", " + h.Name)
		}
	}
	return append(out, Pair{"access-control-expose-headers", expose.String()})
}

// exposes adds the names that a server exposes by itself. all stands for "*", which becomes the names of all its
// fields, once: it does not work for requests with credentials.
func exposes(expose *strings.Builder, list string) (all bool) {
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name == "*" {
			all = true
		} else if isToken(name) {
			expose.WriteString(", " + name)
		}
	}
	return all
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
