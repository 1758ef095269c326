package validate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// TestAgainstJSONSchemaGo compares the verdicts about the tools of real servers with
// those of jsonschema-go. Arguments are each property alone, with values of all types.
func TestAgainstJSONSchemaGo(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/convert/*.tools.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no tools: %v", err)
	}
	values := []string{`null`, `true`, `7`, `-1.5`, `"x"`, `[]`, `[1,"a"]`, `{}`, `{"a":{"b":1}}`}
	compared := 0
	for _, path := range paths {
		if filepath.Base(path) == "nasty.tools.json" {
			continue // jsonschema-go does not resolve these schemas
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
		if err := json.Unmarshal(b, &tools); err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			var schema jsonschema.Schema
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
				t.Fatalf("%s: %v", tool.Name, err)
			}
			resolved, err := schema.Resolve(nil)
			if err != nil {
				continue
			}
			for _, name := range append(propertiesOf(t, tool.InputSchema), "surplus") {
				for _, value := range values {
					args := []byte("{" + string(rawjson.AppendString(nil, name)) + ":" + value + "}")
					var decoded any
					if err := json.Unmarshal(args, &decoded); err != nil {
						t.Fatal(err)
					}
					ours, theirs := verdict(t, tool.InputSchema, args), resolved.Validate(decoded)
					if ours.refused && theirs == nil || !ours.refused && !ours.unsure && theirs != nil {
						t.Errorf("%s: %s: refused %v, unsure %v; jsonschema-go: %v", tool.Name, args, ours.refused, ours.unsure, theirs)
					}
					compared++
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d arguments were compared", compared)
	}
}

func propertiesOf(t *testing.T, schema []byte) []string {
	if properties := mustParse(t, schema).Get("properties"); properties != nil {
		return properties.Keys
	}
	return nil
}

type result struct{ refused, unsure bool }

func verdict(t *testing.T, schema, args []byte) result {
	v := newValidator(mustParse(t, schema))
	v.check(v.root, mustParse(t, args), "", 0)
	return result{len(v.problems) > 0, v.unsure}
}
