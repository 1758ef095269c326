package registry

// A nameTable finds tools by model name. A map does the same at five times the
// cost in WebAssembly, most of a list's time in a fresh page. Whoever fills it
// with names of equal hash pays by a longer search, which limits bound.
//
// It probes linearly, and is never more than three quarters full.
type nameTable struct {
	slots []nameSlot // a power of two, or none
	n     int
}

type nameSlot struct {
	hash uint32
	tool *Tool // nil: free
}

// newNameTable returns a table with room for n tools.
func newNameTable(n int) nameTable {
	size := 8
	for size*3/4 < n {
		size *= 2
	}
	return nameTable{slots: make([]nameSlot, size)}
}

func hashName(name string) uint32 {
	h := uint32(2166136261) // FNV-1a
	for i := 0; i < len(name); i++ {
		h = (h ^ uint32(name[i])) * 16777619
	}
	return h ^ h>>15
}

// find returns where name is, or where it would be put.
func (t *nameTable) find(hash uint32, name string) uint32 {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.tool == nil || s.hash == hash && s.tool.Name == name {
			return i
		}
	}
}

// get returns the tool of that name, or nil.
func (t *nameTable) get(name string) *Tool {
	if t.n == 0 {
		return nil
	}
	return t.slots[t.find(hashName(name), name)].tool
}

// add puts a tool in, unless there is one of its name; that one is returned.
func (t *nameTable) add(tool *Tool) (there *Tool) {
	t.reserve(1)
	hash := hashName(tool.Name)
	s := &t.slots[t.find(hash, tool.Name)]
	if s.tool == nil {
		*s = nameSlot{hash, tool}
		t.n++
		return nil
	}
	return s.tool
}

// reserve makes room for n more tools.
func (t *nameTable) reserve(n int) {
	if (t.n+n)*4 <= len(t.slots)*3 {
		return
	}
	old := t.slots
	*t = newNameTable(max(t.n+n, 2*t.n))
	for i := range old {
		if tool := old[i].tool; tool != nil {
			t.slots[t.find(old[i].hash, tool.Name)] = old[i]
			t.n++
		}
	}
}

// remove takes the tool of that name out, if there is one.
func (t *nameTable) remove(name string) {
	if t.n == 0 {
		return
	}
	free := t.find(hashName(name), name)
	if t.slots[free].tool == nil {
		return
	}
	t.slots[free] = nameSlot{}
	t.n--
	// Whoever had to go past the slot that is free now moves up.
	mask := uint32(len(t.slots) - 1)
	for i := (free + 1) & mask; t.slots[i].tool != nil; i = (i + 1) & mask {
		home := t.slots[i].hash & mask
		if (i-home)&mask >= (i-free)&mask {
			t.slots[free] = t.slots[i]
			t.slots[i] = nameSlot{}
			free = i
		}
	}
}
