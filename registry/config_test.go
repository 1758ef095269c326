package registry

import (
	"errors"
	"reflect"
	"strings"
	"testing"

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
