package sdksession

import (
	"encoding/json"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// FuzzPage checks that whatever a server lists, what comes of it are tools that a
// registry can hold.
func FuzzPage(f *testing.F) {
	for _, s := range []string{
		`{"tools":[]}`, `{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"","ttlMs":1e99}`,
		`{"tools":[null,1,"x",[],{}],"nextCursor":null}`,
		`{"tools":[{"name":"a","inputSchema":{"properties":{"x":{"type":"string","x-mcp-header":"X"}}}}]}`,
	} {
		f.Add([]byte(s), true)
	}
	limits := registry.Limits{DefinitionBytes: 200, Depth: 8}.WithDefaults()
	f.Fuzz(func(t *testing.T, text []byte, modern bool) {
		page, bindings, err := readPage(text, limits, modern)
		if err != nil {
			return
		}
		if page.TTL < 0 {
			t.Errorf("TTL %v", page.TTL)
		}
		for _, tool := range page.Tools {
			def, err := tool.Def.JSON()
			if err != nil || tool.Name == "" || len(tool.Name) > maxToolName || len(def) > 200 || rawjson.Valid(def, 8) != nil || !json.Valid(def) {
				t.Errorf("tool %q: %s", tool.Name, def)
			}
		}
		for tool, all := range bindings {
			for _, b := range all {
				if b.header == "" || len(b.path) == 0 {
					t.Errorf("binding of %q: %+v", tool, b)
				}
			}
			for _, values := range paramHeaders(all, []byte(`{"x":"é\n"}`)) {
				if !isASCII(values[0]) {
					t.Errorf("header value %q", values[0])
				}
			}
		}
	})
}

func BenchmarkReadPage(b *testing.B) {
	const def = `{"name":"tool","description":"A tool that does something or other with what it is given, and says so.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where"},"recursive":{"type":"boolean"},"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["path"]}}`
	text := []byte(`{"tools":[`)
	for i := range 1000 {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, def...)
	}
	text = append(text, "]}"...)
	limits := registry.Limits{}.WithDefaults()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := readPage(text, limits, true); err != nil {
			b.Fatal(err)
		}
	}
}
