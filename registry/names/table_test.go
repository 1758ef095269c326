package names

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestTable compares the table with a map over random additions and removals.
func TestTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var table Table[string]
	want := map[string]*string{}
	for step := range 50_000 {
		name := "s__" + strconv.Itoa(random.IntN(300))
		switch {
		case random.IntN(2) == 0:
			added := table.Add(name, &name)
			if free := want[name] == nil; added != free {
				t.Fatalf("step %d: add %s: %v, want %v", step, name, added, free)
			}
			if added {
				want[name] = &name
			}
		default:
			table.Remove(name)
			delete(want, name)
		}
		if got := table.Get(name); got != want[name] || table.n != len(want) {
			t.Fatalf("step %d: get %s: %p of %d, want %p of %d", step, name, got, table.n, want[name], len(want))
		}
	}
	for i := range 400 {
		name := "s__" + strconv.Itoa(i)
		if got := table.Get(name); got != want[name] {
			t.Errorf("get %s: %p, want %p", name, got, want[name])
		}
	}
}

// TestTableOfOneHash fills a table with names of the same slot.
func TestTableOfOneHash(t *testing.T) {
	var table Table[string]
	table.Reserve(100)
	var names []string
	for i := 0; len(names) < 100; i++ {
		if name := strconv.Itoa(i); hashName(name)%uint32(len(table.slots)) == 7 {
			names = append(names, name)
			table.Add(name, &name)
		}
	}
	for i, name := range names {
		if i%2 == 0 {
			table.Remove(name)
		}
	}
	for i, name := range names {
		if got := table.Get(name) != nil; got != (i%2 == 1) {
			t.Errorf("name %d is there: %v", i, got)
		}
	}
}
