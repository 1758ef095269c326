package text

import (
	"errors"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A Flag marks something suspicious in a text of a server. It is a hint and blocks nothing.
type Flag struct {
	Rule    string // "hidden_text", or one of package scan
	Where   string // JSON pointer into the definition or the result, see [rawjson.Pointer]
	Excerpt string // the text around the place, with hidden characters as ⟨U+200B⟩
}

// maxFlags bounds the flags of one definition.
const maxFlags = 10

// CleanDefinition returns the definition of a tool with each string as [Clean]
// returns it. It keeps const, enum and default, because arguments are compared
// with them. A clean definition is returned as it is.
//
// A hidden character in the name of the tool or of a member is an error: the
// server would not know a parameter under another name.
func CleanDefinition(def []byte) ([]byte, []Flag, error) {
	if isPlainText(string(def)) && !strings.Contains(string(def), `\u`) && !strings.Contains(string(def), `\r`) &&
		!strings.Contains(string(def), `\b`) && !strings.Contains(string(def), `\f`) {
		return def, nil, nil
	}
	root, err := rawjson.Parse(def, 0, 0)
	if err != nil {
		return nil, nil, err
	}
	c := &cleaner{}
	if name, _ := root.Get("name").Text(); hiddenAt(name) >= 0 {
		return nil, nil, errors.New("the name holds hidden characters")
	}
	for i, key := range root.Keys {
		c.name(key)
		c.walk(root.Values[i], rawjson.Pointer("", key), key == "inputSchema" || key == "outputSchema")
	}
	if c.badName {
		return nil, nil, errors.New("the name of a parameter or member holds hidden characters")
	}
	if !c.changed {
		return def, nil, nil
	}
	return root.Append(nil), c.flags, nil
}

type cleaner struct {
	flags   []Flag
	changed bool
	badName bool
}

func (c *cleaner) name(key string) { c.badName = c.badName || hiddenAt(key) >= 0 }

// hiddenAt returns the index of the first hidden character of s, or -1.
func hiddenAt(s string) int {
	_, at := Clean(s)
	return at
}

func (c *cleaner) walk(n *rawjson.Node, where string, schema bool) {
	switch n.Kind {
	case 's':
		s, _ := n.Text()
		cleaned, at := Clean(s)
		if cleaned == s {
			return
		}
		c.changed = true
		n.Raw = rawjson.AppendString(nil, cleaned)
		if at >= 0 && len(c.flags) < maxFlags {
			c.flags = append(c.flags, Flag{"hidden_text", where, Excerpt(s, at)})
		}
	case 'a':
		for i, v := range n.Values {
			c.walk(v, rawjson.Pointer(where, strconv.Itoa(i)), schema)
		}
	case 'o':
		for i, key := range n.Keys {
			c.name(key)
			v, at := n.Values[i], rawjson.Pointer(where, key)
			switch {
			case schema && (key == "const" || key == "enum" || key == "default"):
			case schema && v.Kind == 'o' && MapsSchemas(key):
				for k, name := range v.Keys {
					c.name(name)
					c.walk(v.Values[k], rawjson.Pointer(at, name), true)
				}
			default:
				c.walk(v, at, schema)
			}
		}
	}
}

// MapsSchemas reports whether a keyword maps names of the schema's author to schemas.
func MapsSchemas(key string) bool {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return true
	}
	return false
}

// Excerpt returns the text around the character at index at of s, with hidden
// characters as ⟨U+200B⟩.
func Excerpt(s string, at int) string {
	from := max(0, at-16)
	var out strings.Builder
	if from > 0 {
		out.WriteString("…")
	}
	shown, i := 0, -1
	for _, c := range s {
		i++
		if i < from {
			continue
		}
		if i >= at+40 {
			break
		}
		part := string(c)
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			part = " "
		case isHidden(c):
			hex := ""
			for rest := c; rest > 0 || len(hex) < 4; rest >>= 4 {
				hex = string("0123456789ABCDEF"[rest&15]) + hex
			}
			part = "⟨U+" + hex + "⟩"
		}
		if shown += UTF16Len(part); shown > 120 {
			out.WriteString("…")
			break
		}
		out.WriteString(part)
	}
	return out.String()
}
