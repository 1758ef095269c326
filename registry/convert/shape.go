package convert

import (
	"slices"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// A converter turns the input schema of one tool into a dialect's.
type converter struct {
	tool   string
	root   *rawjson.Node // the inputSchema as the server sent it; references point into it
	losses []Loss
	nodes  int // schemas visited; see spend
	budget int
}

func (c *converter) lose(path, what string) {
	c.losses = append(c.losses, Loss{c.tool, path, what})
}

// note reports that a keyword moves into the description, and returns its words.
func (c *converter) note(path, keyword string, value *rawjson.Node) string {
	c.lose(path, keyword+": moved into the description")
	return keyword + ": " + text.Clip(value.Stringify())
}

// spend counts n schemas and reports whether the budget still covers them. The
// budget bounds the copies that references make.
func (c *converter) spend(n int) bool {
	c.nodes += n
	return c.nodes <= c.budget
}

func hasShape(shape byte, v *rawjson.Node) bool {
	switch shape {
	case 's':
		return v.Kind == 's'
	case 'x':
		s, ok := v.Text()
		return ok && isPattern(s)
	case 'n', 'p':
		f, ok := rawjson.Float(v.Raw)
		return ok && (shape == 'n' || f > 0)
	case 'i':
		n, ok := rawjson.Int(v.Raw)
		return v.Kind == 'n' && ok && 0 <= n && n < 1<<53
	case 'b':
		return v.Kind == 'b'
	case 'a':
		return v.Kind == 'a'
	case 'e', 'L':
		return v.Kind == 'a' && len(v.Values) > 0
	case 't':
		return v.Kind == 's' && isType(v) || v.Kind == 'a' && len(v.Values) > 0 && everyValue(v.Values, isType)
	case 'r':
		return isTexts(v)
	case 'D':
		return v.Kind == 'o' && everyValue(v.Values, isTexts)
	case 'X':
		return v.Kind == 'o' && !slices.ContainsFunc(v.Keys, func(key string) bool { return !isPattern(key) })
	case 'S':
		return isSchema(v)
	case 'M':
		return v.Kind == 'o'
	}
	return true
}

func isType(v *rawjson.Node) bool {
	s, ok := v.Text()
	return ok && slices.Contains(wire.TypeNames, s)
}

func isText(v *rawjson.Node) bool   { return v.Kind == 's' }
func isTexts(v *rawjson.Node) bool  { return v.Kind == 'a' && everyValue(v.Values, isText) }
func isSchema(v *rawjson.Node) bool { return v.Kind == 'o' || v.Kind == 'b' }

func everyValue(list []*rawjson.Node, ok func(*rawjson.Node) bool) bool {
	return !slices.ContainsFunc(list, func(v *rawjson.Node) bool { return !ok(v) })
}

// nullBeyond replaces the text of numbers beyond a float64 by null, as JSON.stringify
// does. They remain of kind 'n', so that isSound finds them.
func nullBeyond(v *rawjson.Node) {
	if v.Kind == 'n' && !isSound(v) {
		v.Raw = []byte("null")
	}
	for _, v := range v.Values {
		nullBeyond(v)
	}
}

// isSound reports whether v holds no number beyond a float64.
func isSound(v *rawjson.Node) bool {
	if v.Kind == 'n' {
		_, ok := rawjson.Float(v.Raw)
		return ok
	}
	return everyValue(v.Values, isSound)
}

// holdsSchemas reports whether keywords of a shape have subschemas.
func holdsSchemas(shape byte) bool { return strings.IndexByte("SMXL", shape) >= 0 }

// shape returns a copy of the schema s as well-formed JSON Schema 2020-12, with
// notes of the keywords that it removes. The subschemas are those of s.
func (c *converter) shape(s *rawjson.Node, path string) (out *rawjson.Node, notes []string) {
	out = rawjson.NewObject()
	if s.Kind != 'o' {
		if yes, ok := rawjson.Bool(s.Raw); !ok {
			c.lose(path, "not a schema: anything is allowed")
		} else if !yes {
			out.Set("not", rawjson.NewObject())
		}
		return out, nil
	}
	for i, key := range s.Keys {
		v := s.Values[i]
		switch shape := keywordShape(key); {
		case shape == '-' || key == "additionalItems" && s.Get("items").Is('a'):
		case shape == 0 && v.Kind == 'o':
			c.lose(path, key+": removed, not a keyword")
		case key == "items" && hasShape('L', v): // the tuple of the drafts before 2020-12
			out.Set("prefixItems", v)
			if rest := s.Get("additionalItems"); rest != nil && isSchema(rest) {
				out.Set("items", rest)
			}
		case (key == "exclusiveMinimum" || key == "exclusiveMaximum") && v.Kind == 'b': // draft 4
		case !holdsSchemas(shape) && !isSound(v):
			c.lose(path, key+": removed, a number is too large")
			notes = append(notes, key+": a number is too large")
		case !hasShape(shape, v):
			notes = append(notes, c.note(path, key, v))
		case shape == 'r' || shape == 'e' || shape == 't' && v.Kind == 'a':
			out.Set(key, rawjson.Distinct(v.Values))
		case shape == 'D':
			lists := &rawjson.Node{Kind: 'o', Keys: v.Keys}
			for _, list := range v.Values {
				lists.Values = append(lists.Values, rawjson.Distinct(list.Values))
			}
			out.Set(key, lists)
		default:
			out.Set(key, v)
		}
	}
	for _, names := range [][2]string{{"minimum", "exclusiveMinimum"}, {"maximum", "exclusiveMaximum"}} {
		inclusive, exclusive := names[0], names[1]
		if limit := out.Get(inclusive); limit != nil && s.Get(exclusive).IsTrue() {
			out.Delete(inclusive)
			out.Set(exclusive, limit)
		}
	}
	return out, append(notes, c.older(s, out, path)...)
}

// older gives out what takes the place of keywords of s from drafts before 2020-12. In
// one document $recursiveRef and $dynamicRef are references as $ref is.
func (c *converter) older(s, out *rawjson.Node, path string) (notes []string) {
	for _, key := range []string{"$recursiveRef", "$dynamicRef"} {
		if ref := s.Get(key); ref.Is('s') && out.Get("$ref") == nil {
			out.Set("$ref", ref)
		} else if ref != nil {
			notes = append(notes, c.note(path, key, ref))
		}
	}
	old := s.Get("dependencies")
	if old == nil {
		return notes
	}
	if !old.Is('o') {
		return append(notes, c.note(path, "dependencies", old))
	}
	copied := map[string]*rawjson.Node{}
	for i, name := range old.Keys {
		key, value := "dependentSchemas", old.Values[i]
		if isTexts(value) {
			key, value = "dependentRequired", rawjson.Distinct(value.Values)
		} else if !isSchema(value) {
			notes = append(notes, c.note(path, "dependencies", value))
			continue
		}
		if copied[key] == nil {
			copied[key] = rawjson.NewObject()
			if own := out.Get(key); own != nil {
				copied[key].Keys, copied[key].Values = slices.Clone(own.Keys), slices.Clone(own.Values)
			}
			out.Set(key, copied[key])
		}
		copied[key].Set(name, value)
	}
	return notes
}

// describeSchema puts notes behind the description of a schema that the caller owns.
func describeSchema(s *rawjson.Node, notes []string) {
	if len(notes) == 0 {
		return
	}
	words := strings.Join(notes, "; ")
	if d, _ := s.Get("description").Text(); d != "" {
		words = d + " (" + words + ")"
	}
	s.Set("description", rawjson.NewString(words))
}
