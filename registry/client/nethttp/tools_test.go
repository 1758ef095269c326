package nethttp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// reading returns an exchange that reads one list.
func reading(limits registry.Limits) *exchange {
	p := New(nil)
	p.Join(limits.WithDefaults(), nil)
	return &exchange{p: p, Exchange: new(client.Exchange)}
}

// FuzzTools checks that a registry can hold the tools of any list.
func FuzzTools(f *testing.F) {
	for _, s := range []string{
		`{"tools":[]}`, `{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"","ttlMs":1e99}`,
		`{"tools":[null,1,"x",[],{}],"nextCursor":null}`,
		`{"tools":[{"name":"a","inputSchema":{"properties":{"x":{"type":"string","x-mcp-header":"X"}}}}]}`,
	} {
		f.Add([]byte(s))
	}
	x := reading(registry.Limits{DefinitionBytes: 200, Depth: 8})
	f.Fuzz(func(t *testing.T, text []byte) {
		e := x.tools(text)
		if e == nil {
			return
		}
		defer x.p.Free(e.Table)
		if e.Extra != "" && !json.Valid([]byte(e.Extra)) {
			t.Errorf("extra %q", e.Extra)
		}
		names := strings.Split(e.Text, "\n")
		for i, def := range x.p.table(e.Table).shown {
			if names[i] == "" || len(names[i]) > maxToolName || rawjson.Valid(def, 8) != nil || !json.Valid(def) {
				t.Errorf("tool %q: %s", names[i], def)
			}
		}
	})
}

func TestLongDescriptionsAreCut(t *testing.T) {
	for _, row := range []struct{ description, want string }{
		{strings.Repeat("x", 200), strings.Repeat("x", 200)},
		{strings.Repeat("x", 201), strings.Repeat("x", 191) + "… (cut)"},
		{strings.Repeat("é", 101), strings.Repeat("é", 95) + "… (cut)"},
	} {
		def := func(description string) string {
			return `{"name":"n","description":"` + description + `","inputSchema":{"type":"object"}}`
		}
		if got := string(cutDescription([]byte(def(row.description)), 200)); got != def(row.want) {
			t.Errorf("cut: %s, want %s", got, def(row.want))
		}
	}
}

func BenchmarkTools(b *testing.B) {
	const def = `{"name":"tool","description":"A tool that does something or other with what it is given, and says ` +
		`so.","inputSchema":{"type":"object","properties":{"path":{"type":"string","description":"Where"},` +
		`"recursive":{"type":"boolean"},"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["path"]}}`
	text := []byte(`{"tools":[` + strings.Repeat(def+",", 999) + def + "]}")
	x := reading(registry.Limits{})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		x.p.Free(x.tools(text).Table)
	}
}
