package convert

import (
	"slices"
	"strconv"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// geminiParameters returns the input schema as Gemini's Schema. The API refuses:
//   - a schema without a type, or with several
//   - fields beside anyOf (Vertex), and fields of another type
//   - an enum that is not of non-empty strings
//   - an array without items
//   - required names without a property
//   - unknown formats
func (c *converter) geminiParameters() *rawjson.Node {
	c.budget = wire.MaxGeminiNodes
	return c.gemini(c.rootView(), "", 0)
}

// geminiAt translates the schema s, which was reached through refs.
func (c *converter) geminiAt(s *rawjson.Node, path string, depth int, refs []string) *rawjson.Node {
	if depth > wire.MaxGeminiDepth {
		c.lose(path, "cut: nested too deep")
		return placeholder("object", nil, []string{"cut: nested too deep"})
	}
	v := c.view(s, path, refs)
	if v.cycle == "" {
		return c.gemini(v, path, depth)
	}
	c.lose(path, "$ref: recursion cut")
	t := "object"
	for _, name := range c.lookup(v.cycle).Get("type").Texts() {
		if slices.Contains(wire.TypeNames[:6], name) {
			t = name
			break
		}
	}
	return placeholder(t, v.schema.Get("description"), []string{"again as in " + text.Clip(v.cycle)})
}

// placeholder returns a schema in place of one that is not converted.
func placeholder(t string, description *rawjson.Node, notes []string) *rawjson.Node {
	out := rawjson.NewObject()
	out.Set("type", rawjson.NewString(t))
	if t == "array" {
		out.Set("items", placeholder("object", nil, nil))
	}
	if description != nil {
		out.Set("description", description)
	}
	describeSchema(out, notes)
	return out
}

// gemini translates a resolved schema.
func (c *converter) gemini(v view, path string, depth int) *rawjson.Node {
	c.narrowUnion(&v, path)
	if key := unionKey(v.schema); key != "" {
		nullable := v.schema.Get("nullable").IsTrue()
		parts, null := c.alternatives(&v, key, path, depth)
		return c.assemble(&v, parts, nullable || null, path)
	}
	types, enum, nullable := c.geminiTypes(&v, path)
	var parts []*rawjson.Node
	for _, t := range types {
		parts = append(parts, c.geminiPart(&v, t, enum, path, depth))
	}
	switch {
	case len(types) == 0 && nullable:
		parts = c.nullOnly(&v, path)
	case len(types) == 0:
		c.lose(path, "anything: arrays only of strings")
		parts = anything()
	}
	c.geminiNotes(&v, types, path)
	return c.assemble(&v, parts, nullable, path)
}

func (c *converter) nullOnly(v *view, path string) []*rawjson.Node {
	c.lose(path, "type: null only")
	v.notes = append(v.notes, "null only")
	return []*rawjson.Node{placeholder("string", nil, nil)}
}

// assemble makes one schema of alternatives. Beside anyOf nothing may stand, so
// that a union's description moves to its first alternative.
func (c *converter) assemble(v *view, parts []*rawjson.Node, nullable bool, path string) *rawjson.Node {
	if len(parts) > 1 {
		parts = rawjson.Distinct(parts).Values
	}
	title, fallback := v.schema.Get("title"), v.schema.Get("default")
	if len(parts) > 1 && fallback != nil {
		v.notes = append(v.notes, c.note(path, "default", fallback))
	}
	if nullable {
		for _, p := range parts {
			p.Set("nullable", rawjson.NewScalar("true"))
		}
	}
	head := parts[0]
	own, _ := v.schema.Get("description").Text()
	if own == "" && len(parts) > 1 {
		own, _ = title.Text()
	}
	about := rawjson.NewObject()
	if own != "" {
		about.Set("description", rawjson.NewString(own))
	}
	describeSchema(about, v.notes)
	words, _ := about.Get("description").Text()
	inner, _ := head.Get("description").Text()
	if words != "" && inner != "" {
		words += " "
	}
	if words += inner; words != "" {
		head.Set("description", rawjson.NewString(words))
	}
	if len(parts) > 1 {
		return newUnion("anyOf", parts...)
	}
	if title != nil && head.Get("title") == nil {
		head.Set("title", title)
	}
	if fallback != nil && head.Get("default") == nil {
		head.Set("default", fallback)
	}
	return head
}

func anything() []*rawjson.Node {
	list := placeholder("array", nil, nil)
	list.Set("items", placeholder("string", nil, nil))
	parts := []*rawjson.Node{}
	for _, t := range []string{"string", "number", "boolean", "object"} {
		parts = append(parts, placeholder(t, nil, nil))
	}
	return append(parts, list)
}

// geminiTypes returns the types except null that a schema without a union allows,
// the strings of its enum (nil: any), and whether it allows null.
func (c *converter) geminiTypes(v *view, path string) (types []string, enum []*rawjson.Node, nullable bool) {
	s := v.schema
	types = s.Get("type").Texts()
	nullable = slices.Contains(types, "null")
	values, keyword := s.Get("enum"), "enum"
	if one := s.Get("const"); one != nil {
		if values != nil {
			v.notes = append(v.notes, c.note(path, "enum", values))
		}
		values, keyword = rawjson.NewArray(one), "const"
	}
	if values != nil {
		var kinds []string
		for _, e := range values.Values {
			kinds = append(kinds, valueType(e))
		}
		nullable = slices.Contains(kinds, "null") && (len(types) == 0 || nullable)
		if len(types) == 0 {
			types = kinds
		}
		enum = c.geminiEnum(v, keyword, values, slices.Contains(types, "string"), path)
	} else if len(types) == 0 {
		types = inferType(s)
	}
	var out []string
	for _, t := range types {
		if t != "null" && !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out, enum, nullable || s.Get("nullable").IsTrue()
}

// geminiEnum returns the strings among the values. Gemini lists nothing else: an
// enum with other values moves into the description.
func (c *converter) geminiEnum(
	v *view, keyword string, values *rawjson.Node, strings bool, path string,
) []*rawjson.Node {
	if len(values.Values) > wire.MaxGeminiEnum {
		c.lose(path, keyword+": too many values, moved into the description")
		some := rawjson.NewArray(values.Values[:20]...).Stringify()
		v.notes = append(v.notes, strconv.Itoa(len(values.Values))+" values, such as "+text.Clip(some))
		return nil
	}
	var enum []*rawjson.Node
	described := false
	for _, e := range rawjson.Distinct(values.Values).Values {
		switch text, ok := e.Text(); {
		case ok && text != "" && strings:
			enum = append(enum, e)
		case e.Kind != '0':
			described = true
		}
	}
	if described {
		if one := values.Values[0]; keyword == "const" {
			values = one
		}
		v.notes = append(v.notes, c.note(path, keyword, values))
	}
	return enum
}

func valueType(v *rawjson.Node) string {
	if _, whole := rawjson.Int(v.Raw); v.Kind == 'n' && whole {
		return "integer"
	}
	return rawjson.KindName(v.Kind)
}
