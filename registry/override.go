package registry

import (
	"slices"
	"strconv"

	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// An Override changes how models see one tool, and what its server gets. Pins and
// approvals are about the server's own definition.
//
// The registry applies Name, HideParams and Fixed. Hosts that show definitions apply
// Title and Description, and leave HideParams and the members of Fixed out of schemas.
type Override struct {
	Name        string // in the name for models, in place of the server's own; "" keeps it
	Title       string
	Description string
	HideParams  []string // parameters that models do not see; a value for one is removed
	Fixed       []byte   // the JSON text of an object whose members every call has, or nil
}

// checkOverrides says which override is not sound, or nil.
func checkOverrides(overrides map[string]Override) error {
	if len(overrides) > wire.MaxOverrides {
		return Because(ErrInvalidConfig, "there are more than "+strconv.Itoa(wire.MaxOverrides)+" overrides")
	}
	taken := map[string]bool{}
	for tool, o := range overrides {
		switch {
		case len(o.Name) > wire.MaxOverrideName || len(o.Title) > wire.MaxOverrideText ||
			len(o.Description) > wire.MaxOverrideText || len(o.Fixed) > wire.MaxOverrideText:
			return Because(ErrInvalidConfig, "the override of "+strconv.Quote(tool)+" is too long")
		case o.Fixed != nil && rawjson.Kind(o.Fixed) != 'o':
			return Because(ErrInvalidConfig, "fixed of "+strconv.Quote(tool)+" is not an object")
		case o.Name != "" && taken[o.Name]:
			return Because(ErrInvalidConfig, "two overrides have the name "+strconv.Quote(o.Name))
		}
		taken[o.Name] = true
	}
	return nil
}

// checkNames says which override takes the name of another tool of the list, or nil.
func (c ServerConfig) checkNames(server string, listed []Tool) error {
	if len(c.Overrides) == 0 {
		return nil
	}
	taken := make(map[string]string, len(listed))
	for i := range listed {
		t := &listed[i]
		name := c.modelName(server, t.RawName)
		if other, ok := taken[name]; ok {
			return Because(ErrInvalidConfig, strconv.Quote(other)+" and "+strconv.Quote(t.RawName)+" would have the name "+name)
		}
		taken[name] = t.RawName
	}
	return nil
}

// modelName returns the name of a tool for models.
func (c ServerConfig) modelName(server, tool string) string {
	if o := c.Overrides[tool]; o.Name != "" {
		return names.Tool(server, o.Name)
	}
	return names.Tool(server, tool)
}

// arguments returns what the server gets of the arguments that a model wrote.
func (o Override) arguments(args []byte) []byte {
	if o.Fixed == nil && o.HideParams == nil {
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
		if _, fixed := rawjson.Get(o.Fixed, key); fixed || slices.Contains(o.HideParams, key) {
			return nil
		}
		return add(key, value)
	})
	if err != nil {
		return args // the check of arguments says what is wrong
	}
	if o.Fixed != nil {
		rawjson.Members(o.Fixed, add)
	}
	return append(out, '}')
}

func (o Override) equal(p Override) bool {
	return o.Name == p.Name && o.Title == p.Title && o.Description == p.Description &&
		slices.Equal(o.HideParams, p.HideParams) && string(o.Fixed) == string(p.Fixed)
}
