//go:build !js

package sdksession

import "net/http"

func defaultRoundTripper() http.RoundTripper { return http.DefaultTransport }
