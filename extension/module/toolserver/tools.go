package toolserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A Tool is one that the extension offers.
type Tool struct {
	Definition json.RawMessage `json:"definition"` // the spec's Tool, listed unchanged
	// Check: this server checks arguments and fills in defaults. The registry's servers
	// check the arguments of their own tools.
	Check bool `json:"check"`
}

// pageBytes limits a page of the list. It is well below the bridge's limit for a message.
const pageBytes = 1 << 20

// A toolList never changes. Cursors contain its number, so a client that turns the page
// of an older list starts again.
type toolList struct {
	number int
	names  map[string]*entry
	tools  []*entry
}

type entry struct {
	Tool
	name   string
	schema func() (*jsonschema.Resolved, error)
}

func newToolList(number int, tools []Tool) (*toolList, error) {
	l := &toolList{number: number, names: make(map[string]*entry, len(tools))}
	for _, t := range tools {
		var head struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(t.Definition, &head); err != nil || head.Name == "" {
			return nil, fmt.Errorf("a tool's definition is not valid: %w", errors.Join(err, errors.New("it needs a name")))
		}
		if l.names[head.Name] != nil {
			return nil, fmt.Errorf("two tools have the name %q", head.Name)
		}
		e := &entry{Tool: t, name: head.Name, schema: sync.OnceValues(func() (*jsonschema.Resolved, error) {
			var schema jsonschema.Schema
			if err := json.Unmarshal(head.InputSchema, &schema); err != nil {
				return nil, err
			}
			return schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
		})}
		l.names[head.Name] = e
		l.tools = append(l.tools, e)
	}
	return l, nil
}

// page returns the result of tools/list at a cursor.
func (l *toolList) page(cursor string) (json.RawMessage, error) {
	at := 0
	if cursor != "" {
		var number int
		_, err := fmt.Sscanf(cursor, "%d.%d", &number, &at)
		if err != nil || number != l.number || at < 0 || at > len(l.tools) {
			return nil, invalidParams("the list has changed: list from the first page")
		}
	}
	out := []byte(`{"tools":[`)
	for begin := at; at < len(l.tools); at++ {
		if at > begin {
			if len(out)+len(l.tools[at].Definition) > pageBytes {
				break
			}
			out = append(out, ',')
		}
		out = append(out, l.tools[at].Definition...)
	}
	out = append(out, ']')
	if at < len(l.tools) {
		out = append(out, `,"nextCursor":"`+strconv.Itoa(l.number)+"."+strconv.Itoa(at)+`"`...)
	}
	return append(out, '}'), nil
}

func invalidParams(message string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: message}
}

// invalid returns an error about a call's arguments.
func invalid(problem string) error { return errors.New("Invalid arguments: " + problem) }

// arguments checks the arguments of a call and fills in defaults.
func (e *entry) arguments(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{}`)
	}
	if n := tooLong(raw); n != "" {
		return nil, invalid(n + " has more digits than a number of the browser holds, so the tool was not called. " +
			"Give it as a string if the tool takes one")
	}
	if !e.Check {
		return raw, nil
	}
	schema, err := e.schema()
	if err != nil {
		return nil, fmt.Errorf("the schema of %s is not valid: %w", e.name, err)
	}
	var args map[string]any
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, invalid(e.name + " takes a JSON object")
	}
	if args == nil {
		args = map[string]any{}
	}
	if err := schema.ApplyDefaults(&args); err != nil {
		return nil, invalid(err.Error())
	}
	if err := schema.Validate(args); err != nil {
		return nil, invalid(err.Error())
	}
	return json.Marshal(args)
}

var manyDigits = regexp.MustCompile(`[0-9]{16}`)

// tooLong returns an integer of a JSON text that JavaScript would write with other digits, or "".
func tooLong(text json.RawMessage) string {
	if !manyDigits.Match(text) {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	for {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		if n, ok := t.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
			if f, _ := n.Float64(); strconv.FormatFloat(f, 'f', -1, 64) != n.String() {
				return n.String()
			}
		}
	}
}
