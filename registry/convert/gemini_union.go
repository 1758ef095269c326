package convert

import (
	"strconv"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// unionKey names the union that a schema has, or "".
func unionKey(s *rawjson.Node) string {
	for _, key := range []string{"anyOf", "oneOf"} {
		if s.Get(key) != nil {
			return key
		}
	}
	return ""
}

// narrowUnion removes a second union, which Gemini cannot express. A union beside
// properties becomes one object.
func (c *converter) narrowUnion(v *view, path string) {
	if second := v.schema.Get("oneOf"); second != nil && v.schema.Get("anyOf") != nil {
		v.notes = append(v.notes, c.note(path, "oneOf", second))
		v.schema.Delete("oneOf")
	}
	key := unionKey(v.schema)
	if key == "" {
		return
	}
	if v.schema.Get("properties") != nil {
		c.fold(v, key, path)
		return
	}
	if key == "oneOf" {
		c.lose(path, "oneOf: sent as anyOf")
	}
	foldConstants(v, key)
}

// foldConstants turns a union of string constants into an enum. The description
// gets the meaning of each.
func foldConstants(v *view, key string) {
	list := v.schema.Get(key).Values
	values := rawjson.NewArray()
	var notes []string
	for _, s := range list {
		one := s.Get("const")
		if one == nil && s.Get("enum").Is('a') && len(s.Get("enum").Values) == 1 {
			one = s.Get("enum").Values[0]
		}
		if !one.Is('s') || !onlyConstant(s) {
			return
		}
		values.Values = append(values.Values, one)
		for _, word := range []string{"description", "title"} {
			if meaning, _ := s.Get(word).Text(); meaning != "" {
				notes = append(notes, one.Stringify()+": "+meaning)
				break
			}
		}
	}
	if v.schema.Get("enum") != nil || v.schema.Get("const") != nil {
		return
	}
	v.schema.Delete(key)
	v.schema.Set("enum", values)
	v.notes = append(v.notes, notes...)
}

func onlyConstant(s *rawjson.Node) bool {
	for i, key := range s.Keys {
		switch key {
		case "const", "enum", "title", "description":
		case "type":
			if t, _ := s.Values[i].Text(); t != "string" {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// alternatives translates a union, flattened, and reports whether it allows null.
// Keywords beside the union hold for each alternative.
func (c *converter) alternatives(v *view, key, path string, depth int) (parts []*rawjson.Node, null bool) {
	list := v.schema.Get(key).Values
	beside := rawjson.NewObject()
	for i, k := range v.schema.Keys {
		switch k {
		case key, "title", "description", "default", "nullable", "$defs", "definitions":
		default:
			beside.Set(k, v.schema.Values[i])
		}
	}
	cost := text.UTF16Len(beside.Stringify()) / 2000 // of a copy
	v.schema = copyAnnotations(v.schema)
	for i, s := range list {
		if isNull(s) {
			null = true
			if words, _ := s.Get("description").Text(); words != "" {
				v.notes = append(v.notes, "null: "+words)
			}
			continue
		}
		if len(beside.Keys) > 0 {
			s = bothOf(s, beside)
		}
		c.spend(cost)
		part := c.geminiAt(s, rawjson.Pointer(rawjson.Pointer(path, key), strconv.Itoa(i)), depth+1, v.refs)
		if inner := part.Get("anyOf"); inner != nil {
			parts = append(parts, inner.Values...)
		} else {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		parts = c.nullOnly(v, path)
	}
	return parts, null
}

// copyAnnotations returns the keywords of s that describe a union as a whole.
func copyAnnotations(s *rawjson.Node) *rawjson.Node {
	out := rawjson.NewObject()
	for _, key := range []string{"title", "description", "default"} {
		if value := s.Get(key); value != nil {
			out.Set(key, value)
		}
	}
	return out
}

func isNull(s *rawjson.Node) bool {
	t, _ := s.Get("type").Text()
	return t == "null" || s.Get("type") == nil && s.Get("const").Is('0')
}
