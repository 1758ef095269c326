package client

import (
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry/oauth"
)

// The tests run on a real platform. Its package imports this one, so the external test
// package sets these.
var (
	NewPlatform func(t testing.TB, rt http.RoundTripper) TestPlatform
	NewCrypto   func(t *testing.T) oauth.Crypto
)

// A TestPlatform counts what it holds, for tests of leaks; -1 where it does not count.
type TestPlatform interface {
	Platform
	Held() (tables, exchanges int)
}
