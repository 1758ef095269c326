package sdksession

import (
	"bytes"
	"runtime"
	"strconv"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

const (
	maxToolName = 256
	// yieldEvery is how many tools are split off before others get to run: under
	// js/wasm nothing else does, the garbage collector included.
	yieldEvery = 64
)

// readPage splits a ListToolsResult without decoding it. A tool that cannot be
// offered is dropped with its reason; the rest of the list lives. With modern, a
// tool must also have valid x-mcp-header annotations; their bindings are returned
// by tool name.
func readPage(text []byte, limits registry.Limits, modern bool) (*registry.ToolPage, map[string][]binding, error) {
	page := &registry.ToolPage{Bytes: len(text)}
	bindings := make(map[string][]binding)
	var tools []byte
	err := rawjson.Members(text, func(key string, value []byte) error {
		switch key {
		case "tools":
			tools = value
		case "nextCursor":
			page.NextCursor = nil
			if cursor, ok := rawjson.String(value); ok {
				page.NextCursor = &cursor
			}
		case "ttlMs":
			if ms, ok := rawjson.Float(value); ok && ms > 0 {
				page.TTL = time.Duration(min(ms, float64(24*time.Hour/time.Millisecond))) * time.Millisecond
			}
		}
		return nil
	})
	if err != nil || rawjson.Kind(tools) != 'a' {
		return nil, nil, registry.Because(registry.ErrProtocol, "the answer to tools/list has no tools")
	}
	i := 0
	err = rawjson.Elements(tools, func(def []byte) error {
		if i++; i%yieldEvery == 0 {
			runtime.Gosched()
		}
		name, bound, reason := checkTool(def, limits, modern)
		if reason != "" {
			page.Dropped = append(page.Dropped, registry.Drop{Name: name, Reason: reason})
			return nil
		}
		if len(bound) > 0 {
			bindings[name] = bound
		}
		page.Tools = append(page.Tools, registry.ToolDef{Name: name, Def: registry.Raw(bytes.Clone(def))})
		return nil
	})
	if err != nil {
		return nil, nil, registry.Because(registry.ErrProtocol, err.Error())
	}
	return page, bindings, nil
}

// checkTool says why a definition cannot be offered, or "".
func checkTool(def []byte, limits registry.Limits, modern bool) (name string, bound []binding, reason string) {
	if rawjson.Kind(def) != 'o' {
		return "", nil, "the definition is not an object"
	}
	var rawName, schema []byte
	if err := rawjson.Members(def, func(key string, value []byte) error {
		switch key {
		case "name":
			rawName = value
		case "inputSchema":
			schema = value
		}
		return nil
	}); err != nil {
		return "", nil, "the definition is not valid JSON"
	}
	name, ok := rawjson.String(rawName)
	switch {
	case !ok || name == "":
		return "", nil, "the tool has no name"
	case len(name) > maxToolName:
		return name[:maxToolName], nil, "the name is longer than " + strconv.Itoa(maxToolName) + " bytes"
	case len(def) > limits.DefinitionBytes:
		return name, nil, "the definition is larger than " + strconv.Itoa(limits.DefinitionBytes) + " bytes"
	case rawjson.Valid(def, limits.Depth) != nil:
		return name, nil, "the definition nests deeper than " + strconv.Itoa(limits.Depth) + " levels"
	case schema == nil:
		return name, nil, "the tool has no inputSchema"
	case rawjson.Kind(schema) != 'o':
		return name, nil, "the inputSchema is not an object"
	}
	if modern {
		bound, reason = readBindings(def)
	}
	return name, bound, reason
}
