package convert

import (
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// brokenRefs returns the schemas of the root whose reference leads to no schema, or to
// itself without a step into the value. Vendors refuse the request for the former, and a
// validator that follows the latter never ends (core, 9.4.1).
func (c *converter) brokenRefs() map[*rawjson.Node]bool {
	w := &refWalk{c: c, state: map[*rawjson.Node]visit{}, broken: map[*rawjson.Node]bool{}}
	w.collect(c.root)
	for _, s := range w.schemas {
		w.visit(s, 0)
	}
	return w.broken
}

type visit byte

const (
	unvisited visit = iota + 1
	underWay
	visited
)

type refWalk struct {
	c       *converter
	schemas []*rawjson.Node // those with a reference, in order
	state   map[*rawjson.Node]visit
	broken  map[*rawjson.Node]bool
}

func (w *refWalk) collect(s *rawjson.Node) {
	if s.Kind != 'o' {
		return
	}
	if s.Get("$ref") != nil {
		w.schemas = append(w.schemas, s)
	}
	w.state[s] = unvisited
	for i, key := range s.Keys {
		for _, sub := range subschemas(key, s.Values[i]) {
			w.collect(sub)
		}
	}
}

// visit follows what applies to the same value as s. It reports whether that leads to a
// schema under way. The last reference on such a way is broken.
func (w *refWalk) visit(s *rawjson.Node, depth int) (loops bool) {
	if s.Kind != 'o' || w.state[s] == visited {
		return false
	}
	if w.state[s] == underWay || depth > wire.MaxRefs {
		return true
	}
	w.state[s] = underWay
	if ref, ok := s.Get("$ref").Text(); ok {
		target := w.c.lookup(ref)
		if target == nil || target.Kind == 'o' && w.state[target] == 0 || w.visit(target, depth+1) {
			w.broken[s] = true
		}
	}
	for _, key := range wire.SameValue {
		for _, sub := range subschemas(key, s.Get(key)) {
			loops = w.visit(sub, depth+1) || loops
		}
	}
	w.state[s] = visited
	return loops
}

// subschemas returns the schemas in the value of a keyword.
func subschemas(key string, v *rawjson.Node) []*rawjson.Node {
	switch shape := keywordShape(key); {
	case v == nil || !holdsSchemas(shape):
		return nil
	case shape == 'S':
		return []*rawjson.Node{v}
	}
	return v.Values
}
