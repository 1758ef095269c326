package validate

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// hasType reports whether value has one of the types. A keyword without a known
// type allows every value.
func hasType(value *rawjson.Node, types []string) bool {
	if len(types) == 0 {
		return true
	}
	for _, t := range types {
		switch {
		case t == rawjson.KindName(value.Kind), !slices.Contains(wire.TypeNames, t):
			return true
		case t == "integer" && value.Kind == 'n' && isWhole(value.Raw):
			return true
		}
	}
	return false
}

// isWhole holds for integers of any size, too.
func isWhole(raw []byte) bool {
	if isIntegerText(raw) {
		return true
	}
	n, ok := rawjson.Float(raw)
	return ok && n == math.Trunc(n)
}

func isIntegerText(raw []byte) bool {
	return !strings.ContainsAny(string(raw), ".eE")
}

// compareNumbers returns the sign of a-b. It is exact for integers of 64 bits, and
// compares other numbers as doubles.
func compareNumbers(a, b []byte) int {
	x, okX := rawjson.Int(a)
	y, okY := rawjson.Int(b)
	if okX && okY {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(approximate(a), approximate(b))
}

// approximate reads a number; one that is out of range becomes an infinity.
func approximate(raw []byte) float64 {
	if n, ok := rawjson.Float(raw); ok {
		return n
	}
	return math.Inf(1 - 2*strings.Count(string(raw[:1]), "-"))
}

// isMore reports whether a is more than b. Different numbers that are equal as doubles
// count as more, because doubles cannot tell.
func isMore(a, b []byte) bool {
	order := compareNumbers(a, b)
	return order > 0 || order == 0 && !equalNumbers(a, b)
}

func article(noun string) string {
	switch {
	case strings.HasPrefix(noun, "null"):
		return noun
	case strings.IndexByte("aeiou", noun[0]) >= 0:
		return "an " + noun
	}
	return "a " + noun
}

// equal compares as JSON Schema does: 1.0 equals 1, and members have no order.
func (v *validator) equal(a, b *rawjson.Node) bool {
	v.work++
	if a.Kind != b.Kind || len(a.Values) != len(b.Values) {
		return false
	}
	switch a.Kind {
	case 'o':
		for i, key := range a.Keys {
			if other := b.Get(key); other == nil || !v.equal(a.Values[i], other) {
				return false
			}
		}
		return true
	case 'a':
		return slices.EqualFunc(a.Values, b.Values, v.equal)
	case 'n':
		return equalNumbers(a.Raw, b.Raw)
	case 's':
		if string(a.Raw) == string(b.Raw) {
			return true
		}
		x, _ := a.Text()
		y, _ := b.Text()
		return x == y
	}
	return string(a.Raw) == string(b.Raw)
}

func equalNumbers(a, b []byte) bool {
	if string(a) == string(b) {
		return true
	}
	_, okA := rawjson.Int(a)
	_, okB := rawjson.Int(b)
	if isIntegerText(a) && isIntegerText(b) && !(okA && okB) {
		return false // too large for a double to tell
	}
	return compareNumbers(a, b) == 0
}
