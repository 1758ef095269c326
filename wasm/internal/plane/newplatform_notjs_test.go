//go:build !js

package plane

import (
	"net/http"
	"testing"
)

// newPlatform is the platform under the tests: natively, one over net/http.
func newPlatform(_ *testing.T, rt http.RoundTripper) Platform { return newHTTPPlatform(rt) }
