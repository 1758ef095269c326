package toolserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A Tool is one that the extension offers.
type Tool struct {
	Definition json.RawMessage `json:"definition"` // the spec's Tool, listed as it is
	// Check says that arguments are checked here, and completed with defaults. The
	// registry's tools are checked by their own servers.
	Check bool `json:"check"`
}

// Bounds on a page of the list, in bytes: well below the bridge's limit for a message.
const pageBytes = 1 << 20

// A shelf is one list of tools; it never changes. Cursors name it, so that a list
// that changes between two pages starts from the first page.
type shelf struct {
	number int
	names  map[string]*entry
	tools  []*entry
}

type entry struct {
	Tool
	name   string
	schema func() (*jsonschema.Resolved, error)
}

func newShelf(number int, tools []Tool) (*shelf, error) {
	s := &shelf{number: number, names: make(map[string]*entry, len(tools))}
	for _, t := range tools {
		var head struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if err := json.Unmarshal(t.Definition, &head); err != nil || head.Name == "" {
			return nil, fmt.Errorf("a tool's definition is not one: %w", errors.Join(err, errors.New("it needs a name")))
		}
		if s.names[head.Name] != nil {
			return nil, fmt.Errorf("two tools have the name %q", head.Name)
		}
		e := &entry{Tool: t, name: head.Name, schema: sync.OnceValues(func() (*jsonschema.Resolved, error) {
			var schema jsonschema.Schema
			if err := json.Unmarshal(head.InputSchema, &schema); err != nil {
				return nil, err
			}
			return schema.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
		})}
		s.names[head.Name] = e
		s.tools = append(s.tools, e)
	}
	return s, nil
}

// page returns the result of tools/list at a cursor.
func (s *shelf) page(cursor string) (json.RawMessage, error) {
	at := 0
	if cursor != "" {
		var number int
		if n, err := fmt.Sscanf(cursor, "%d.%d", &number, &at); n != 2 || err != nil || number != s.number || at < 0 || at > len(s.tools) {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the list has changed: list from the first page"}
		}
	}
	out := []byte(`{"tools":[`)
	for begin := at; at < len(s.tools); at++ {
		if at > begin {
			if len(out)+len(s.tools[at].Definition) > pageBytes {
				break
			}
			out = append(out, ',')
		}
		out = append(out, s.tools[at].Definition...)
	}
	out = append(out, ']')
	if at < len(s.tools) {
		out = append(out, `,"nextCursor":"`+strconv.Itoa(s.number)+"."+strconv.Itoa(at)+`"`...)
	}
	return append(out, '}'), nil
}

// invalid is what is wrong with a call's arguments, in T4's words.
type invalid string

func (i invalid) Error() string { return "Invalid arguments: " + string(i) }

// arguments checks the arguments of a call and fills in defaults (T4, T5).
func (e *entry) arguments(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{}`)
	}
	if !e.Check {
		return raw, nil
	}
	schema, err := e.schema()
	if err != nil {
		return nil, fmt.Errorf("the schema of %s is not one: %w", e.name, err)
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
