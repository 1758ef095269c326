package text_test

import (
	"encoding/json"
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

func TestRedactOfASecretWithinAnother(t *testing.T) {
	want := "a [redacted] b [redacted]"
	if got := text.Redact("a key-1-of-two b key-1", "key-1", "Bearer key-1-of-two"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRedactOfAShortText(t *testing.T) {
	if got := text.Redact("key1", "key\U0001f511 and more", "key1"); got != "[redacted]" {
		t.Errorf("%q: a longer secret keeps a short one in", got)
	}
}

func TestRedactOfABackslash(t *testing.T) {
	for _, secret := range []string{`pa\sswörd`, `pa\\ssword`, `\u0041bcd`, `\000`} {
		if got := text.Redact("no: "+secret+"!", secret); got != "no: [redacted]!" {
			t.Errorf("%s: %q", secret, got)
		}
		inJSON, _ := json.Marshal(secret)
		if got := text.Redact(string(inJSON), secret); got != `"[redacted]"` {
			t.Errorf("%s in JSON: %q", secret, got)
		}
	}
}

// Each of these texts keeps a search busy for minutes that begins again at each place.
func TestRedactTakesLinearTime(t *testing.T) {
	const size = 2 << 20
	long := strings.Repeat("a", 4095) + "b"
	for _, row := range []struct{ name, text, secret, want string }{
		{"beginnings of tokens", strings.Repeat("eyJ", size/3), "abcdefgh", strings.Repeat("eyJ", size/3)},
		{"tokens", strings.Repeat("eyJaaaaa.aaaaaaaa.aaaaaaaa ", size/27), "abcdefgh", strings.Repeat("[redacted] ", size/27)},
		{"beginnings of a secret", "so: " + strings.Repeat("a", size) + " " + long, long, "so: "},
		{"a long secret", "so: aaaaa", strings.Repeat("a", 64*size), "so: [redacted]"},
	} {
		got := text.Redact(row.text, row.secret)
		if row.name == "beginnings of a secret" {
			if !strings.HasPrefix(got, row.want) || !strings.HasSuffix(got, "[redacted]") || strings.Contains(got, long) {
				t.Errorf("%s: %d bytes, and the last are %q", row.name, len(got), got[max(0, len(got)-40):])
			}
		} else if got != row.want {
			t.Errorf("%s: %d bytes, want %d", row.name, len(got), len(row.want))
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("no: Bearer s3cr3t", "Bearer s3cr3t", 9)
	f.Add("aaaa aaaaa", "aaaaa", 3)
	f.Add("0000", "0000\x98\x98\x98 0000", 7)
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
