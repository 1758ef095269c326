package registry

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// TestLimitsFollowTheTable holds the fields of Limits to the rows of wire.Limits.
func TestLimitsFollowTheTable(t *testing.T) {
	var l Limits
	v := reflect.ValueOf(&l).Elem()
	if v.NumField() != len(wire.Limits) {
		t.Fatalf("%d fields, %d rows", v.NumField(), len(wire.Limits))
	}
	for i, row := range wire.Limits {
		name := strings.ToUpper(row.Name[:1]) + row.Name[1:]
		if !l.Set(row.Name, int64(i+1)) || v.FieldByName(name).Int() != int64(i+1) {
			t.Errorf("Set(%s) does not set %s", row.Name, name)
		}
		if got := reflect.ValueOf(Limits{}.WithDefaults()).FieldByName(name).Int(); got != int64(row.Default) {
			t.Errorf("%s is %d by default, want %d", name, got, row.Default)
		}
	}
	if l.Set("pages", 0) || l.Set("nothing", 1) || !l.Set("pages", 1<<40) || l.Pages != 1<<31-1 {
		t.Error("Set takes what is no limit")
	}
}

func TestStatusesFollowTheTable(t *testing.T) {
	servers := [...]string{ServerDisabled, ServerDisconnected, ServerConnecting, ServerConnected, ServerFailed}
	if servers != wire.ServerStatuses {
		t.Errorf("statuses of servers: %v, want %v", servers, wire.ServerStatuses)
	}
	registries := [...]string{StatusIdle, StatusDiscovering, StatusReady, StatusPartial}
	if registries != wire.RegistryStatuses {
		t.Errorf("statuses of registries: %v, want %v", registries, wire.RegistryStatuses)
	}
	if want := [...]string{TrustAll, AskOnChange, AskAlways}; want != [3]string(wire.TrustPolicies) {
		t.Errorf("policies: %v, want %v", want, wire.TrustPolicies)
	}
}

func TestNamesOfEveryObjectAreRefused(t *testing.T) {
	for _, name := range []string{"__proto__", "constructor", "toString", "hasOwnProperty", "__defineGetter__"} {
		if err := CheckName(name); !errors.Is(err, ErrInvalidConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"proto", "Constructor", "tostring", "__proto"} {
		if err := CheckName(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAHeaderIsConfiguredOnce(t *testing.T) {
	cfg := ServerConfig{URL: "https://example.com/mcp", Headers: map[string]string{"X-Key": "a", "x-key": "b"}}
	if err := cfg.Check(); !errors.Is(err, ErrInvalidConfig) || !strings.Contains(err.Error(), `header "x-key" is configured twice`) {
		t.Error(err)
	}
	delete(cfg.Headers, "x-key")
	if err := cfg.Check(); err != nil {
		t.Error(err)
	}
}

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
