package client

import (
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func TestSession(t *testing.T) {
	registrytest.RunSessionSuite(t, func(rt http.RoundTripper, opts registrytest.Options) registry.Connect {
		options := &Options{Limits: opts.Limits, Elicit: opts.Elicit, Sample: opts.Sample}
		for _, uri := range opts.Roots {
			options.Roots = append(options.Roots, registry.Root{URI: uri})
		}
		return New(NewPlatform(t, rt), options).Connect
	})
}
