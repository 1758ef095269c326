package proxy

import (
	"slices"
	"strings"
	"time"
)

// bindingTime is how long a binding is valid. Sign-in takes minutes, and each read of
// the metadata brings a new binding.
const bindingTime = 24 * time.Hour

// maxBound bounds the URLs of one binding.
const maxBound = 16

// Bind adds X-Portolan-Binding to a reply that asked for it. With this binding the page
// may send requests to the endpoints that the metadata names. body is the document. A
// document that is too long gives no binding.
func (d *Decision) Bind(reply *Reply, body []byte) {
	m, ok := readMetadata(body)
	if !ok || len(body) > maxMetadata {
		return
	}
	fields := []string{d.origin}
	for i, raw := range slices.Concat(m.endpoints, m.servers) {
		t, refused := parseTarget(raw)
		switch {
		case refused != nil || d.policy.checkTarget(t, d.self) != nil || len(fields) == maxBound:
		case i < len(m.endpoints):
			fields = append(fields, "post "+t.url)
		default:
			fields = append(fields, "read "+t.authority())
		}
	}
	if len(fields) > 1 {
		// A browser that kept the answer would send a binding that is not valid any more.
		reply.Header = replaced(reply.Header, []Pair{{"cache-control", "no-store"}, d.binding(fields)})
	}
}

func (d *Decision) binding(fields []string) Pair {
	return Pair{"x-portolan-binding", signed(d.policy.bindings[0], forBinding, d.now.Add(bindingTime), fields)}
}

// challenge returns the binding that goes back with a 401. It covers the metadata URL
// that the 401 names on the same host. It also covers the default endpoints of servers
// of version 2025-03-26.
func (d *Decision) challenge(header []Pair) (Pair, bool) {
	if len(d.policy.bindings) == 0 || d.kind != kindMessage && d.kind != kindStream {
		return Pair{}, false
	}
	base := d.target.scheme + "://" + d.target.authority()
	fields := []string{d.origin}
	for _, path := range []string{"/register", "/token"} {
		if t, refused := parseTarget(base + path); refused == nil {
			fields = append(fields, "post "+t.url)
		}
	}
	for _, h := range header {
		if h.Name != "www-authenticate" { // each scheme may have a field of its own
			continue
		}
		_, named, _ := strings.Cut(h.Value, `resource_metadata="`)
		named, _, _ = strings.Cut(named, `"`)
		if t, refused := parseTarget(named); refused == nil && len(fields) < maxBound &&
			t.scheme == d.target.scheme && t.authority() == d.target.authority() {
			fields = append(fields, "get "+t.url)
		}
	}
	return d.binding(fields), true
}

// binds reports whether a binding lets origin send a request to t. A binding allows a
// POST to an endpoint, a GET of a metadata URL, and metadata of an authorization server.
func (p *Policy) binds(token, method, origin string, t target, now time.Time) bool {
	fields, ok := verify(p.bindings, forBinding, token, now)
	if !ok || len(fields) == 0 || fields[0] != origin {
		return false
	}
	if slices.Contains(fields[1:], strings.ToLower(method)+" "+t.url) {
		return true
	}
	return isMetadata(t) && slices.ContainsFunc(fields[1:], func(f string) bool {
		host, ok := strings.CutPrefix(f, "read ")
		return ok && host == t.authority()
	})
}
