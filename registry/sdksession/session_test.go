package sdksession_test

import (
	"net/http"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
	"github.com/portolan-mcp/portolan/registry/sdksession"
)

func TestSession(t *testing.T) {
	registrytest.RunSessionSuite(t, func(rt http.RoundTripper, opts registrytest.Options) registry.Connect {
		return sdksession.New(&sdksession.Options{RoundTripper: rt, Limits: opts.Limits, Elicit: opts.Elicit}).Connect
	})
}
