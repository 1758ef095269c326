package registry

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOverrideArguments(t *testing.T) {
	const o = `{"hideParams": ["limit"], "fixed": {"who": "me", "n": 12345678901234567890}}`
	for _, row := range []struct{ override, args, want string }{
		{``, `{"a": 1}`, `{"a": 1}`},
		{`{"name": "b"}`, `{"a": 1}`, `{"a": 1}`},
		{o, `{}`, `{"who":"me","n":12345678901234567890}`},
		{o, `{"a": [1], "limit": 5, "who": "you"}`, `{"a":[1],"who":"me","n":12345678901234567890}`},
		{o, `{"\u0077ho": "you", "big": 9007199254740993}`, `{"big":9007199254740993,"who":"me","n":12345678901234567890}`},
		{`{"hideParams": ["a"]}`, `{"a": 1}`, `{}`},
		{o, `{"a": `, `{"a": `},
		{o, `[]`, `[]`},
	} {
		got := string(overrideArguments([]byte(row.override), []byte(row.args)))
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", row.args, diff)
		}
	}
}

func TestOverridesAreChecked(t *testing.T) {
	for overrides, sound := range map[string]bool{
		`{}`: true,
		`{"a": {"name": "x", "title": "T", "description": "D", "hideParams": ["p"], "fixed": {"q": 1}}}`: true,
		`{"a": {"name": "x"}, "b": {"name": "x"}}`:                                                       false,
		`{"a": {"name": ""}}`:   false,
		`{"a": {"fixed": []}}`:  false,
		`{"a": {"title": 1}}`:   false,
		`{"a": {"hidden": []}}`: false,
		`{"a": {"description": "` + strings.Repeat("x", 1<<17) + `"}}`: false,
		`[]`: false,
	} {
		cfg := ServerConfig{URL: "https://example.com/mcp", Overrides: []byte(overrides)}
		if err := cfg.Check(); (err == nil) != sound || err != nil && !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%.60s: %v", overrides, err)
		}
	}
}
