package convert

import (
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// inOneDocument makes all references of the schema begin at its root. Below a nested $id they begin there, and they may
// name a schema by its $id (core, 8.2.1). A schema whose pointer is longer than MaxBase stays as it is: each reference
// below it would get that pointer.
func (c *converter) inOneDocument() {
	ids := map[string]string{} // to pointers
	c.rebase(c.root, "#", "#", ids, false)
	if len(ids) > 0 {
		c.rebase(c.root, "#", "#", ids, true)
	}
}

// rebase notes the $id of schemas, or rewrites their references, which begin at the pointer base.
func (c *converter) rebase(s *rawjson.Node, path, base string, ids map[string]string, rewrite bool) {
	if s.Kind != 'o' || text.UTF16Len(path) > wire.MaxBase {
		return
	}
	id, _ := s.Get("$id").Text()
	if id, _, _ = strings.Cut(id, "#"); id != "" {
		ids[id], base = path, path
	}
	for i, key := range s.Keys {
		v, at := s.Values[i], path+fragment(key)
		switch ref, isText := v.Text(); {
		case key == "$ref" || key == "$dynamicRef" || key == "$recursiveRef":
			name, pointer, _ := strings.Cut(ref, "#")
			to := base
			if name != "" {
				to = ids[name]
			}
			if rewrite && isText && ref != "" && to != "" && (pointer == "" || pointer[0] == '/') {
				s.Values[i] = rawjson.NewString(to + pointer)
			}
		case !holdsSchemas(keywordShape(key)):
		case keywordShape(key) == 'S' && v.Kind == 'o':
			c.rebase(v, at, base, ids, rewrite)
		default:
			for j, sub := range v.Values {
				step := strconv.Itoa(j)
				if v.Kind == 'o' {
					step = v.Keys[j]
				}
				c.rebase(sub, at+fragment(step), base, ids, rewrite)
			}
		}
	}
}

// fragment returns a step of a JSON pointer in a fragment.
func fragment(name string) string { return strings.ReplaceAll(rawjson.Pointer("", name), "%", "%25") }

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
