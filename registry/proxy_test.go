package registry

import (
	"errors"
	"strings"
	"testing"
)

func TestEncodeURIComponent(t *testing.T) {
	for in, want := range map[string]string{
		"https://a.example/mcp?x=1&y=a b":      "https%3A%2F%2Fa.example%2Fmcp%3Fx%3D1%26y%3Da%20b",
		"-_.!~*'()":                            "-_.!~*'()",
		"é%":                                   "%C3%A9%25",
		"https://a.example/x y?q=ä&r='(1)'#f~": "https%3A%2F%2Fa.example%2Fx%20y%3Fq%3D%C3%A4%26r%3D'(1)'%23f~",
	} {
		if got := encodeURIComponent(in); got != want {
			t.Errorf("encodeURIComponent(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestProxyURLs(t *testing.T) {
	const href = "https://s.example/mcp"
	for _, row := range []struct{ template, through, diagnosis string }{
		{"https://p.example/?url={href}", "https://p.example/?url=https%3A%2F%2Fs.example%2Fmcp", "https://p.example/diagnose?id=4&url=https%3A%2F%2Fs.example%2Fmcp"},
		{"https://p.example?url={href}", "https://p.example?url=https%3A%2F%2Fs.example%2Fmcp", "https://p.example/diagnose?id=4&url=https%3A%2F%2Fs.example%2Fmcp"},
		{"https://p.example/{href}", "https://p.example/https%3A%2F%2Fs.example%2Fmcp", ""},
		{"https://p.example/?url={href}&key=k", "https://p.example/?url=https%3A%2F%2Fs.example%2Fmcp&key=k", ""},
	} {
		through, err := ProxyURL(row.template, href)
		if err != nil || through != row.through {
			t.Errorf("%s: %s, %v", row.template, through, err)
		}
		if got := DiagnosisURL(row.template, href, "4"); got != row.diagnosis {
			t.Errorf("%s: diagnosis at %q", row.template, got)
		}
	}
	for _, template := range []string{"", "https://p.example/"} {
		if _, err := ProxyURL(template, href); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%q: %v", template, err)
		}
	}
}

// TestReadProxyError reads what a proxy, or whoever answers in its place, may write.
func TestReadProxyError(t *testing.T) {
	for body, want := range map[string]ProxyError{
		`{"error":{"code":"c","message":"m","hint":"h"}}`: {"c", "m", "h", true},
		`{"error":{"message":"two\nlines","hint":7}}`:     {"c", "two lines", "", true},
		``:                                    {"c", "no reason given", "", true},
		`<html>`:                              {"c", "no reason given", "", true},
		`{"error":"x"}`:                       {"c", "no reason given", "", true},
		`{"error":` + strings.Repeat("[", 99): {"c", "no reason given", "", true},
		`{"error":{"message":"` + strings.Repeat("x", 1e5) + `"}}`: {"c", strings.Repeat("x", 2<<10-3) + "…", "", true},
	} {
		if got := ReadProxyError("c", 403, []byte(body)); *got != want {
			t.Errorf("%.60s: %+v", body, got)
		}
	}
	if got := ReadProxyError("c", 502, nil); got.Refused || !errors.Is(got, ErrNetwork) {
		t.Errorf("a server that cannot be reached: %+v", got)
	}
	if ReadDiagnosis([]byte(`{"message":"m"}`)) != nil || ReadDiagnosis(nil) != nil {
		t.Error("a diagnosis without a code")
	}
}
