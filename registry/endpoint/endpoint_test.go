package endpoint

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// The table is shared with wasm/js/shared/origin.test.ts.
func TestOriginAndKey(t *testing.T) {
	b, err := os.ReadFile("../../testdata/endpoints/endpoints.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ URL, Origin, Key string }
	if err := json.Unmarshal(b, &rows); err != nil || len(rows) < 10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		if got := Origin(row.URL); got != row.Origin {
			t.Errorf("Origin(%s) = %s, want %s", row.URL, got, row.Origin)
		}
		if got := Key(row.URL); got != row.Key {
			t.Errorf("Key(%s) = %s, want %s", row.URL, got, row.Key)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add("https://h.example:443/mcp?x#y")
	f.Fuzz(func(t *testing.T, url string) {
		if strings.Count(url, ":") > 2 {
			return // no host has two ports
		}
		if key := Key(url); Key(key) != key {
			t.Errorf("Key(%q) = %q, and of that %q", url, key, Key(key))
		}
	})
}
