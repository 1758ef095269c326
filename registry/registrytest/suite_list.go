package registrytest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

func testVersions(t *testing.T, dial Dial) {
	for _, row := range []struct {
		name    string
		opts    ServerOptions
		version string
	}{
		{"2024-11-05", ServerOptions{Versions: []string{"2024-11-05"}}, "2024-11-05"},
		{"2025-03-26", ServerOptions{Versions: []string{"2025-03-26"}}, "2025-03-26"},
		{"2025-06-18", ServerOptions{Versions: []string{"2025-06-18"}, JSON: true}, "2025-06-18"},
		{"2025-11-25", ServerOptions{}, "2025-11-25"},
		{"2025-11-25 JSON", ServerOptions{JSON: true}, "2025-11-25"},
		{"2026-07-28", ServerOptions{Modern: true}, "2026-07-28"},
		{"2026-07-28 JSON", ServerOptions{Modern: true, JSON: true}, "2026-07-28"},
		{"only 2026-07-28", ServerOptions{Modern: true, Versions: []string{"2026-07-28"}}, "2026-07-28"},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := connect(t, dial, NewServer(&row.opts), Options{})
			info := p.Info()
			if row.opts.Modern != (row.version == "2026-07-28") || !info.Capabilities.Has("tools") {
				t.Errorf("capabilities %s", info.Capabilities)
			}
			info.Capabilities = nil
			diff(t, "info", registry.SessionInfo{
				Transport: "streamable-http", ProtocolVersion: row.version,
				Server: registry.Implementation{Name: "registrytest", Version: "1.2.3"}, Instructions: "Use echo.", ListChanged: true,
			}, info)
			if n := len(p.list(nil).Tools); n != 10 {
				t.Errorf("%d tools, want 10", n)
			}
			if got := p.text("echo", `{"text":"hé"}`); got != `{"text":"hé"}` {
				t.Errorf("echo: %s", got)
			}
		})
	}
}

func testPages(t *testing.T, dial Dial) {
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprint("modern ", modern), func(t *testing.T) {
			p := connect(t, dial, NewServer(&ServerOptions{Modern: modern, PageSize: 4, Extra: 10}), Options{})
			var all []string
			pages := 0
			var cursor *string
			for {
				page := p.list(cursor)
				all = append(all, names(page)...)
				pages++
				if cursor = page.NextCursor; cursor == nil {
					break
				}
			}
			if len(all) != 20 || pages != 5 {
				t.Errorf("%d tools on %d pages, want 20 on 5: %v", len(all), pages, all)
			}
		})
	}
	t.Run("empty cursor", func(t *testing.T) {
		s := new(Script).On("tools/list", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"tools":[],"nextCursor":"","ttlMs":1500}}`))
		p := connect(t, dial, s, Options{})
		page := p.list(nil)
		if page.NextCursor == nil || *page.NextCursor != "" {
			t.Errorf("cursor %v, want an empty one", page.NextCursor)
		}
		if page.TTL != 1500*time.Millisecond {
			t.Errorf("TTL %v", page.TTL)
		}
		p.list(page.NextCursor)
		lists := s.Received("tools/list")
		if strings.Contains(string(lists[0].Params), "cursor") || !strings.Contains(string(lists[1].Params), `"cursor":""`) {
			t.Errorf("params %s, then %s", lists[0].Params, lists[1].Params)
		}
	})
	t.Run("whole definitions", func(t *testing.T) {
		const def = `{"name":"t","inputSchema":{"type":"object","$defs":{"a":{"const":12345678901234567890}},"x-unknown":[null]},"annotations":{"readOnlyHint":true},"_meta":{"k":"v"},"future":{}}`
		p := connect(t, dial, new(Script).On("tools/list", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"tools":[`+def+`]}}`)), Options{})
		page := p.list(nil)
		got, err := page.Tools[0].Def.JSON()
		if err != nil || string(got) != def {
			t.Errorf("definition %s, %v", got, err)
		}
		if page.Bytes < len(def) || page.Tools[0].Def.Len() < len(def)/2 {
			t.Errorf("sizes: page %d, tool %d", page.Bytes, page.Tools[0].Def.Len())
		}
	})
}

func testDrops(t *testing.T, dial Dial) {
	const good = `{"name":"good","inputSchema":{"type":"object"}}`
	annotated := func(schema string) string {
		return `{"name":"x","inputSchema":{"type":"object","properties":` + schema + `}}`
	}
	for _, row := range []struct {
		name, def string
		modern    bool // only 2026-07-28 drops it
	}{
		{"null", `null`, false},
		{"number", `7`, false},
		{"no name", `{"inputSchema":{"type":"object"}}`, false},
		{"name of a wrong type", `{"name":1,"inputSchema":{"type":"object"}}`, false},
		{"empty name", `{"name":"","inputSchema":{"type":"object"}}`, false},
		{"long name", `{"name":"` + strings.Repeat("n", 257) + `","inputSchema":{"type":"object"}}`, false},
		{"no schema", `{"name":"x"}`, false},
		{"schema of a wrong type", `{"name":"x","inputSchema":true}`, false},
		{"large", `{"name":"x","description":"` + strings.Repeat("d", 300<<10) + `","inputSchema":{"type":"object"}}`, false},
		{"deep", `{"name":"x","inputSchema":` + strings.Repeat(`{"a":`, 100) + `{}` + strings.Repeat(`}`, 100) + `}`, false},
		{"for apps only", `{"name":"x","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["app"]}}}`, false},
		{"x-mcp-header in a list", annotated(`{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}`), true},
		{"x-mcp-header in a choice", annotated(`{"a":{"anyOf":[{"type":"string","x-mcp-header":"A"}]}}`), true},
		{"x-mcp-header not a name", annotated(`{"a":{"type":"string","x-mcp-header":""}}`), true},
		{"x-mcp-header not a string", annotated(`{"a":{"type":"string","x-mcp-header":1}}`), true},
		{"x-mcp-header with a space", annotated(`{"a":{"type":"string","x-mcp-header":"A B"}}`), true},
		{"x-mcp-header on a number", annotated(`{"a":{"type":"number","x-mcp-header":"A"}}`), true},
		{"x-mcp-header twice", annotated(`{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"object","properties":{"c":{"type":"string","x-mcp-header":"a"}}}}`), true},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, modern := range []bool{false, true} {
				s := &Script{Modern: modern}
				s.On("tools/list", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":{"tools":[`+row.def+`,`+good+`]}}`))
				page := connect(t, dial, s, Options{Limits: registry.Limits{Depth: 64}}).list(nil)
				if modern || !row.modern {
					diff(t, "names", []string{"good"}, names(page))
					if len(page.Dropped) != 1 || page.Dropped[0].Reason == "" {
						t.Errorf("modern %v: dropped %v", modern, page.Dropped)
					}
				} else if len(page.Tools) != 2 {
					t.Errorf("tools %v, dropped %v", names(page), page.Dropped)
				}
			}
		})
	}
}

func testBadLists(t *testing.T, dial Dial) {
	for _, result := range []string{`{}`, `{"tools":null}`, `{"tools":{}}`, `[]`, `null`, `"x"`} {
		s := new(Script).On("tools/list", Body("application/json", `{"jsonrpc":"2.0","id":$id,"result":`+result+`}`))
		p := connect(t, dial, s, Options{})
		if page, err := p.ListTools(p.ctx, nil); !errors.Is(err, registry.ErrProtocol) {
			t.Errorf("result %s: %v, %v, want ErrProtocol", result, page, err)
		}
	}
}
