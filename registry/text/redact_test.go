package text_test

import (
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry/text"
)

func TestRedact(t *testing.T) {
	const value = "Bearer s3cr3t-t0ken"
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"nothing of it", "nothing of it"},
		{"no: Bearer s3cr3t-t0ken!", "no: [redacted]!"},
		{"no: s3cr3t-t0ken, s3cr3t-t0ken", "no: [redacted], [redacted]"},
		{"no: Basic s3cr3t-t0ken", "no: Basic [redacted]"},
		{"cut off: s3cr3t-t0", "cut off: [redacted]"},
		{"cut off: Bearer s3cr", "cut off: [redacted]"},
		{"three letters are too few: s3c", "three letters are too few: s3c"},
		{"hidden: s3c\u200br3t-\u00adt0ken.", "hidden: [redacted]."},
		{"controls: s3cr\x1b\x003t-t0ken.", "controls: [redacted]."},
		{`in JSON: s3c\u200br3t-\u00740ken.`, "in JSON: [redacted]."},
		{"other case: S3CR3T-T0KEN.", "other case: [redacted]."},
		{"percent: Bearer%20s3cr3t%2dt0ken, bearer%20s3cr3t-t0ken", "percent: Bearer%20s3cr3t%2dt0ken, [redacted]"},
		{"base64: czNjcjN0LXQwa2Vu.", "base64: [redacted]."},
		{"base64 of all: QmVhcmVyIHMzY3IzdC10MGtlbg==", "base64 of all: [redacted]=="},
		{"token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmN, eyJh", "token: [redacted], eyJh"},
		{"no token: eyJhbGciOiJIUzI1NiJ9.short.x", "no token: eyJhbGciOiJIUzI1NiJ9.short.x"},
	} {
		if got := text.Redact(tt.text, value, "", "abc"); got != tt.want {
			t.Errorf("Redact(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("no: Bearer s3cr3t", "Bearer s3cr3t", 9)
	f.Add("aaaa aaaaa", "aaaaa", 3)
	f.Fuzz(func(t *testing.T, s, value string, cut int) {
		_, credential, _ := strings.Cut(value, " ")
		if strings.Contains("[redacted]", credential) || len(credential) < 4 ||
			strings.Contains("[redacted]", credential[:4]) {
			return // the replacement would contain the secret
		}
		got := text.Redact(s[:min(max(cut, 0), len(s))], value)
		if strings.Contains(got, credential) {
			t.Errorf("Redact(%q, %q) = %q", s, value, got)
		}
	})
}
