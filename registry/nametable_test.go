package registry

import (
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestNameTable compares the table with a map over random additions and removals.
func TestNameTable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var table nameTable
	want := map[string]*Tool{}
	for step := range 50_000 {
		name := "s__" + strconv.Itoa(random.IntN(300))
		switch {
		case random.IntN(2) == 0:
			tool := &Tool{Name: name}
			if got := table.add(tool); got != want[name] {
				t.Fatalf("step %d: add %s: there was %p, want %p", step, name, got, want[name])
			}
			if want[name] == nil {
				want[name] = tool
			}
		default:
			table.remove(name)
			delete(want, name)
		}
		if got := table.get(name); got != want[name] || table.n != len(want) {
			t.Fatalf("step %d: get %s: %p of %d, want %p of %d", step, name, got, table.n, want[name], len(want))
		}
	}
	for i := range 400 {
		name := "s__" + strconv.Itoa(i)
		if got := table.get(name); got != want[name] {
			t.Errorf("get %s: %p, want %p", name, got, want[name])
		}
	}
}

// TestNameTableOfOneHash fills a table with names that all want the same slot.
func TestNameTableOfOneHash(t *testing.T) {
	table := newNameTable(100)
	var names []string
	for i := 0; len(names) < 100; i++ {
		if name := strconv.Itoa(i); hashName(name)%uint32(len(table.slots)) == 7 {
			names = append(names, name)
			table.add(&Tool{Name: name})
		}
	}
	for i, name := range names {
		if i%2 == 0 {
			table.remove(name)
		}
	}
	for i, name := range names {
		if got := table.get(name) != nil; got != (i%2 == 1) {
			t.Errorf("name %d is there: %v", i, got)
		}
	}
}
