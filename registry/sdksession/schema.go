package sdksession

import (
	"strconv"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// overgrown says what of a tool's schema is over its limits, or "". wasm/js/fetch/tools.ts
// does the same.
func overgrown(name string, schema []byte, limits *registry.Limits) string {
	const harmless = 192 // bytes, in which 32 levels have no room
	if len(schema) <= harmless && limits.SchemaDepth >= 32 && limits.SchemaNodes >= 64 && limits.EnumValues >= 96 {
		return ""
	}
	tree, err := rawjson.Parse(schema, limits.Depth, 0)
	if err != nil {
		return name + " is nested too deep"
	}
	w := schemaWalk{limits: limits}
	if what := w.walk(tree, 0, false); what != "" {
		return name + what
	}
	return ""
}

type schemaWalk struct {
	limits *registry.Limits
	nodes  int
}

// walk goes through a value that lies in so many schemas; named says that it is a map
// of schemas by names of the server's choice. Any other object counts as a schema.
func (w *schemaWalk) walk(v *rawjson.Node, depth int, named bool) string {
	if v.Kind == 'o' && !named {
		if depth++; depth > w.limits.SchemaDepth {
			return " is nested deeper than " + strconv.Itoa(w.limits.SchemaDepth) + " schemas"
		}
		if w.nodes++; w.nodes > w.limits.SchemaNodes {
			return " has more than " + strconv.Itoa(w.limits.SchemaNodes) + " schemas"
		}
	}
	for i, child := range v.Values {
		if child.Kind != 'o' && child.Kind != 'a' {
			continue
		}
		key := ""
		if v.Kind == 'o' && !named {
			key = v.Keys[i]
		}
		if key == "enum" && child.Kind == 'a' && len(child.Values) > w.limits.EnumValues {
			return " has an enum of more than " + strconv.Itoa(w.limits.EnumValues) + " values"
		}
		if what := w.walk(child, depth, isMapOfSchemas(key)); what != "" {
			return what
		}
	}
	return ""
}

func isMapOfSchemas(key string) bool {
	switch key {
	case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
		return true
	}
	return false
}
