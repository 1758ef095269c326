package convert

import (
	"slices"
	"strconv"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// jsonSchema returns the input schema as JSON Schema 2020-12 with a plain object
// as its root. Properties of the root that accepts, if not nil, refuses by their
// names move into the description.
func (c *converter) jsonSchema(accepts func(key string) bool) *rawjson.Node {
	c.budget = wire.MaxSchemas
	v := c.rootView()
	if accepts != nil {
		c.dropProperties(&v, accepts)
	}
	out := c.copySchema(v.schema, "", 0)
	describeSchema(out, v.notes)
	c.root = out
	c.dropBroken(out, "", c.brokenRefs())
	return out
}

func (c *converter) dropProperties(v *view, accepts func(string) bool) {
	old := v.schema.Get("properties")
	kept := rawjson.NewObject()
	for i, name := range old.Keys {
		if accepts(name) {
			kept.Set(name, old.Values[i])
			continue
		}
		c.lose(rawjson.Pointer("/properties", name), "property: its name is refused, moved into the description")
		v.notes = append(v.notes, "property "+rawjson.NewString(name).Stringify()+": "+text.Clip(old.Values[i].Stringify()))
	}
	v.schema.Set("properties", kept)
	if required := v.schema.Get("required"); required != nil {
		list := slices.DeleteFunc(slices.Clone(required.Values), func(n *rawjson.Node) bool {
			name, _ := n.Text()
			return !accepts(name)
		})
		v.schema.Set("required", rawjson.NewArray(list...))
	}
}

// copySchema returns s and its subschemas, each as [converter.shape] returns it.
func (c *converter) copySchema(s *rawjson.Node, path string, depth int) *rawjson.Node {
	if depth > wire.MaxSchemaDepth || !c.spend(1) {
		c.lose(path, "cut: the schema is too large")
		out := rawjson.NewObject()
		describeSchema(out, []string{"cut: the schema is too large"})
		return out
	}
	out, notes := c.shape(s, path)
	for i, key := range out.Keys {
		out.Values[i] = c.copyKeyword(key, out.Values[i], rawjson.Pointer(path, key), depth+1)
	}
	if slices.Contains(out.Get("type").Texts(), "array") && out.Get("items") == nil {
		out.Set("items", rawjson.NewObject()) // OpenAI refuses an array without items
	}
	describeSchema(out, notes)
	return out
}

func (c *converter) copyKeyword(key string, v *rawjson.Node, path string, depth int) *rawjson.Node {
	switch keywordShape(key) {
	case 'S':
		if v.Kind == 'o' || key == "items" {
			return c.copySchema(v, path, depth)
		}
	case 'M', 'X':
		out := rawjson.NewObject()
		out.Keys = v.Keys
		for i, s := range v.Values {
			out.Values = append(out.Values, c.copySchema(s, rawjson.Pointer(path, v.Keys[i]), depth))
		}
		return out
	case 'L':
		out := rawjson.NewArray()
		for i, s := range v.Values {
			out.Values = append(out.Values, c.copySchema(s, rawjson.Pointer(path, strconv.Itoa(i)), depth))
		}
		return out
	}
	return v
}

// dropBroken moves the references of the schemas in broken into their descriptions.
func (c *converter) dropBroken(s *rawjson.Node, path string, broken map[*rawjson.Node]bool) {
	if broken[s] {
		ref := s.Get("$ref")
		s.Delete("$ref")
		describeSchema(s, []string{c.note(path, "$ref", ref)})
	}
	for i, key := range s.Keys {
		v, path := s.Values[i], rawjson.Pointer(path, key)
		switch keywordShape(key) {
		case 'S':
			c.dropBroken(v, path, broken)
		case 'M', 'X', 'L':
			for j, s := range v.Values {
				step := strconv.Itoa(j)
				if v.Kind == 'o' {
					step = v.Keys[j]
				}
				c.dropBroken(s, rawjson.Pointer(path, step), broken)
			}
		}
	}
}
