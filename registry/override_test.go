package registry

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverrideArguments(t *testing.T) {
	o := Override{HideParams: []string{"limit"}, Fixed: []byte(`{"who": "me", "n": 12345678901234567890}`)}
	for _, row := range []struct {
		o          Override
		args, want string
	}{
		{Override{}, `{"a": 1}`, `{"a": 1}`},
		{o, `{}`, `{"who":"me","n":12345678901234567890}`},
		{o, `{"a": [1], "limit": 5, "who": "you"}`, `{"a":[1],"who":"me","n":12345678901234567890}`},
		{o, `{"\u0077ho": "you", "big": 9007199254740993}`, `{"big":9007199254740993,"who":"me","n":12345678901234567890}`},
		{Override{HideParams: []string{"a"}}, `{"a": 1}`, `{}`},
		{o, `{"a": `, `{"a": `},
		{o, `[]`, `[]`},
	} {
		if diff := cmp.Diff(row.want, string(row.o.arguments([]byte(row.args)))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", row.args, diff)
		}
	}
}

func TestOverridesAreChecked(t *testing.T) {
	for _, overrides := range []map[string]Override{
		{"a": {Name: "x"}, "b": {Name: "x"}},
		{"a": {Fixed: []byte(`[]`)}},
		{"a": {Description: strings.Repeat("x", 1<<15)}},
	} {
		cfg := ServerConfig{URL: "https://example.com/mcp", Overrides: overrides}
		if err := cfg.Check(); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%v: %v", overrides, err)
		}
	}
}
