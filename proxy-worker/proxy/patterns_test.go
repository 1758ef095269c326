package proxy

import (
	"slices"
	"strings"
	"testing"
)

func patternsOf(t testing.TB, texts ...string) (patterns []originPattern) {
	t.Helper()
	for _, text := range texts {
		p, err := parseOriginPattern(text)
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, p)
	}
	return patterns
}

// originCode returns the code with which a policy of these patterns answers an origin.
func originCode(patterns []originPattern, header string) string {
	origin, ok := originOf(header)
	if ok && slices.ContainsFunc(patterns, func(p originPattern) bool { return p.matches(origin) }) {
		return ""
	}
	return originRefused.code
}

func TestAttackOrigins(t *testing.T) {
	table := readAttacks(t)
	patterns := patternsOf(t, table.AllowedOrigins...)
	for _, row := range table.Origins {
		if got := originCode(patterns, row.Origin); got != row.Code {
			t.Errorf("%q: %q, want %q", row.Origin, got, row.Code)
		}
	}
	if len(table.Origins) < 25 {
		t.Errorf("the table has only %d origins", len(table.Origins))
	}
}

func TestOriginPatternsThatAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "*", "null", "*://ide.example", "https://*", "https://*:*", "https://*.*", "https://*.com", "https://*.example.*",
		"https://a.*.example",
		"https://*ide.example", "https://*.127.0.0.1", "https://*.[::1]", "https://ide.example/", "https://ide.example/a",
		"https://ide.example?", "https://*.ide.example/",
		"https://ide.example:443", "http://*.ide.example:80", "https://ide.example:*:*", "https://ide.example:8443:*",
		"https://ide.example.", "https://bücher.example",
		"ide.example", "ftp://ide.example", "chrome-extension://*", "chrome-extension://abc",
		"chrome-extension://*.abcdefghijklmnopabcdefghijklmnop",
		"chrome-extension://abcdefghijklmnopabcdefghijklmnop:*", "moz-extension://*", "https://user@ide.example",
	} {
		if p, err := parseOriginPattern(text); err == nil || p != (originPattern{}) {
			t.Errorf("%q is taken for %+v", text, p)
		}
	}
}

func TestOriginsThatNoBrowserSends(t *testing.T) {
	anyPort := patternsOf(t, "http://localhost:*")[0]
	for _, s := range []string{
		"", "null", "https://ide.example/", "https://ide.example:443", "HTTPS://ide.example", "http://localhost:1/",
		"http://localhost:1#", "http://localhost:01", "http://LOCALHOST:1",
		"chrome-extension://abcdefghijklmnopabcdefghijklmnoq", "chrome-extension://abc", "moz-extension://",
		"moz-extension://2b1c9e3a-7d54-4f0e-9a86-0c1d2e3f4a5",
		"moz-extension://2b1c9e3a-7d54-4f0e-9a86-0c1d2e3f4a5b5", "moz-extension://2b1c9e3a07d5404f0e09a8600c1d2e3f4a5b",
		"moz-extension://2B1C9E3A-7D54-4F0E-9A86-0C1D2E3F4A5B",
	} {
		if _, ok := originOf(s); ok || anyPort.matches(s) {
			t.Errorf("%q is taken for an origin", s)
		}
	}
}

func TestNoPatternMatchesNothing(t *testing.T) {
	if (originPattern{}).matches("") || (hostPattern{}).matches(target{host: "a.example"}) {
		t.Error("a pattern that could not be read matches")
	}
}

func TestHostPatterns(t *testing.T) {
	for _, row := range []struct{ pattern, url, want string }{
		{"mcp.example.com", "https://mcp.example.com/mcp", "yes"},
		{"MCP.example.com", "https://mcp.EXAMPLE.com:8443/mcp", "yes"},
		{"mcp.example.com", "https://a.mcp.example.com/", "no"},
		{"mcp.example.com", "https://evilmcp.example.com/", "no"},
		{"mcp.example.com", "https://mcp.example.com.evil.example/", "no"},
		{"mcp.example.com:8443", "https://mcp.example.com:8443/", "yes"},
		{"mcp.example.com:8443", "https://mcp.example.com/", "no"},
		{"mcp.example.com:443", "https://mcp.example.com/", "yes"},
		{"mcp.example.com:443", "https://mcp.example.com:8443/", "no"},
		{"*.example.com", "https://mcp.example.com/", "yes"},
		{"*.example.com", "https://a.b.example.com/", "yes"},
		{"*.example.com", "https://example.com/", "no"},
		{"*.example.com", "https://evilexample.com/", "no"},
		{"*.example.com:8443", "https://mcp.example.com:8443/", "yes"},
		{"*.example.com:8443", "https://mcp.example.com/", "no"},
		{"*.localhost", "http://a.localhost/", "yes"},
		{"127.0.0.1:3000", "http://127.0.0.1:3000/", "yes"},
		{"127.0.0.1:3000", "http://127.0.0.1:3001/", "no"},
		{"[0:0:0:0:0:0:0:1]", "http://[::1]:9/", "yes"},
		{"[::443]", "https://[::443]:8443/", "yes"},
		{"*", "https://any.example:8443/", "yes"},
	} {
		p, err := parseHostPattern(row.pattern)
		to, refused := parseTarget(row.url)
		if err != nil || refused != nil {
			t.Errorf("%v: %v, %v", row, err, refused)
			continue
		}
		if got := (&Policy{hosts: []hostPattern{{host: "other.example"}, p}}).hostAllowed(to); got != (row.want == "yes") {
			t.Errorf("%s allows %s: %v, want %s", row.pattern, row.url, got, row.want)
		}
	}
}

func TestHostPatternsThatAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "**", "*.*", "*.", "*.com", "*:8443", "*.127.0.0.1", "*.[::1]", "https://mcp.example.com", "mcp.example.com/",
		"mcp.example.com/mcp", "mcp.example.com?a", "mcp.example.com#",
		"mcp.example.com:", "mcp.example.com:0", "mcp.example.com:*", "mcp.example.com.", "mcp.*.com", "a@mcp.example.com",
		"127.1", "bücher.example", "::1",
	} {
		if p, err := parseHostPattern(text); err == nil || p != (hostPattern{}) {
			t.Errorf("%q is taken for %+v", text, p)
		}
	}
}

func FuzzOrigin(f *testing.F) {
	table := readAttacks(f)
	for _, row := range table.Origins {
		f.Add(row.Origin)
	}
	for _, text := range table.AllowedOrigins {
		f.Add(text)
	}
	suffixes := patternsOf(f, "https://*.apps.example:*")
	f.Fuzz(func(t *testing.T, s string) {
		origin, ok := originOf(s)
		if ok {
			if origin != s {
				t.Errorf("%q becomes %q", s, origin)
			}
			if p, err := parseOriginPattern(s); err != nil || !p.matches(s) {
				t.Errorf("%q is an origin that cannot be allowed: %v", s, err)
			}
		}
		if originCode(suffixes, s) == "" {
			host, port, _ := strings.Cut(strings.TrimPrefix(s, "https://"), ":")
			if !strings.HasPrefix(s, "https://") || !strings.HasSuffix(host, ".apps.example") ||
				strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || strings.Trim(port, "0123456789") != "" {
				t.Errorf("%q is allowed", s)
			}
		}
		p, err := parseOriginPattern(s)
		if err == nil && !strings.Contains(s, "*") && !p.matches(strings.ToLower(s)) {
			t.Errorf("the pattern %q does not match itself", s)
		}
	})
}
