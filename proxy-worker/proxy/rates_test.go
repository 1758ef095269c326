//go:build !js

package proxy

import (
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
