//go:build !js

package client

import (
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/sdksession"
)

// newPlatform is the platform under the tests: natively, one over net/http.
func newPlatform(_ *testing.T, rt http.RoundTripper) Platform { return newHTTPPlatform(rt) }

func newCrypto(*testing.T) oauth.Crypto { return sdksession.Crypto() }
