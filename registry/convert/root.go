package convert

import (
	"slices"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// rootView resolves the input schema into a plain object. OpenAI refuses a root
// with oneOf, anyOf, allOf, enum or not, Anthropic one with the first three.
func (c *converter) rootView() view {
	v := view{schema: rawjson.NewObject()}
	if c.root != nil && c.root.Kind != 'o' {
		c.lose("", "inputSchema: not an object")
	} else if c.root != nil {
		if v = c.view(c.root, "", []string{"#"}); v.cycle != "" {
			v = view{schema: rawjson.NewObject(), notes: []string{c.note("", "$ref", rawjson.NewString(v.cycle))}}
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if v.schema.Get(key) != nil {
			c.fold(&v, key, "")
		}
	}
	for _, key := range []string{"enum", "const", "not"} {
		if value := v.schema.Get(key); value != nil {
			v.notes = append(v.notes, c.note("", key, value))
			v.schema.Delete(key)
		}
	}
	if t := v.schema.Get("type"); t != nil && !slices.Contains(t.Texts(), "object") {
		v.notes = append(v.notes, c.note("", "type", t))
	}
	v.schema.Set("type", rawjson.NewString("object"))
	if v.schema.Get("properties") == nil {
		v.schema.Set("properties", rawjson.NewObject())
	}
	return v
}

// fold turns a union of objects into one object with the properties of all
// alternatives. It requires the names that all require; the description has the rest.
func (c *converter) fold(v *view, key, path string) {
	alternatives := v.schema.Get(key).Values
	v.schema.Delete(key)
	c.lose(path, key+": one object with the properties of all alternatives, each described")

	base := v.schema.Get("properties")
	added := rawjson.NewObject() // to each name, the schemas that alternatives have for it
	var required []string
	var forms []string
	for i, s := range alternatives {
		w := c.view(s, rawjson.Pointer(rawjson.Pointer(path, key), strconv.Itoa(i)), v.refs)
		needs := w.schema.Get("required").Texts()
		needed := make(map[string]bool, len(needs))
		for _, name := range needs {
			needed[name] = true
		}
		if i == 0 {
			required = needs
		} else {
			required = slices.DeleteFunc(required, func(name string) bool { return !needed[name] })
		}
		forms = append(forms, describeForm(w.schema, needs, needed))
		describeSchema(w.schema, w.notes)
		about, _ := w.schema.Get("description").Text()
		if about == "" {
			about, _ = w.schema.Get("title").Text()
		}
		if about != "" && i < wire.MaxForms {
			v.notes = append(v.notes, strconv.Itoa(i+1)+": "+text.Clip(about))
		}
		properties := w.schema.Get("properties")
		if properties == nil {
			continue
		}
		for j, name := range properties.Keys {
			list := added.Get(name)
			if list == nil {
				list = rawjson.NewArray()
				added.Set(name, list)
			}
			list.Values = append(list.Values, properties.Values[j])
		}
	}

	properties := rawjson.NewObject()
	if base != nil {
		properties = c.bothProperties(base, properties)
	}
	for i, name := range added.Keys {
		list := added.Values[i].Values
		s := list[0]
		if different := rawjson.Distinct(list); len(different.Values) > 1 {
			s = newUnion("anyOf", different.Values...)
		}
		switch old := properties.Get(name); {
		case old == nil:
			properties.Set(name, s)
		case len(list) == len(alternatives): // otherwise an alternative leaves the property as it is
			properties.Set(name, bothOf(old, s))
		}
	}
	v.schema.Set("properties", properties)
	if len(required) > 0 {
		own := v.schema.Get("required").Texts()
		list := rawjson.NewArray()
		for _, name := range slices.Concat(own, required) {
			list.Values = append(list.Values, rawjson.NewString(name))
		}
		v.schema.Set("required", rawjson.Distinct(list.Values))
	}
	words := "at least one of these forms: "
	if key == "oneOf" {
		words = "exactly one of these forms: "
	}
	v.notes = append(v.notes, words+text.Clip(strings.Join(forms, " | ")))
}

// describeForm lists the properties of one alternative, optional ones with a question mark.
func describeForm(s *rawjson.Node, needs []string, needed map[string]bool) string {
	names := slices.Clone(needs)
	if properties := s.Get("properties"); properties != nil {
		for _, name := range properties.Keys {
			if !needed[name] {
				names = append(names, name+"?")
			}
		}
	}
	if len(names) == 0 {
		return s.Stringify()
	}
	return strings.Join(names, ", ")
}
