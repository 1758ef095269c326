package convert

import (
	"encoding/json"
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

func mustMarshal(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
