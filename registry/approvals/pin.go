package approvals

import "strings"

// parts are the parts of a definition that a pin tells apart; see package pin.
var parts = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"}

// Digest returns the part of a pin that decides whether two definitions are equal.
// The rest tells the parts apart.
func Digest(pin string) string {
	digest, _, _ := strings.Cut(pin, ".")
	return digest
}

func changedParts(before, now string) []string {
	changes := []string{}
	_, before, _ = strings.Cut(before, ".")
	_, now, _ = strings.Cut(now, ".")
	var a, b string
	for _, part := range parts {
		a, before, _ = strings.Cut(before, ".")
		b, now, _ = strings.Cut(now, ".")
		if a != b {
			changes = append(changes, part)
		}
	}
	return changes
}

// sameExceptName reports whether two pins are of definitions that differ in their names only.
func sameExceptName(a, b string) bool {
	_, a, _ = strings.Cut(a, ".")
	_, b, _ = strings.Cut(b, ".")
	_, a, _ = strings.Cut(a, ".")
	_, b, _ = strings.Cut(b, ".")
	return a == b
}
