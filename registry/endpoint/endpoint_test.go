package endpoint

import "testing"

func TestOriginAndKey(t *testing.T) {
	for _, row := range []struct{ url, origin, key string }{
		{"https://h.example/mcp", "https://h.example", "https://h.example/mcp"},
		{"HTTPS://H.example:443/mcp?x=1#y", "https://h.example", "https://h.example/mcp"},
		{"https://h.example", "https://h.example", "https://h.example/"},
		{"https://h.example?x", "https://h.example", "https://h.example/"},
		{"https://h.example:/a", "https://h.example", "https://h.example/a"},
		{"http://h.example:80/", "http://h.example", "http://h.example/"},
		{"http://h.example:443/", "http://h.example:443", "http://h.example:443/"},
		{"http://localhost:08080/mcp", "http://localhost:8080", "http://localhost:8080/mcp"},
		{"http://[::1]:80/mcp", "http://[::1]", "http://[::1]/mcp"},
		{"http://[::443]/mcp", "http://[::443]", "http://[::443]/mcp"},
		{"builtin:demo", "builtin:demo", "builtin:demo"},
	} {
		if got := Origin(row.url); got != row.origin {
			t.Errorf("Origin(%s) = %s, want %s", row.url, got, row.origin)
		}
		if got := Key(row.url); got != row.key {
			t.Errorf("Key(%s) = %s, want %s", row.url, got, row.key)
		}
	}
}
