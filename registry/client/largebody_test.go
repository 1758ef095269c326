package client

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// keptBuffer is what the browser's platform keeps between exchanges, in bytes.
const keptBuffer = 64 << 10

// A body that is larger than the kept buffer takes one of its own.
func TestLargeBody(t *testing.T) {
	s := new(registrytest.Script).On("tools/call", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		registrytest.Reply(w, m, `{"content":[{"type":"text","text":"`+strconv.Itoa(len(m.Params))+`"}]}`)
	})
	b := newBench(t, s, Options{})
	session := b.connect(registry.ServerConfig{}, nil)
	for _, size := range []int{10, keptBuffer - 200, keptBuffer, 10 * keptBuffer, 10} {
		arguments := `{"a":"` + strings.Repeat("é", size/2) + `"}`
		out, err := session.CallTool(b.ctx, registry.ToolCall{Tool: "t", Arguments: []byte(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		want := strconv.Itoa(len(`{"name":"t","arguments":}`) + len(arguments))
		if text, _ := out.Result.JSON(); !strings.Contains(string(text), `"`+want+`"`) {
			t.Errorf("%d bytes of arguments: the server read %s, want %s", len(arguments), text, want)
		}
	}
}
