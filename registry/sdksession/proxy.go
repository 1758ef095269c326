package sdksession

import (
	"net/http"
	"net/url"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
)

// throughProxy sends the request to the proxy, which finds its real URL in the
// place that the template names. It is the last of the chain: all others, and the
// SDK, see the real URL.
func (w *wire) throughProxy(next http.RoundTripper) http.RoundTripper {
	if w.proxy == "" {
		return next
	}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		through, err := corsproxy.URL(w.proxy, req.URL.String())
		if err != nil {
			return nil, err
		}
		target, err := url.Parse(through)
		if err != nil {
			return nil, registry.Because(registry.ErrInvalidConfig, "the proxy template makes no URL")
		}
		req = req.Clone(req.Context())
		req.URL, req.Host = target, target.Host
		return next.RoundTrip(req)
	})
}
