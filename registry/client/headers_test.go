package client

import (
	stdbase64 "encoding/base64"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeaderValue(t *testing.T) {
	for in, want := range map[string]string{
		"":                "",
		"us west 1":       "us west 1",
		" padded ":        "=?base64?IHBhZGRlZCA=?=",
		"\tindented":      "=?base64?CWluZGVudGVk?=",
		"line1\r\nline2":  "=?base64?bGluZTENCmxpbmUy?=",
		"größe":           "=?base64?Z3LDtsOfZQ==?=",
		"=?base64?eA==?=": "=?base64?" + stdbase64.StdEncoding.EncodeToString([]byte("=?base64?eA==?=")) + "?=",
		"=?base64?":       "=?base64?",
	} {
		if got := headerValue(in); got != want {
			t.Errorf("headerValue(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzHeaderValue(f *testing.F) {
	for _, s := range []string{"", "a", " a", "é", "=?base64?YQ==?=", "\x00\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v := headerValue(s)
		for i := 0; i < len(v); i++ {
			if v[i] < ' ' || v[i] > '~' {
				t.Fatalf("headerValue(%q) = %q is no header value", s, v)
			}
		}
		if back := decodeHeader(v); back != s {
			t.Fatalf("%q reads back as %q", s, back)
		}
	})
}

// decodeHeader is what a server does (SEP-2243).
func decodeHeader(v string) string {
	if encoded, ok := strings.CutPrefix(v, "=?base64?"); ok {
		if encoded, ok = strings.CutSuffix(encoded, "?="); ok {
			b, err := stdbase64.StdEncoding.DecodeString(encoded)
			if err == nil {
				return string(b)
			}
		}
	}
	return v
}

func TestBindings(t *testing.T) {
	for _, row := range []struct {
		name, properties, arguments string
		want                        []string
		refused                     bool
	}{
		{"none", `{"a":{"type":"string"}}`, `{"a":"x"}`, nil, false},
		{"kinds", `{"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"},"b":{"type":"boolean","x-mcp-header":"B"}}`,
			`{"s":"","i":42.0,"b":false}`, []string{"Mcp-Param-S", "", "Mcp-Param-I", "42", "Mcp-Param-B", "false"}, false},
		{"absent and null", `{"s":{"type":"string","x-mcp-header":"S"},"i":{"type":"integer","x-mcp-header":"I"}}`, `{"i":null}`, nil, false},
		{"nested", `{"o":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"}}}}`, `{"o":{"s":"x"}}`, []string{"Mcp-Param-S", "x"}, false},
		{"nested in a scalar", `{"o":{"type":"object","properties":{"s":{"type":"string","x-mcp-header":"S"}}}}`, `{"o":1}`, nil, false},
		{"beyond doubles", `{"i":{"type":"integer","x-mcp-header":"I"}}`, `{"i":9007199254740993}`, []string{"Mcp-Param-I", "9007199254740993"}, false},
		{"beyond 64 bits", `{"i":{"type":"integer","x-mcp-header":"I"}}`, `{"i":-123456789012345678901234567890}`, []string{"Mcp-Param-I", "-123456789012345678901234567890"}, false},
		{"a parameter of that name", `{"x-mcp-header":{"type":"string","enum":["x-mcp-header"]}}`, `{}`, nil, false},
		{"not whole", `{"i":{"type":"integer","x-mcp-header":"I"}}`, `{"i":1.5}`, nil, false},
		{"of another kind", `{"i":{"type":"integer","x-mcp-header":"I"}}`, `{"i":[1]}`, nil, false},
		{"odd properties", `{"a":true,"b":null,"c":{"properties":7}}`, `{}`, nil, false},
		{"number", `{"n":{"type":"number","x-mcp-header":"N"}}`, `{}`, nil, true},
		{"empty", `{"s":{"type":"string","x-mcp-header":""}}`, `{}`, nil, true},
		{"no token", `{"s":{"type":"string","x-mcp-header":"a b"}}`, `{}`, nil, true},
		{"twice", `{"s":{"type":"string","x-mcp-header":"A"},"o":{"properties":{"t":{"type":"string","x-mcp-header":"a"}}}}`, `{}`, nil, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			bound, err := bindings([]byte(`{"inputSchema":{"type":"object","properties":` + row.properties + `}}`))
			if (err != nil) != row.refused {
				t.Fatalf("error %v", err)
			}
			if err == nil {
				if d := cmp.Diff(row.want, paramHeaders(bound, []byte(row.arguments))); d != "" {
					t.Errorf("headers (-want +got):\n%s", d)
				}
			}
		})
	}
}

func FuzzBindings(f *testing.F) {
	f.Add([]byte(`{"inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`), []byte(`{"a":"é"}`))
	f.Add([]byte(`{"inputSchema":{"properties":[]}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, def, arguments []byte) {
		if rawjson.Valid(def, 128) != nil || rawjson.Valid(arguments, 0) != nil {
			return
		}
		bound, err := bindings(def)
		if err != nil {
			return
		}
		for _, h := range paramHeaders(bound, arguments) {
			for i := 0; i < len(h); i++ {
				if h[i] < ' ' || h[i] > '~' {
					t.Fatalf("header %q", h)
				}
			}
		}
	})
}
