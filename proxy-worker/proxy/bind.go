package proxy

import (
	"slices"
	"strings"
	"time"
)

// How long a binding holds: sign-in takes minutes, and a refresh brings a new one.
const bindingTime = 24 * time.Hour

// maxBound bounds the URLs of one binding.
const maxBound = 16

// Bind adds to a reply whose Bind asked for it what lets the page use what the
// metadata names: X-Portolan-Binding, to be sent with those requests. body is
// the document, or its beginning if that is too long, which binds nothing.
func (d *Decision) Bind(reply *Reply, body []byte) {
	m, ok := readMetadata(body)
	if !ok || len(body) > maxMetadata {
		return
	}
	fields := []string{d.origin}
	for _, raw := range m.endpoints {
		if t, refused := parseTarget(raw); refused == nil && d.policy.checkTarget(t, d.self) == nil && len(fields) < maxBound {
			fields = append(fields, "post "+t.url)
		}
	}
	for _, raw := range m.servers {
		if t, refused := parseTarget(raw); refused == nil && d.policy.checkTarget(t, d.self) == nil && len(fields) < maxBound {
			fields = append(fields, "read "+t.authority())
		}
	}
	if len(fields) > 1 {
		reply.Header = append(reply.Header, Pair{"x-portolan-binding", signed(d.policy.bindings[0], forBinding, d.now.Add(bindingTime), fields)})
	}
}

// challenge is the binding that comes with a 401: for the metadata that it names,
// on the same host, and for the endpoints that a server of 2025-03-26 has where it
// names none.
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
	_, named, _ := strings.Cut(get(header, "www-authenticate"), `resource_metadata="`)
	named, _, _ = strings.Cut(named, `"`)
	if t, refused := parseTarget(named); refused == nil && t.scheme == d.target.scheme && t.authority() == d.target.authority() {
		fields = append(fields, "get "+t.url)
	}
	return Pair{"x-portolan-binding", signed(d.policy.bindings[0], forBinding, d.now.Add(bindingTime), fields)}, true
}

// binds reports whether a binding lets origin send to t: a POST to an endpoint, or
// the reading of metadata at a place, or on the host of an authorization server.
func (p *Policy) binds(token, method, origin string, t target, now time.Time) bool {
	fields, ok := verify(p.bindings, forBinding, token, now)
	if !ok || len(fields) == 0 || fields[0] != origin {
		return false
	}
	if slices.Contains(fields[1:], lower(method)+" "+t.url) {
		return true
	}
	return isMetadata(t) && slices.ContainsFunc(fields[1:], func(f string) bool {
		host, ok := strings.CutPrefix(f, "read ")
		return ok && host == t.authority()
	})
}
