package bridge

import (
	"strings"
	"testing"
)

// A claim that the extension changes is none that a rule can be compared with.
func TestClaimsThatAnExtensionKeeps(t *testing.T) {
	for claim, want := range map[string]bool{
		"Claude Desktop":                 true,
		"2 /home/ada/ships":              true,
		"Žluťoučký kůň ✓":                true,
		"":                               false,
		" Claude":                        false,
		"Claude\u00ad Desktop":           false, // a soft hyphen
		"Claude\u0378":                   false, // unassigned
		"Claude\u00a0Desktop":            false, // a space that trim removes at an end
		"Claude\nDesktop":                false,
		strings.Repeat("x", 80):          true,
		strings.Repeat("x", 81):          false,
		"1 /" + strings.Repeat("d/", 60): false,
	} {
		if got := isKept(claim); got != want {
			t.Errorf("isKept(%q) = %v", claim, got)
		}
	}
}
