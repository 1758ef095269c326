package nethttp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// The tools of public servers are within the default limits.
func TestRealToolsAreOffered(t *testing.T) {
	files, _ := filepath.Glob("../../../testdata/convert/*.tools.json")
	offered := 0
	for _, file := range files {
		if strings.Contains(file, "nasty") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if rawjson.Kind(text) == 'a' {
			text = append(append([]byte(`{"tools":`), text...), '}')
		}
		e := reading(registry.Limits{}).tools(text)
		if e == nil {
			t.Fatalf("%s: no list", file)
		}
		if e.Extra != "" {
			t.Errorf("%s: %s", file, e.Extra)
		}
		offered += strings.Count(e.Text, "\n") + 1
	}
	if offered < 100 {
		t.Errorf("%d tools in %d files", offered, len(files))
	}
}

func TestOversizedSchemas(t *testing.T) {
	limits := registry.Limits{SchemaDepth: 3, SchemaNodes: 6, EnumValues: 2}.WithDefaults()
	for schema, want := range map[string]string{
		`{}`: "",
		`{"properties":{"a":{"properties":{"b":{"type":"string"}}}}}`:              "",
		`{"properties":{"a":{"properties":{"b":{"items":{}}}}}}`:                   "s is nested deeper than 3 schemas",
		`{"properties":{"properties":{"type":"string"},"enum":{"type":"string"}}}`: "",
		`{"anyOf":[{},{},{},{},{}]}`:                                               "",
		`{"anyOf":[{},{},{},{},{},{}]}`:                                            "s has more than 6 schemas",
		`{"enum":[1,2]}`:                                                           "",
		`{"items":{"enum":[1,2,3]}}`:                                               "s has an enum of more than 2 values",
		`{"properties":{"enum":{"type":"string","enum":[null,null,null]}}}`:        "s has an enum of more than 2 values",
		strings.Repeat(`{"not":`, 200) + `{}` + strings.Repeat(`}`, 200):           "s is nested too deep",
		`{"$defs":{"a":{},"b":{},"c":{},"d":{},"e":{}}}`:                           "",
		`{"$defs":{"a":{},"b":{},"c":{},"d":{},"e":{},"f":{}}}`:                    "s has more than 6 schemas",
	} {
		if got := oversized("s", []byte(schema), &limits); got != want {
			t.Errorf("%.100s: %q, want %q", schema, got, want)
		}
	}
}
