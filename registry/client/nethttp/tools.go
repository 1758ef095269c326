package nethttp

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

const (
	maxToolName = 256  // bytes
	maxDrops    = 1000 // tools that the event names as dropped
)

// errEnough ends the reading of a list one tool beyond the limit.
var errEnough = errors.New("enough")

// A list is one answer to tools/list while it is read.
type list struct {
	table
	names   []byte // one a line
	drops   []byte // elements [name, reason]
	dropped int
	headers []byte // indices of tools that mention x-mcp-header
	tasks   []byte // indices of tools that run as tasks only
	apps    []byte // indices of tools that are for apps only
	entries int    // that were read
	secrets []string
}

// leastSecret is the length of the shortest secret that is taken out of definitions.
// Shorter values are words of them.
const leastSecret = 8

// secretsOf returns the values of headers that not every request may have, and of the
// session's id. wasm/js/fetch/tools.ts does the same.
func secretsOf(header []string) (secrets []string) {
	for i := 0; i+1 < len(header); i += 2 {
		name := strings.ToLower(header[i])
		switch {
		case len(header[i+1]) < leastSecret:
		case name == "accept", name == "content-type", name == "last-event-id", name == "x-portolan-binding":
		case strings.HasPrefix(name, "mcp-") && name != "mcp-session-id":
		default:
			secrets = append(secrets, header[i+1])
		}
	}
	return secrets
}

// cutMark ends a description that is cut.
const cutMark = "… (cut)"

// cutDescription returns a definition whose description has at most so many bytes.
func cutDescription(def []byte, most int) []byte {
	words := rawjson.Text(def, "description")
	if len(words) <= most {
		return def
	}
	short := rawjson.AppendString(nil, text.Cut(words, most-len(cutMark))+cutMark)
	out := []byte{'{'}
	_ = rawjson.Members(def, func(key string, value []byte) error {
		if key == "description" {
			value = short
		}
		out = rawjson.AppendMember(out, key, value)
		return nil
	})
	return append(out, '}')
}

// redact takes secrets out of a definition.
func (l *list) redact(def []byte, name string) (shown []byte, reason string) {
	if len(l.secrets) == 0 {
		return def, ""
	}
	if text.Redact(name, l.secrets...) != name {
		return nil, "the name repeats a secret"
	}
	words := text.Redact(string(def), l.secrets...)
	if words == string(def) {
		return def, ""
	}
	if err := rawjson.Valid([]byte(words), math.MaxInt); err != nil {
		return nil, "the definition repeats a secret"
	}
	return []byte(words), ""
}

// tools reads a ListToolsResult and returns its event, or nil if it has no list of
// tools. A tool that cannot be offered is dropped with a reason.
func (x *exchange) tools(result []byte) *client.Event {
	limits := &x.p.limits
	v, err := rawjson.Pick(result, "tools", "nextCursor", "ttlMs", "cacheScope")
	tools, next, ttl, scope := v[0], v[1], v[2], v[3]
	if err != nil || rawjson.Kind(tools) != 'a' {
		return nil
	}
	l := list{secrets: secretsOf(x.Header)}
	err = rawjson.Elements(tools, func(def []byte) error {
		if len(l.shown) > limits.ToolsPerServer || l.entries > 10*limits.ToolsPerServer {
			return errEnough
		}
		l.entries++
		l.add(def, limits)
		return nil
	})
	if err != nil && err != errEnough {
		return nil
	}
	// The names refer to the answer; the definitions are copies.
	return &client.Event{Kind: client.Tools, Text: string(l.names), Extra: l.extra(next, ttl, scope), Table: x.p.add(&l.table)}
}

func (l *list) add(def []byte, limits *registry.Limits) {
	name, reason := checkTool(def, limits)
	var shown []byte
	var flags []text.Flag
	if reason == "" {
		var err error
		if shown, flags, err = text.CleanDefinition(def); err != nil {
			reason = err.Error()
		} else {
			shown, reason = l.redact(cutDescription(shown, limits.DescriptionBytes), name)
		}
	}
	if reason != "" {
		l.drop(name, reason)
		return
	}
	index := len(l.shown)
	if index > 0 {
		l.names = append(l.names, '\n')
	}
	l.names = append(l.names, name...)
	sent := bytes.Clone(def)
	if bytes.Equal(shown, def) {
		shown = sent
	}
	l.shown, l.sent = append(l.shown, shown), append(l.sent, sent)
	if len(flags) > 0 {
		if l.flags == nil {
			l.flags = make(map[uint32][]text.Flag)
		}
		l.flags[uint32(index)] = flags
	}
	if bytes.Contains(def, []byte(`"x-mcp-header"`)) {
		l.headers = strconv.AppendInt(append(l.headers, ','), int64(index), 10)
	}
	execution := rawjson.Get(def, "execution")
	if support := rawjson.Get(execution, "taskSupport"); string(support) == `"required"` {
		l.tasks = strconv.AppendInt(append(l.tasks, ','), int64(index), 10)
	}
	if meta := rawjson.Get(def, "_meta"); !isForModels(meta) {
		l.apps = strconv.AppendInt(append(l.apps, ','), int64(index), 10)
	}
}

func (l *list) drop(name, reason string) {
	if l.dropped++; l.dropped > maxDrops {
		return
	}
	l.drops = rawjson.AppendString(append(l.drops, `,[`...), name)
	l.drops = append(rawjson.AppendString(append(l.drops, ','), reason), ']')
}

// extra returns the members of [client.Event].Extra, which few lists have.
func (l *list) extra(next, ttl, scope []byte) string {
	var b []byte
	for i, elements := range [][]byte{l.drops, l.headers, l.tasks, l.apps} {
		if len(elements) > 0 {
			name := []string{"drops", "headers", "tasks", "apps"}[i]
			b = append(append(append(b, `,"`+name+`":[`...), elements[1:]...), ']')
		}
	}
	if rawjson.Kind(next) == 's' {
		b = append(append(b, `,"next":`...), next...)
	}
	if rawjson.Kind(ttl) == 'n' {
		b = append(append(b, `,"ttl":`...), ttl...)
	}
	if string(scope) == `"private"` {
		b = append(b, `,"private":true`...)
	}
	if b == nil {
		return ""
	}
	b[0] = '{'
	return string(append(b, '}'))
}

// checkTool returns the reason to drop a definition, or "". wasm/js/fetch/tools.ts has the
// same rules and words.
func checkTool(def []byte, limits *registry.Limits) (name, reason string) {
	if rawjson.Kind(def) != 'o' {
		return "", "the tool is not an object"
	}
	v, err := rawjson.Pick(def, "name", "description", "inputSchema", "outputSchema")
	if err != nil {
		return "", "the tool is not valid JSON"
	}
	description, input, output := v[1], v[2], v[3]
	name, ok := rawjson.String(v[0])
	_, isText := rawjson.String(description)
	switch kind := rawjson.Kind(description); {
	case !ok || name == "":
		return "", "the tool has no name"
	case len(name) > maxToolName:
		return text.Cut(name, maxToolName), "the name is longer than " + strconv.Itoa(maxToolName) + " bytes"
	case strings.ContainsFunc(name, isControl):
		return name, "the name holds a control character"
	case rawjson.Kind(input) != 'o':
		return name, "inputSchema is not an object"
	case description != nil && !isText && kind != '0':
		return name, "description is not a string"
	case rawjson.Valid(def, limits.Depth) != nil:
		return name, "the definition is nested deeper than " + strconv.Itoa(limits.Depth) + " levels"
	case len(def) > limits.DefinitionBytes:
		return name, "the definition is larger than " + strconv.Itoa(limits.DefinitionBytes) + " bytes"
	}
	if reason = oversized("inputSchema", input, limits); reason == "" && rawjson.Kind(output) == 'o' {
		reason = oversized("outputSchema", output, limits)
	}
	return name, reason
}

// isForModels reports whether the _meta of a tool lets models see it (MCP Apps, 2026-01-26).
func isForModels(meta []byte) bool {
	ui := rawjson.Get(meta, "ui")
	visibility := rawjson.Get(ui, "visibility")
	if rawjson.Kind(visibility) != 'a' {
		return true
	}
	return slices.Contains(rawjson.Strings(visibility), "model")
}

// isControl reports whether a name with this character cannot be called. U+FFFD stands
// for bytes that are not UTF-8.
func isControl(c rune) bool { return c < ' ' || c == 0x7f || c == utf8.RuneError }

// smallSchema is a size in bytes. No schema of this size exceeds the default limits.
const smallSchema = 192

// oversized returns the limit that a tool's schema exceeds, in words, or "".
// wasm/js/fetch/tools.ts has the same rules and words.
func oversized(name string, schema []byte, limits *registry.Limits) string {
	if len(schema) <= smallSchema && limits.SchemaDepth >= 32 && limits.SchemaNodes >= 64 && limits.EnumValues >= 96 {
		return ""
	}
	tree, err := rawjson.Parse(schema, limits.Depth, 0)
	if err != nil {
		return name + " is nested too deep"
	}
	walk := schemaWalk{limits: limits}
	if excess := walk.visit(tree, 0, false); excess != "" {
		return name + excess
	}
	return ""
}

type schemaWalk struct {
	limits  *registry.Limits
	schemas int
}

// visit walks a value that lies depth schemas deep. With named, its members are names of
// the server's choice. Any other object counts as a schema.
func (w *schemaWalk) visit(v *rawjson.Node, depth int, named bool) string {
	if v.Kind == 'o' && !named {
		if depth++; depth > w.limits.SchemaDepth {
			return " is nested deeper than " + strconv.Itoa(w.limits.SchemaDepth) + " schemas"
		}
		if w.schemas++; w.schemas > w.limits.SchemaNodes {
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
		if excess := w.visit(child, depth, text.MapsSchemas(key)); excess != "" {
			return excess
		}
	}
	return ""
}
