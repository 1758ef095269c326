package text

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func TestKeys(t *testing.T) {
	for n := range 200 {
		of := map[string]bool{}
		for range n {
			of[strconv.Itoa(rand.IntN(n))] = true
		}
		if got, want := Keys(of), slices.Sorted(maps.Keys(of)); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
