package sdksession

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

const hrefPlaceholder = "{href}"

// throughProxy sends the request to the proxy, which finds its real URL in the
// place that the template names. It is the last of the chain: all others, and the
// SDK, see the real URL.
func (w *wire) throughProxy(next http.RoundTripper) http.RoundTripper {
	if w.proxy == "" {
		return next
	}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		target, err := url.Parse(strings.ReplaceAll(w.proxy, hrefPlaceholder, encodeURIComponent(req.URL.String())))
		if err != nil {
			return nil, registry.Because(registry.ErrInvalidConfig, "the proxy template makes no URL")
		}
		req = req.Clone(req.Context())
		req.URL, req.Host = target, target.Host
		return next.RoundTrip(req)
	})
}

// proxyError reads a refusal of the proxy: {"error":{"code","message","hint"}}.
func proxyError(code string, status int, body []byte) error {
	x := &registry.ProxyError{Code: detail([]byte(code)), Message: "no reason given", Refused: status < 500}
	if said, ok := rawjson.Get(body, "error"); ok && rawjson.Valid(body, 8) == nil {
		for name, to := range map[string]*string{"message": &x.Message, "hint": &x.Hint} {
			if raw, ok := rawjson.Get(said, name); ok {
				text, _ := rawjson.String(raw)
				*to = detail([]byte(text))
			}
		}
	}
	return x
}

// encodeURIComponent escapes as the function of that name in ECMAScript does,
// section 19.2.6.5.
func encodeURIComponent(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.!~*'()", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		const hex = "0123456789ABCDEF"
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}
