package sdksession

import (
	"errors"
	"net/http"
)

// defaultRoundTripper refuses: naming http.DefaultTransport would link it into
// the module, where it can neither stream a request nor omit credentials.
func defaultRoundTripper() http.RoundTripper {
	return roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("sdksession: Options.RoundTripper is required in js/wasm")
	})
}
