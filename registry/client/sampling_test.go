package client

//lint:file-ignore SA1019 logs, sampling and roots belong to the versions until 2025-11-25

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// A server learns that the roots have changed, and gets the new ones.
func TestSetRoots(t *testing.T) {
	changed := make(chan []*mcp.Root, 1)
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, &mcp.ServerOptions{
		RootsListChangedHandler: func(ctx context.Context, req *mcp.RootsListChangedRequest) {
			list, err := req.Session.ListRoots(ctx, nil)
			if err != nil {
				t.Error(err)
				list = &mcp.ListRootsResult{}
			}
			changed <- list.Roots
		},
	})
	n := registrytest.NewNet(t)
	n.Handle("https://server.example", mcp.NewStreamableHTTPHandler(
		func(*http.Request) *mcp.Server { return server }, nil))
	c := New(NewPlatform(t, n), &Options{Roots: []registry.Root{}})
	s, err := c.Connect(t.Context(), "a", registry.ServerConfig{URL: "https://server.example/mcp"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(context.Background())
	<-s.(*Session).listening // what a server asks without a stream is lost
	if err := c.SetRoots([]registry.Root{{URI: "file:///home/ü%20x", Name: "x"}}); !errors.Is(err, registry.ErrInvalidConfig) {
		t.Errorf("a URI that is not encoded: %v", err)
	}
	if err := c.SetRoots([]registry.Root{{URI: "https://a.example"}}); !errors.Is(err, registry.ErrInvalidConfig) {
		t.Errorf("https: %v", err)
	}
	if err := c.SetRoots([]registry.Root{{URI: "file:///home/x", Name: "Ü"}}); err != nil {
		t.Fatal(err)
	}
	if roots := <-changed; len(roots) != 1 || roots[0].URI != "file:///home/x" || roots[0].Name != "Ü" {
		t.Errorf("roots %v", roots)
	}
	if err := New(NewPlatform(t, n), nil).SetRoots(nil); !errors.Is(err, registry.ErrUnsupported) {
		t.Errorf("roots that were not announced: %v", err)
	}
}

// While six questions of a server wait, a further request for a message gets an error, and no ElicitResult.
func TestTooManySamples(t *testing.T) {
	s := asksBy("sampling/createMessage", `{"messages":[],"maxTokens":1}`)
	b := newBench(t, s, Options{Sample: func(context.Context, string, []byte) ([]byte, error) {
		t.Error("the host was asked")
		return nil, errors.New("no")
	}})
	session := b.connect(registry.ServerConfig{}, nil)
	for i := range maxAsked {
		session.(*Session).asking(strconv.Itoa(i), question{cancel: func() {}})
	}
	out, err := session.CallTool(b.ctx, registry.ToolCall{ID: 7, Tool: "t"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := out.Result.JSON(); !strings.Contains(string(got), `"code":-1`) {
		t.Errorf("the server got %s", got)
	}
}
