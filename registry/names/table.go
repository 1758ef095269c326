package names

// A Table finds entries by name. A map costs five times as much in WebAssembly,
// most of the time of a list in a fresh page. Names of equal hash make a search
// longer; the limits on tools bound that.
//
// The table probes linearly and is at most three quarters full. The zero Table is
// empty and ready to use.
type Table[T any] struct {
	slots []slot[T] // a power of two, or none
	n     int
}

type slot[T any] struct {
	hash  uint32
	name  string
	entry *T // nil: free
}

func hashName(name string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := 0; i < len(name); i++ {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h ^ h>>15
}

// find returns the index of name, or of the slot that it would take.
func (t *Table[T]) find(hash uint32, name string) uint32 {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.entry == nil || s.hash == hash && s.name == name {
			return i
		}
	}
}

// Get returns the entry of that name, or nil.
func (t *Table[T]) Get(name string) *T {
	if t.n == 0 {
		return nil
	}
	return t.slots[t.find(hashName(name), name)].entry
}

// Add puts an entry in and reports whether the name was free. An entry that has
// the name already stays.
func (t *Table[T]) Add(name string, entry *T) bool {
	t.Reserve(1)
	hash := hashName(name)
	s := &t.slots[t.find(hash, name)]
	if s.entry != nil {
		return false
	}
	*s = slot[T]{hash, name, entry}
	t.n++
	return true
}

// Reserve makes room for n more entries.
func (t *Table[T]) Reserve(n int) {
	if (t.n+n)*4 <= len(t.slots)*3 {
		return
	}
	size := 8
	for size*3/4 < max(t.n+n, 2*t.n) {
		size *= 2
	}
	old := t.slots
	t.slots = make([]slot[T], size)
	for i := range old {
		if s := &old[i]; s.entry != nil {
			t.slots[t.find(s.hash, s.name)] = *s
		}
	}
}

// Remove removes the entry of that name, if there is one.
func (t *Table[T]) Remove(name string) {
	if t.n == 0 {
		return
	}
	free := t.find(hashName(name), name)
	if t.slots[free].entry == nil {
		return
	}
	t.slots[free] = slot[T]{}
	t.n--
	// Entries that were pushed past the freed slot move up.
	mask := uint32(len(t.slots) - 1)
	for i := (free + 1) & mask; t.slots[i].entry != nil; i = (i + 1) & mask {
		home := t.slots[i].hash & mask
		if (i-home)&mask >= (i-free)&mask {
			t.slots[free] = t.slots[i]
			t.slots[i] = slot[T]{}
			free = i
		}
	}
}
