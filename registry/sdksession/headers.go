package sdksession

import (
	"encoding/base64"
	"net/http"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
)

const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// addHeaders sets the configured headers, and those of the protocol that the SDK
// leaves out because the tap keeps the negotiated version from its transport.
func (w *wire) addHeaders(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		x := exchangeOf(req.Context())
		req = req.Clone(req.Context())
		for name, value := range w.headers {
			req.Header.Set(name, value)
		}
		if x.method != "initialize" && req.Header.Get(versionHeader) == "" && !w.sse {
			if version := w.version(); version != "" {
				req.Header.Set(versionHeader, version)
			}
		}
		if req.Header.Get(versionHeader) >= modern && x.method != "" {
			req.Header.Set(methodHeader, x.method)
		}
		if x.out != nil {
			for name, values := range x.out.headers {
				req.Header[name] = values
			}
		}
		return next.RoundTrip(req)
	})
}

// checkHeaders encodes what HTTP cannot carry in Mcp-Name and refuses it
// elsewhere. In a browser such a value throws, and the Go runtime with it exits.
func (w *wire) checkHeaders(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		for name, values := range req.Header {
			for i, value := range values {
				switch {
				case name == nameHeader:
					values[i] = encodeHeader(value)
				case !isASCII(value):
					return nil, registry.Because(registry.ErrProtocol, "the value of header "+name+" is not printable ASCII")
				}
			}
		}
		return next.RoundTrip(req)
	})
}

const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// encodeHeader writes text as a header value: as it is where HTTP can carry it
// unchanged, in Base64 otherwise (MCP 2026-07-28, value encoding).
func encodeHeader(text string) string {
	switch {
	case text != strings.Trim(text, " \t"), !isASCII(text), strings.ContainsRune(text, '\t'),
		strings.HasPrefix(text, encodedPrefix) && strings.HasSuffix(text, encodedSuffix):
		return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(text)) + encodedSuffix
	}
	return text
}

// isASCII reports whether s is printable ASCII, spaces and tabs included.
func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < ' ' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return true
}
