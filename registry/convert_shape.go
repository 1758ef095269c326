package registry

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// converter turns the input schema of one tool into a dialect's.
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

// note records that a keyword moves into the description, and words it.
func (c *converter) note(path, keyword string, value *rawjson.Node) string {
	c.lose(path, keyword+": moved into the description")
	return keyword + ": " + clip(compact(value))
}

// spend counts n schemas against the budget, which keeps references that fan
// out from growing without bound, and reports whether any is left.
func (c *converter) spend(n int) bool {
	c.nodes += n
	return c.nodes <= c.budget
}

// keywordShape tells by keyword what its value must look like, 0 for anything. A
// vendor that checks schemas refuses ill-formed ones, and with them the whole
// request. It is a switch, not a map, because a map is built, and its code
// linked, in modules that never convert.
func keywordShape(keyword string) byte {
	switch keyword {
	case "title", "description", "format", "pattern", "$ref":
		return 's'
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return 'n'
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
		"minContains", "maxContains":
		return 'i'
	case "uniqueItems", "nullable", "deprecated", "readOnly", "writeOnly":
		return 'b'
	case "examples":
		return 'a'
	case "enum":
		return 'e'
	case "type":
		return 't'
	case "required":
		return 'r'
	case "items", "additionalProperties", "contains", "propertyNames", "if", "then", "else", "not",
		"unevaluatedItems", "unevaluatedProperties", "additionalItems":
		return 'S'
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return 'M'
	case "anyOf", "oneOf", "allOf", "prefixItems":
		return 'L'
	case "$schema", "$id", "$anchor", "$comment", "$vocabulary", "$dynamicAnchor":
		return '-'
	}
	return 0
}

func hasShape(shape byte, v *rawjson.Node) bool {
	switch shape {
	case 's':
		return v.Kind == 's'
	case 'n':
		return v.Kind == 'n'
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
		return v.Kind == 's' && isType(v) || v.Kind == 'a' && len(v.Values) > 0 && all(v.Values, isType)
	case 'r':
		return v.Kind == 'a' && all(v.Values, isText)
	case 'S':
		return isSchema(v)
	case 'M':
		return v.Kind == 'o'
	}
	return true
}

var typeNames = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

func isType(v *rawjson.Node) bool {
	s, ok := v.Text()
	return ok && slices.Contains(typeNames, s)
}

func isText(v *rawjson.Node) bool   { return v.Kind == 's' }
func isSchema(v *rawjson.Node) bool { return v.Kind == 'o' || v.Kind == 'b' }

func all(list []*rawjson.Node, ok func(*rawjson.Node) bool) bool {
	return !slices.ContainsFunc(list, func(v *rawjson.Node) bool { return !ok(v) })
}

// shape returns a copy of the schema s, itself but not its subschemas, as
// well-formed JSON Schema 2020-12, with notes of what had to go.
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
		case key == "items" && hasShape('L', v): // the tuple of the drafts before 2020-12
			out.Set("prefixItems", v)
			if rest := s.Get("additionalItems"); rest != nil && isSchema(rest) {
				out.Set("items", rest)
			}
		case (key == "exclusiveMinimum" || key == "exclusiveMaximum") && v.Kind == 'b': // draft 4
		case !hasShape(shape, v):
			notes = append(notes, c.note(path, key, v))
		case shape == 'r' || shape == 't' && v.Kind == 'a':
			out.Set(key, distinct(v.Values))
		default:
			out.Set(key, v)
		}
	}
	for _, side := range []string{"Minimum", "Maximum"} {
		inclusive := strings.ToLower(side)
		if limit := out.Get(inclusive); limit != nil && isTrue(s.Get("exclusive"+side)) {
			out.Delete(inclusive)
			out.Set("exclusive"+side, limit)
		}
	}
	return out, notes
}

// describeSchema puts notes behind the description of a schema that the caller owns.
func describeSchema(s *rawjson.Node, notes []string) {
	if len(notes) == 0 {
		return
	}
	text := strings.Join(notes, "; ")
	if d, _ := s.Get("description").Text(); d != "" {
		text = d + " (" + text + ")"
	}
	s.Set("description", rawjson.NewString(text))
}

func isTrue(v *rawjson.Node) bool {
	if v == nil {
		return false
	}
	yes, _ := rawjson.Bool(v.Raw)
	return yes
}

// distinct returns the array of the different values in list.
func distinct(list []*rawjson.Node) *rawjson.Node {
	out := rawjson.NewArray()
	seen := map[string]bool{}
	for _, v := range list {
		if text := compact(v); !seen[text] {
			seen[text] = true
			out.Values = append(out.Values, v)
		}
	}
	return out
}

// compact prints a value as JSON.stringify does, up to the spelling of numbers.
func compact(v *rawjson.Node) string {
	return string(appendCompact(nil, v))
}

func appendCompact(dst []byte, v *rawjson.Node) []byte {
	if v.Kind == 's' {
		s, _ := v.Text()
		return rawjson.AppendString(dst, s)
	}
	if v.Kind != 'o' && v.Kind != 'a' {
		return append(dst, v.Raw...)
	}
	brackets := "[]"
	if v.Kind == 'o' {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, e := range v.Values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v.Kind == 'o' {
			dst = append(rawjson.AppendString(dst, v.Keys[i]), ':')
		}
		dst = appendCompact(dst, e)
	}
	return append(dst, brackets[1])
}

// clip keeps the first 300 characters.
func clip(s string) string {
	const most = 300
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

// pointerStep escapes one reference token of a JSON pointer (RFC 6901).
func pointerStep(key string) string {
	return "/" + strings.ReplaceAll(strings.ReplaceAll(key, "~", "~0"), "/", "~1")
}
