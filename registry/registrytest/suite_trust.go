package registrytest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/pin"
)

// listing serves one list of definitions.
func listing(defs ...string) *Script {
	return new(Script).On("tools/list", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"tools":[`+strings.Join(defs, ",")+`]}}`))
}

// testPins holds a session's pins to package pin, of what the server sent.
func testPins(t *testing.T, dial Dial) {
	defs := []string{
		`{"name":"plain","inputSchema":{"type":"object"}}`,
		`{"inputSchema": {"properties":{"b":{"type":"number","maximum":1e21},"a":{"enum":["\u00e9",1.0]}}, "type":"object"},"name":"other","title":"T","annotations":{"readOnlyHint":true}}`,
		`{"name":"digits","inputSchema":{"const":12345678901234567890}}`,
		`{"name":"ui","inputSchema":{},"outputSchema":{},"_meta":{"ui":{"resourceUri":"ui://a"},"etag":1}}`,
		`{"name":"hidden","description":"a\u200bb\u001b[1m","inputSchema":{}}`,
	}
	p := connect(t, dial, listing(defs...), Options{})
	page := p.list(nil)
	if len(page.Tools) != len(defs) {
		t.Fatalf("tools %v, dropped %v", names(page), page.Dropped)
	}
	for i, tool := range page.Tools {
		want, err := pin.Of([]byte(defs[i]))
		got := tool.Pin
		if def, ok := tool.Def.(registry.Pinner); ok && got == "" {
			got = def.Pin()
		}
		if err != nil || got != want {
			t.Errorf("%s: pin %q, want %q (%v)", tool.Name, got, want, err)
		}
	}
}

// testHygiene has sessions hand on nothing that is hidden.
func testHygiene(t *testing.T, dial Dial) {
	const hidden = `{"name":"t","description":"a\u200bb\u202ec\u001b[31md","inputSchema":{"properties":{"p":{"title":"e\ud83d\ude00\u2066","enum":["f\u200b"]}}},"future":["\u0645\u06cc\u200c\u062e"]}`
	p := connect(t, dial, listing(hidden,
		`{"name":"u","inputSchema":{"properties":{"a\u200b":{}}}}`,
		`{"name":"v\u2060","inputSchema":{}}`,
		`{"name":"clean","description":"\u00e9\r\n","inputSchema":{}}`,
	), Options{})
	page := p.list(nil)
	diff(t, "names", []string{"t", "clean"}, names(page))
	if len(page.Dropped) != 2 || !strings.Contains(page.Dropped[0].Reason, "hidden") || !strings.Contains(page.Dropped[1].Reason, "hidden") {
		t.Errorf("dropped %v", page.Dropped)
	}
	def, err := page.Tools[0].Def.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(def, &got); err != nil {
		t.Fatal(err)
	}
	diff(t, "definition", map[string]any{
		"name": "t", "description": "abcd", "future": []any{"می\u200cخ"},
		"inputSchema": map[string]any{"properties": map[string]any{"p": map[string]any{"title": "e😀", "enum": []any{"f\u200b"}}}},
	}, got)
	// A tool whose name repeats a secret is dropped, and not shown by that name.
	s := listing(`{"name":"x-s3cr3t-session","inputSchema":{}}`, `{"name":"y","inputSchema":{}}`)
	s.Session = "s3cr3t-session"
	page = connect(t, dial, s, Options{}).list(nil)
	diff(t, "names", []string{"y"}, names(page))
	if len(page.Dropped) != 1 || strings.Contains(page.Dropped[0].Name, s.Session) || page.Dropped[0].Reason != "the name repeats a secret" {
		t.Errorf("dropped %v", page.Dropped)
	}
}
