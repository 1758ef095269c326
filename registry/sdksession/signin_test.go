package sdksession_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/registrytest"
	"github.com/portolan-mcp/portolan/registry/sdksession"
)

func TestSignIn(t *testing.T) {
	registrytest.RunSignInSuite(t, func(rt http.RoundTripper, ask func(context.Context, *oauth.Prompt) (string, error)) (registry.Connect, registry.SignIns) {
		c := sdksession.New(&sdksession.Options{RoundTripper: rt, SignIn: sdksession.SignIn{Ask: ask, RedirectURL: "http://127.0.0.1:3000/callback"}})
		return c.Connect, c
	})
}
