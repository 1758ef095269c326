package client

import (
	"context"
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func TestSignIn(t *testing.T) {
	registrytest.RunSignInSuite(t, func(rt http.RoundTripper, ask func(context.Context, *oauth.Prompt) (string, error)) (registry.Connect, registry.SignIns) {
		c := New(NewPlatform(t, rt), &Options{OAuth: oauth.New(oauth.Options{
			Crypto: NewCrypto(t), Ask: ask, RedirectURL: "http://127.0.0.1:3000/callback", ClientName: "test",
		})})
		return c.Connect, c
	})
}
