package convert

import (
	"slices"
	"strconv"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// A view is a schema with its reference followed and its allOf merged in. Its own
// keywords are complete.
type view struct {
	schema *rawjson.Node // a copy that may be changed; its subschemas are the source's
	notes  []string
	refs   []string // references that were followed to get here
	cycle  string   // the reference that leads back to where it came from, or ""
}

// view resolves the schema s. Merging follows the annotation rule of the spec
// (core, 7.7.1): the nearer keyword wins, and descriptions are joined.
func (c *converter) view(s *rawjson.Node, path string, refs []string) view {
	v := view{refs: refs}
	if !c.spend(1) || len(refs) > wire.MaxRefs {
		c.lose(path, "cut: the schema is too large")
		v.schema, v.notes = rawjson.NewObject(), []string{"cut: the schema is too large"}
		return v
	}
	v.schema, v.notes = c.shape(s, path)
	if ref := v.schema.Get("$ref"); ref != nil {
		v.schema.Delete("$ref")
		pointer, _ := ref.Text()
		target := c.lookup(pointer)
		switch {
		case target == nil:
			v.notes = append(v.notes, c.note(path, "$ref", ref))
		case slices.Contains(refs, pointer):
			v.cycle = pointer
		default:
			// Copying a large target costs more, or a thousand references would
			// make a thousand copies of it.
			c.spend(text.UTF16Len(target.Stringify()) / 2000)
			v.merge(c, c.view(target, path, append(slices.Clip(refs), pointer)), path)
		}
	}
	if list := v.schema.Get("allOf"); list != nil {
		v.schema.Delete("allOf")
		for i, s := range list.Values {
			v.merge(c, c.view(s, rawjson.Pointer(rawjson.Pointer(path, "allOf"), strconv.Itoa(i)), refs), path)
		}
	}
	return v
}

// merge adds the constraints of w to v.
func (v *view) merge(c *converter, w view, path string) {
	v.notes = append(v.notes, w.notes...)
	for _, ref := range w.refs {
		if !slices.Contains(v.refs, ref) {
			v.refs = append(slices.Clip(v.refs), ref)
		}
	}
	if w.cycle != "" {
		v.notes = append(v.notes, c.note(path, "$ref", rawjson.NewString(w.cycle)))
	}
	for i, key := range w.schema.Keys {
		theirs := w.schema.Values[i]
		ours := v.schema.Get(key)
		switch {
		case ours == nil:
			v.schema.Set(key, theirs)
		case key == "properties":
			v.schema.Set(key, c.bothProperties(ours, theirs))
		case key == "$defs" || key == "definitions" || key == "title" || c.same(ours, theirs):
		case key == "description":
			a, _ := ours.Text()
			b, _ := theirs.Text()
			v.schema.Set(key, rawjson.NewString(a+" "+b))
		case key == "required":
			v.schema.Set(key, rawjson.Distinct(slices.Concat(ours.Values, theirs.Values)))
		case key == "type" && commonTypes(ours, theirs) != nil:
			v.schema.Set(key, commonTypes(ours, theirs))
		default:
			v.notes = append(v.notes, c.note(path, key, theirs))
		}
	}
}

// same reports whether two values are equal. Many parts make one value ever larger, so
// that its text counts.
func (c *converter) same(ours, theirs *rawjson.Node) bool {
	written := ours.Stringify()
	c.spend(text.UTF16Len(written) / 2000)
	return written == theirs.Stringify()
}

// bothProperties returns properties that satisfy both objects of schemas.
func (c *converter) bothProperties(a, b *rawjson.Node) *rawjson.Node {
	out := &rawjson.Node{Kind: 'o', Keys: slices.Clone(a.Keys), Values: slices.Clone(a.Values)}
	for i, key := range b.Keys {
		s := b.Values[i]
		if old := out.Get(key); old != nil && !c.same(old, s) {
			s = bothOf(old, s)
		}
		out.Set(key, s)
	}
	return out
}

func bothOf(a, b *rawjson.Node) *rawjson.Node { return newUnion("allOf", a, b) }

func newUnion(keyword string, schemas ...*rawjson.Node) *rawjson.Node {
	s := rawjson.NewObject()
	s.Set(keyword, rawjson.NewArray(schemas...))
	return s
}

// commonTypes intersects two type keywords; nil means that they contradict.
func commonTypes(a, b *rawjson.Node) *rawjson.Node {
	as, bs := a.Texts(), b.Texts()
	has := func(list []string, t string) bool {
		return slices.Contains(list, t) || t == "integer" && slices.Contains(list, "number")
	}
	var names []*rawjson.Node
	for _, t := range as {
		if has(bs, t) {
			names = append(names, rawjson.NewString(t))
		} else if t == "number" && has(bs, "integer") {
			names = append(names, rawjson.NewString("integer"))
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return names[0]
	}
	return rawjson.Distinct(names)
}

// lookup returns the schema that a reference names within the input schema, or nil.
func (c *converter) lookup(ref string) *rawjson.Node {
	if n := c.root.Resolve(ref); n != nil && isSchema(n) {
		return n
	}
	return nil
}
