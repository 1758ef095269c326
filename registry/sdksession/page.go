package sdksession

import (
	"bytes"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/pin"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

const (
	maxToolName = 256
	// yieldEvery is how many tools are split off before others get to run: under
	// js/wasm nothing else does, the garbage collector included.
	yieldEvery = 64
)

// errEnough ends the reading of a list one tool beyond those that are offered.
var errEnough = errors.New("enough")

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
		if len(page.Tools) > limits.ToolsPerServer {
			return errEnough
		}
		if i++; i%yieldEvery == 0 {
			runtime.Gosched()
		}
		name, bound, reason := checkTool(def, limits, modern)
		var tool registry.ToolDef
		if reason == "" {
			tool, reason = pinned(name, def)
		}
		if reason != "" {
			page.Dropped = append(page.Dropped, registry.Drop{Name: name, Reason: reason})
			return nil
		}
		if len(bound) > 0 {
			bindings[name] = bound
		}
		page.Tools = append(page.Tools, tool)
		return nil
	})
	if err != nil && err != errEnough {
		return nil, nil, registry.Because(registry.ErrProtocol, err.Error())
	}
	return page, bindings, nil
}

// pinned is a tool as it is offered: pinned as it was sent, and without hidden text.
func pinned(name string, def []byte) (registry.ToolDef, string) {
	tool := registry.ToolDef{Name: name}
	cleaned, flags, err := text.CleanDefinition(def)
	if err == nil {
		tool.Pin, err = pin.Of(def)
	}
	if err != nil {
		return tool, err.Error()
	}
	tool.Def, tool.Flags = registry.Raw(bytes.Clone(cleaned)), flags
	return tool, ""
}

// checkTool says why a definition cannot be offered, or "". wasm/js/fetch/tools.ts
// does the same, in the same words.
func checkTool(def []byte, limits registry.Limits, modern bool) (name string, bound []binding, reason string) {
	if rawjson.Kind(def) != 'o' {
		return "", nil, "the tool is not an object"
	}
	var rawName, description, input, output []byte
	if err := rawjson.Members(def, func(key string, value []byte) error {
		switch key {
		case "name":
			rawName = value
		case "description":
			description = value
		case "inputSchema":
			input = value
		case "outputSchema":
			output = value
		}
		return nil
	}); err != nil {
		return "", nil, "the tool is not valid JSON"
	}
	name, ok := rawjson.String(rawName)
	if kind := rawjson.Kind(description); description != nil && kind != 's' && kind != '0' {
		description = nil
		reason = "description is not a string"
	}
	switch {
	case !ok || name == "":
		return "", nil, "the tool has no name"
	case len(name) > maxToolName:
		return cut(name, maxToolName), nil, "the name is longer than " + strconv.Itoa(maxToolName) + " bytes"
	case strings.ContainsFunc(name, isControl):
		return name, nil, "the name holds a control character"
	case rawjson.Kind(input) != 'o':
		return name, nil, "inputSchema is not an object"
	case reason != "":
		return name, nil, reason
	case rawjson.Valid(def, limits.Depth) != nil:
		return name, nil, "the definition is nested deeper than " + strconv.Itoa(limits.Depth) + " levels"
	case len(def) > limits.DefinitionBytes:
		return name, nil, "the definition is larger than " + strconv.Itoa(limits.DefinitionBytes) + " bytes"
	case textBytes(description) > limits.DescriptionBytes:
		return name, nil, "the description is longer than " + strconv.Itoa(limits.DescriptionBytes) + " bytes"
	}
	if reason = overgrown("inputSchema", input, &limits); reason == "" && rawjson.Kind(output) == 'o' {
		reason = overgrown("outputSchema", output, &limits)
	}
	if modern && reason == "" {
		bound, reason = readBindings(def)
	}
	return name, bound, reason
}

// isControl reports whether a name with that character can be neither called nor shown;
// U+FFFD stands for what was no character.
func isControl(c rune) bool { return c < ' ' || c == 0x7f || c == 0xfffd }

// textBytes is the length of a string in UTF-8, given as JSON.
func textBytes(raw []byte) int {
	text, _ := rawjson.String(raw)
	return len(text)
}
