package api

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/wire"
)

func encodeOverrides(overrides map[string]registry.Override) []byte {
	var all object
	for _, tool := range slices.Sorted(maps.Keys(overrides)) {
		v := overrides[tool]
		o := object(nil).opt("name", v.Name).opt("title", v.Title).opt("description", v.Description)
		if v.HideParams != nil {
			o = o.strs("hideParams", v.HideParams)
		}
		if v.Fixed != nil {
			o = o.raw("fixed", v.Fixed)
		}
		all = all.raw(tool, o.end())
	}
	return all.end()
}

// applyOverrides sets the overrides, which replace earlier ones. null removes all.
func applyOverrides(cfg *registry.ServerConfig, value []byte) error {
	cfg.Overrides = nil
	if rawjson.Kind(value) == '0' {
		return nil
	}
	overrides := map[string]registry.Override{}
	err := rawjson.Members(value, func(tool string, value []byte) error {
		var o registry.Override
		where := "overrides." + strconv.Quote(tool)
		err := rawjson.Members(value, func(key string, value []byte) error {
			var err error
			s, isText := rawjson.String(value)
			switch key {
			case "name":
				o.Name = s
			case "title":
				o.Title = s
			case "description":
				o.Description = s
			case "hideParams":
				if o.HideParams, err = stringList(value, key); err != nil {
					return invalid(where + ".hideParams is not an array of strings")
				}
				return nil
			case "fixed":
				o.Fixed = slices.Clone(value)
				return nil
			default:
				return invalid("unknown field " + where + "." + key + "; known are " + strings.Join(wire.OverrideFields[:], ", "))
			}
			if !isText {
				return invalid(where + "." + key + " is not a string")
			}
			return nil
		})
		overrides[tool] = o
		if err != nil && rawjson.Kind(value) != 'o' {
			return invalid(where + " is not an object")
		}
		return err
	})
	if err != nil && rawjson.Kind(value) != 'o' {
		return invalid("overrides is not an object")
	}
	cfg.Overrides = overrides
	return err
}
