package convert

import (
	"slices"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// isGeminiFormat reports whether Gemini knows a format of a type.
func isGeminiFormat(t, format string) bool {
	for _, row := range wire.GeminiFormats {
		if row.Type == t {
			return slices.Contains(row.Formats, format)
		}
	}
	return false
}

func inferType(s *rawjson.Node) []string {
	for _, row := range wire.GeminiTypes {
		for _, key := range slices.Concat(row.Kept, row.Described) {
			if s.Get(key) != nil {
				return []string{row.Name}
			}
		}
	}
	if s.Get("format") != nil {
		return []string{"string"}
	}
	return nil
}

// geminiPart translates the keywords of a schema that concern one type.
func (c *converter) geminiPart(v *view, t string, enum []*rawjson.Node, path string, depth int) *rawjson.Node {
	s := v.schema
	out := rawjson.NewObject()
	out.Set("type", rawjson.NewString(t))
	if format, ok := s.Get("format").Text(); ok && isGeminiFormat(t, format) {
		out.Set("format", s.Get("format"))
	}
	for _, row := range wire.GeminiTypes {
		if row.Name != t && !(row.Name == "number" && t == "integer") {
			continue
		}
		for _, key := range row.Kept {
			if value := s.Get(key); value != nil && key != "items" && key != "properties" && key != "required" {
				out.Set(key, value)
			}
		}
	}
	switch t {
	case "object":
		c.geminiProperties(v, out, path, depth)
	case "array":
		out.Set("items", c.geminiItems(v, path, depth))
	case "string":
		if len(enum) > 0 {
			out.Set("enum", rawjson.NewArray(enum...))
		}
	}
	return out
}

func (c *converter) geminiProperties(v *view, out *rawjson.Node, path string, depth int) {
	source := v.schema.Get("properties")
	if source == nil {
		source = rawjson.NewObject()
	}
	known := map[string]bool{}
	properties := rawjson.NewObject()
	for i, name := range source.Keys {
		known[name] = true
		properties.Keys = append(properties.Keys, name)
		properties.Values = append(properties.Values,
			c.geminiAt(source.Values[i], rawjson.Pointer(rawjson.Pointer(path, "properties"), name), depth+1, v.refs))
	}
	if len(properties.Keys) > 0 {
		out.Set("properties", properties)
	}
	required := v.schema.Get("required")
	if required == nil {
		return
	}
	here, missing := rawjson.NewArray(), rawjson.NewArray()
	for _, n := range required.Values {
		if name, _ := n.Text(); known[name] {
			here.Values = append(here.Values, n)
		} else {
			missing.Values = append(missing.Values, n)
		}
	}
	if len(here.Values) > 0 {
		out.Set("required", here)
	}
	if len(missing.Values) > 0 {
		v.notes = append(v.notes, c.note(path, "required", missing))
	}
}

// geminiItems translates items, and a tuple as a list; geminiNotes describes the tuple's order.
func (c *converter) geminiItems(v *view, path string, depth int) *rawjson.Node {
	items := v.schema.Get("items")
	if prefix := v.schema.Get("prefixItems"); prefix != nil {
		list := slices.Clone(prefix.Values)
		if items.Is('o') {
			list = append(list, items)
		}
		return c.geminiAt(newUnion("anyOf", list...), rawjson.Pointer(path, "prefixItems"), depth+1, v.refs)
	}
	if items == nil {
		items = rawjson.NewObject()
	}
	return c.geminiAt(items, rawjson.Pointer(path, "items"), depth+1, v.refs)
}

// geminiNotes describes the keywords that Gemini lacks. A keyword of an excluded
// type constrains nothing, and neither does false.
func (c *converter) geminiNotes(v *view, types []string, path string) {
	for i, key := range v.schema.Keys {
		value := v.schema.Values[i]
		if skip := geminiSilent(key, value, types); !skip {
			v.notes = append(v.notes, c.note(path, key, value))
		}
	}
}

func geminiSilent(key string, value *rawjson.Node, types []string) bool {
	if slices.Contains(wire.GeminiSilent, key) {
		return true
	}
	switch key {
	case "format":
		format, _ := value.Text()
		return slices.ContainsFunc(types, func(t string) bool { return isGeminiFormat(t, format) })
	case "additionalProperties", "unevaluatedProperties", "unevaluatedItems":
		if value.Kind == 'b' || len(value.Keys) == 0 {
			return true
		}
	}
	if value.Kind == 'b' && !value.IsTrue() {
		return true
	}
	for _, row := range wire.GeminiTypes {
		if slices.Contains(row.Kept, key) {
			return true
		}
		if slices.Contains(row.Described, key) {
			return !slices.Contains(types, row.Name) && !(row.Name == "number" && slices.Contains(types, "integer"))
		}
	}
	return false
}
