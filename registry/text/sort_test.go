package text

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func TestSort(t *testing.T) {
	for n := range 200 {
		all := make([]string, n)
		for i := range all {
			all[i] = strconv.Itoa(rand.IntN(n))
		}
		want := slices.Sorted(slices.Values(all))
		if got := Sorted(slices.Values(all)); !slices.Equal(got, want) {
			t.Errorf("%q of %q", got, all)
		}
	}
}
