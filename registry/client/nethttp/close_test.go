package nethttp_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// A counter counts the requests that leave. The server may see one a while later.
type counter struct {
	http.RoundTripper
	atomic.Int32
}

func (c *counter) RoundTrip(req *http.Request) (*http.Response, error) {
	c.Add(1)
	return c.RoundTripper.RoundTrip(req)
}

func TestExchangesAfterCloseFail(t *testing.T) {
	server := httptest.NewServer(registrytest.NewServer(nil))
	defer server.Close()
	requests := &counter{RoundTripper: server.Client().Transport}
	platform := nethttp.New(&nethttp.Options{RoundTripper: requests})
	s, err := client.New(platform, nil).
		Connect(t.Context(), "a", registry.ServerConfig{URL: server.URL + "/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	platform.Close()
	before := requests.Load()
	if _, err := s.CallTool(t.Context(), registry.ToolCall{Tool: "echo"}); err == nil {
		t.Error("a call after Close has an answer")
	} else if code := registry.Explain(err).Code; code != "network" {
		t.Errorf("a call after Close fails with %s (%v)", code, err)
	}
	_ = s.Close(t.Context())
	if n := requests.Load() - before; n != 0 {
		t.Errorf("%d requests after Close", n)
	}
	if _, exchanges := platform.Held(); exchanges != 0 {
		t.Errorf("%d exchanges are held", exchanges)
	}
}
