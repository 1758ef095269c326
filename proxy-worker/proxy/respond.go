package proxy

import (
	"net/url"
	"strconv"
	"strings"
)

// maxHops bounds the redirects of one GET.
const maxHops = 3

// maxMetadata bounds a metadata document that is read for its endpoints, in bytes.
const maxMetadata = 64 << 10

// Respond returns the reply to the page for a server's response. Call it once.
func (d *Decision) Respond(r *Response) *Reply {
	if location := Get(r.Header, "location"); r.Status >= 301 && r.Status <= 308 && r.Status != 304 && location != "" {
		return d.redirect(location)
	}
	if r.Status < 200 || r.Status > 599 {
		return d.refuse(unreachable) // not a final status
	}
	reply := &Reply{Status: r.Status, Header: pageHeader(r.Header, d.origin)}
	if r.Status == 401 {
		if binding, ok := d.challenge(r.Header); ok {
			reply.Header = append(reply.Header, binding)
		}
	}
	contentType := mediaType(Get(r.Header, "content-type"))
	if contentType == "text/event-stream" {
		reply.Stream = true
		reply.Prime = r.Status == 200 && Get(r.Header, "content-encoding") == "" && !has(r.Header, "content-length")
		return reply
	}
	reply.MaxBody = d.MaxResponse
	if length, err := strconv.ParseInt(Get(r.Header, "content-length"), 10, 64); err == nil && length > d.MaxResponse {
		return d.refuse(responseTooLarge)
	}
	if d.kind == kindDiscovery && r.Status == 200 && len(d.policy.bindings) > 0 &&
		Get(r.Header, "content-encoding") == "" {
		reply.Bind = maxMetadata
	}
	return reply
}

func (d *Decision) refuse(r refusal) *Reply {
	return &Reply{Status: r.status, Header: r.header(d.origin), Body: r.body(), Code: r.code}
}

// redirect follows a GET, and checks each step as a request of its own. A POST is never
// redirected: it may have run, and its body is for one server.
func (d *Decision) redirect(location string) *Reply {
	base, err := url.Parse(d.URL)
	if err != nil || d.Method != "GET" || d.hops >= maxHops || strings.IndexByte(location, '\\') >= 0 {
		return d.refuse(redirectRefused)
	}
	ref, err := url.Parse(location)
	if err != nil {
		return d.refuse(redirectRefused)
	}
	// An invalid reference is refused before it is resolved.
	if ref.IsAbs() {
		if _, refused := parseTarget(location); refused != nil {
			return d.refuse(redirectRefused)
		}
	}
	next := base.ResolveReference(ref)
	next.Fragment = ""
	t, refused := parseTarget(next.String())
	if refused == nil {
		refused = d.policy.checkTarget(t, d.self)
	}
	if refused != nil {
		return d.refuse(redirectRefused)
	}
	same := t.scheme == d.target.scheme && t.host == d.target.host && t.port == d.target.port
	if !same && !d.anyHost && !d.policy.hostAllowed(t) {
		return d.refuse(redirectRefused)
	}
	again := admit("GET", d.Header, t, false)
	if again == kindNone {
		return d.refuse(redirectRefused)
	}
	follow := *d
	follow.hops++
	follow.target, follow.URL, follow.kind = t, t.url, again
	if !same {
		follow.Header = elsewhere(d.Header)
	}
	return &Reply{Follow: &follow}
}
