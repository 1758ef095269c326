package validate

import (
	"testing"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

func mustParse(t testing.TB, text []byte) *rawjson.Node {
	t.Helper()
	n, err := rawjson.Parse(text, 0, 0)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return n
}
