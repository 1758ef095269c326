//go:build !js

package proxy

import (
	"net/http/httptest"
	"strconv"
	"testing"
	"time"
)

func TestRates(t *testing.T) {
	r := rates{}
	now := time.Date(2026, 11, 21, 12, 0, 1, 0, time.UTC)
	for i, row := range []struct {
		key   string
		after time.Duration
		want  bool
	}{
		{"a", 0, true}, {"a", 0, true}, {"a", 0, false}, {"b", 0, true}, {"a", 58 * time.Second, false}, {"a", time.Second,
			true},
	} {
		now = now.Add(row.after)
		if got := r.allow(row.key, 2, now); got != row.want {
			t.Errorf("%d: %s: %v", i, row.key, got)
		}
	}
}

func TestRatesOfMany(t *testing.T) {
	r := rates{}
	now := time.Now()
	r.allow("a", 2, now)
	for i := range 3 * maxRated {
		r.allow(strconv.Itoa(i), 2, now)
	}
	if len(r.counts) > maxRated+1 {
		t.Errorf("%d keys are remembered", len(r.counts))
	}
	if !r.allow("a", 2, now) || r.allow("a", 2, now) {
		t.Error("a key that came early does not count by itself")
	}
	if r.allow("another", 2, now) {
		t.Error("keys past the bound are not limited together")
	}
}

// Callers behind a reverse proxy have the addresses that it says, and none that they say themselves.
func TestClientBehindAReverseProxy(t *testing.T) {
	cfg, err := Env(func(name string) string {
		return map[string]string{"TRUSTED_PROXIES": "127.0.0.1 10.0.0.0/8, ::1"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Env(func(name string) string { return map[string]string{"TRUSTED_PROXIES": "localhost"}[name] }); err == nil {
		t.Error("a name was read")
	}
	for _, row := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"127.0.0.1:5", []string{"203.0.113.7"}, "203.0.113.7"},
		{"[::1]:5", []string{"198.51.100.1, 203.0.113.7, 10.1.2.3"}, "203.0.113.7"}, // the first is the caller's own claim
		{"10.0.0.1:5", []string{"198.51.100.1", "2001:db8::1"}, "2001:db8::1"},
		{"[::ffff:127.0.0.1]:5", []string{"203.0.113.7:4711"}, "203.0.113.7"},
		{"127.0.0.1:5", nil, "127.0.0.1"},
		{"127.0.0.1:5", []string{"203.0.113.7, unknown"}, "127.0.0.1"},
		{"203.0.113.9:5", []string{"203.0.113.7"}, "203.0.113.9"},
	} {
		r := httptest.NewRequest("POST", "/", nil)
		r.RemoteAddr, r.Header["X-Forwarded-For"] = row.remote, row.forwarded
		if got := (&exchange{p: &Policy{cfg: cfg}, r: r}).client(); got != row.want {
			t.Errorf("%s, %q: %s, want %s", row.remote, row.forwarded, got, row.want)
		}
	}
}
