package client

import (
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func TestSession(t *testing.T) {
	registrytest.RunSessionSuite(t, func(rt http.RoundTripper, opts registrytest.Options) registry.Connect {
		return New(NewPlatform(t, rt), &Options{Limits: opts.Limits, Elicit: opts.Elicit}).Connect
	})
}
