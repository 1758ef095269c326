//go:build !js

package client_test

import (
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

func init() {
	client.NewPlatform = func(t testing.TB, rt http.RoundTripper) client.TestPlatform {
		p := nethttp.New(&nethttp.Options{RoundTripper: rt})
		t.Cleanup(p.Close)
		return p
	}
	client.NewCrypto = func(*testing.T) oauth.Crypto { return nethttp.Crypto() }
}
