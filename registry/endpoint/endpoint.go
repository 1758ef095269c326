// Package endpoint reads the parts of an endpoint's URL that identify a server.
//
// [Origin] decides where headers and bindings may go. [Key] is the origin and the
// path, to which approvals are bound. A sign-in is bound to the [Resource]. All treat
// https://h/ and https://H:443/ as one. wasm/js/shared/origin.ts does the same with the
// browser's URL parser; here net/url would add 175 KB to the module.
package endpoint

import (
	"strings"

	"github.com/portolan-mcp/portolan/registry/text"
)

// Origin returns the scheme and the authority of an http or https URL, in lower
// case and without the scheme's own port. It returns any other text as it is.
func Origin(url string) string {
	origin, _ := split(url)
	return origin
}

// Key returns the origin and the path of a URL, without query and fragment.
func Key(url string) string {
	origin, path := split(url)
	if !strings.Contains(url, "://") {
		return url
	}
	return origin + "/" + path
}

// Resource returns the URL without its fragment, as a resource indicator has it (RFC 8707).
func Resource(url string) string {
	url, _, _ = strings.Cut(url, "#")
	_, query, _ := strings.Cut(url, "?")
	return Key(url) + "?" + query
}

func split(url string) (origin, path string) {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url, ""
	}
	rest, _, _ = strings.Cut(rest, "?")
	rest, _, _ = strings.Cut(rest, "#")
	host, path, _ := strings.Cut(rest, "/")
	scheme, host = text.Lower(scheme), text.Lower(host)
	if i := strings.LastIndexByte(host, ':'); i > strings.LastIndexByte(host, ']') {
		port := strings.TrimLeft(host[i+1:], "0")
		if port == "" || scheme == "https" && port == "443" || scheme == "http" && port == "80" {
			host = host[:i]
		} else {
			host = host[:i+1] + port
		}
	}
	return scheme + "://" + host, path
}
