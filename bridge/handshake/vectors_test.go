package handshake

import (
	"encoding/json"
	"os"
	"testing"
)

// vector reads one vector of testdata/vectors.json. The file names the inputs.
func vector(t *testing.T, name string) Bytes {
	t.Helper()
	text, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	var b Bytes
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[name], &b); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}
