package corsproxy

import (
	"errors"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
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
		{"https://p.example/{href}?again={href}", "https://p.example/https%3A%2F%2Fs.example%2Fmcp?again=https%3A%2F%2Fs.example%2Fmcp", ""},
		{"https://p.example/?url={href}&key=k", "https://p.example/?url=https%3A%2F%2Fs.example%2Fmcp&key=k", ""},
	} {
		through, err := URL(row.template, href)
		if err != nil || through != row.through {
			t.Errorf("%s: %s, %v", row.template, through, err)
		}
		if got := DiagnosisURL(row.template, href, "4"); got != row.diagnosis {
			t.Errorf("%s: diagnosis at %q", row.template, got)
		}
	}
	for _, template := range []string{"", "https://p.example/"} {
		if _, err := URL(template, href); !errors.Is(err, registry.ErrInvalidConfig) {
			t.Errorf("%q: %v", template, err)
		}
	}
}

// TestReadError reads what a proxy, or another server in its place, may answer.
func TestReadError(t *testing.T) {
	for body, want := range map[string]registry.ProxyError{
		`{"error":{"code":"c","message":"m","hint":"h"}}`: {Code: "c", Message: "m", Hint: "h", Refused: true},
		`{"error":{"message":"two\nlines","hint":7}}`:     {Code: "c", Message: "two lines", Hint: "", Refused: true},
		``:                                    {Code: "c", Message: "no reason given", Hint: "", Refused: true},
		`<html>`:                              {Code: "c", Message: "no reason given", Hint: "", Refused: true},
		`{"error":"x"}`:                       {Code: "c", Message: "no reason given", Hint: "", Refused: true},
		`{"error":` + strings.Repeat("[", 99): {Code: "c", Message: "no reason given", Hint: "", Refused: true},
		`{"error":{"message":"` + strings.Repeat("x", 1e5) + `"}}`: {Code: "c", Message: strings.Repeat("x", 2<<10-3) + "…", Hint: "", Refused: true},
	} {
		if got := ReadError("c", 403, []byte(body)); *got != want {
			t.Errorf("%.60s: %+v", body, got)
		}
	}
	if got := ReadError("c", 502, nil); got.Refused || !errors.Is(got, registry.ErrNetwork) {
		t.Errorf("a server that cannot be reached: %+v", got)
	}
	if ReadDiagnosis([]byte(`{"message":"m"}`)) != nil || ReadDiagnosis(nil) != nil {
		t.Error("a diagnosis without a code")
	}
}
