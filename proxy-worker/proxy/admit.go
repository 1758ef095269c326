package proxy

import "strings"

// A kind is the purpose of an MCP client's request. Requests of no kind are refused, so
// that even a permitted caller has no general relay.
type kind int

const (
	kindNone    kind = iota
	kindMessage      // POST of a JSON-RPC message
	kindStream       // GET of an event stream
	kindEnd          // DELETE of a session
	// GET of OAuth metadata (RFC 9728, RFC 8414, OpenID Connect Discovery), or of the URL
	// that a 401 names for it.
	kindDiscovery
	kindOAuth // POST to an endpoint that metadata has named
)

// admit returns the kind of a request. bound says whether a binding names its URL.
func admit(method string, header []Pair, t target, bound bool) kind {
	accept := Get(header, "accept")
	contentType := mediaType(Get(header, "content-type"))
	switch method {
	case "POST":
		if bound && (contentType == "application/x-www-form-urlencoded" || contentType == "application/json") {
			return kindOAuth
		}
		if contentType == "application/json" && acceptsType(accept, "application/json") &&
			acceptsType(accept, "text/event-stream") {
			return kindMessage
		}
	case "GET":
		if isMetadata(t) || bound {
			return kindDiscovery
		}
		if namesType(accept, "text/event-stream") {
			return kindStream
		}
	case "DELETE":
		if Get(header, "mcp-session-id") != "" {
			return kindEnd
		}
	}
	return kindNone
}

func mediaType(value string) string {
	value, _, _ = strings.Cut(value, ";")
	return strings.ToLower(strings.TrimSpace(value))
}

// namesType reports whether an Accept header names the type.
func namesType(accept, mediatype string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		if mediaType(part) == mediatype {
			return true
		}
	}
	return false
}

// acceptsType reports whether an Accept header allows the type, by name or by "*/*". A
// request without the header allows all (RFC 9110, section 12.5.1). The POSTs of HTTP+SSE
// clients send "*/*" or no header.
func acceptsType(accept, mediatype string) bool {
	return accept == "" || namesType(accept, mediatype) || namesType(accept, "*/*")
}

var wellKnown = []string{"oauth-protected-resource", "oauth-authorization-server", "openid-configuration"}

// isMetadata reports whether t is the URL of OAuth metadata. It is below /.well-known/,
// and for OpenID Connect it may be below the issuer's path.
func isMetadata(t target) bool {
	if t.query != "" {
		return false
	}
	for _, name := range wellKnown {
		if rest, ok := strings.CutPrefix(t.path, "/.well-known/"+name); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return strings.HasSuffix(t.path, "/.well-known/openid-configuration")
}
