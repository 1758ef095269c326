package proxy

import "testing"

func TestFlags(t *testing.T) {
	for text, want := range map[string]bool{"true": true, " Yes ": true, "1": true, "on": true, "": false, "false": false, "0": false} {
		if got, err := Flag(func(string) string { return text }, "LOG_REFUSALS"); got != want || err != nil {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
	if _, err := Flag(func(string) string { return "all" }, "LOG_REFUSALS"); err == nil || err.Error() != "LOG_REFUSALS is neither true nor false" {
		t.Errorf("all: %v", err)
	}
}
