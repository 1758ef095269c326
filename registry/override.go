package registry

import (
	"slices"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// checkOverrides says what of [ServerConfig.Overrides] is not sound, or nil.
func checkOverrides(overrides []byte) error {
	fail := func(detail string) error { return Because(ErrInvalidConfig, "overrides"+detail) }
	if overrides == nil {
		return nil
	}
	if len(overrides) > wire.MaxOverrides {
		return fail(" has more than " + strconv.Itoa(wire.MaxOverrides) + " bytes")
	}
	if rawjson.Kind(overrides) != 'o' {
		return fail(" is not an object")
	}
	var taken []string
	return rawjson.Members(overrides, func(tool string, override []byte) error {
		where := "." + strconv.Quote(tool)
		if rawjson.Kind(override) != 'o' {
			return fail(where + " is not an object")
		}
		return rawjson.Members(override, func(field string, value []byte) error {
			kind, want := rawjson.Kind(value), byte('s')
			switch field {
			case "name":
				name, _ := rawjson.String(value)
				if slices.Contains(taken, name) || name == "" || len(name) > wire.MaxOverrideName {
					return fail(where + ".name is empty, too long, or another one's too")
				}
				taken = append(taken, name)
			case "title", "description":
			case "hideParams":
				want = 'a'
			case "fixed":
				want = 'o'
			default:
				return fail(where + " has the unknown field " + field + "; known are " + strings.Join(wire.OverrideFields[:], ", "))
			}
			if kind != want {
				return fail(where + "." + field + " is not " + rawjson.KindName(want))
			}
			return nil
		})
	})
}

// renames returns the names that overrides give tools, by the server's own names.
func (c *ServerConfig) renames() map[string]string {
	if c.Overrides == nil {
		return nil
	}
	renames := map[string]string{}
	rawjson.Members(c.Overrides, func(tool string, override []byte) error {
		value, _ := rawjson.Get(override, "name")
		if name, _ := rawjson.String(value); name != "" {
			renames[tool] = name
		}
		return nil
	})
	return renames
}

// checkNames says which override takes the name of another tool of the list, or nil.
func (c *ServerConfig) checkNames(server string, listed []Tool) error {
	renames := c.renames()
	if len(renames) == 0 {
		return nil
	}
	taken := map[string]string{}
	for i := range listed {
		tool := listed[i].RawName
		name := modelName(server, tool, renames)
		if other, ok := taken[name]; ok {
			return Because(ErrInvalidConfig, strconv.Quote(other)+" and "+strconv.Quote(tool)+" would have the name "+name)
		}
		taken[name] = tool
	}
	return nil
}

// modelName returns the name of a tool for models.
func modelName(server, tool string, renames map[string]string) string {
	if name := renames[tool]; name != "" {
		tool = name
	}
	return names.Tool(server, tool)
}

// overrideArguments returns what the server gets of the arguments that a model wrote.
func overrideArguments(override, args []byte) []byte {
	fixed, _ := rawjson.Get(override, "fixed")
	hidden, _ := rawjson.Get(override, "hideParams")
	if fixed == nil && hidden == nil {
		return args
	}
	out := []byte{'{'}
	add := func(key string, value []byte) error {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(rawjson.AppendString(out, key), ':'), value...)
		return nil
	}
	err := rawjson.Members(args, func(key string, value []byte) error {
		_, leaves := rawjson.Get(fixed, key)
		rawjson.Elements(hidden, func(name []byte) error {
			s, _ := rawjson.String(name)
			leaves = leaves || s == key
			return nil
		})
		if leaves {
			return nil
		}
		return add(key, value)
	})
	if err != nil {
		return args // the check of arguments says what is wrong
	}
	rawjson.Members(fixed, add)
	return append(out, '}')
}
