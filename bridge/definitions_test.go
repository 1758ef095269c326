package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

// A definition that a client refuses would cost it the tools of all servers.
func TestADefinitionThatClientsRefuseIsRepaired(t *testing.T) {
	b, e, _ := paired(t, nil)
	rows := []struct{ written, modern, older string }{
		{
			written: `{"name":"sound","title":"A","inputSchema":{"type":"object","properties":{"z":{},"a":{}},"required":["z"]},` +
				`"outputSchema":{"type":"object"},"annotations":{"title":"A","readOnlyHint":true}}`,
		},
		{
			written: `{"name":"nulls","title":null,"inputSchema":{"type":"object","properties":null,"required":null},"outputSchema":null,"annotations":null}`,
			modern:  `{"name":"nulls","inputSchema":{"type":"object"}}`,
		},
		{
			written: `{"name":"other","title":7,"inputSchema":{"type":"array","properties":{"a":true,"b":false},"required":["a",null]},"annotations":{"title":7,"readOnlyHint":"yes","destructiveHint":true}}`,
			modern:  `{"annotations":{"destructiveHint":true},"name":"other","inputSchema":{"properties":{"a":{},"b":{}},"type":"object"}}`,
		},
		{
			written: `{"name":"bare","annotations":"none","outputSchema":"none"}`,
			modern:  `{"name":"bare","inputSchema":{"type":"object"}}`,
		},
		{
			written: `{"name":"array","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`,
			modern:  `{"name":"array","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}}`,
			older:   `{"name":"array","inputSchema":{"type":"object"}}`,
		},
	}
	var tools []json.RawMessage
	for _, row := range rows {
		tools = append(tools, json.RawMessage(row.written))
	}
	list, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		t.Fatal(err)
	}
	e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch method {
			case "tools/list":
				return &rawmsg.Result{Text: list}, nil
			case "tools/call":
				return &rawmsg.Result{Text: json.RawMessage(req.GetParams().(*mcp.CallToolParamsRaw).Arguments)}, nil
			}
			return next(ctx, method, req)
		}
	})
	e.connect(t, b)
	for _, version := range []string{"2025-11-25", modern} {
		d := newDesktopOf(t, version, overHTTP(t, b, ""), nil)
		for names := d.names(t, true); names[0] != "sound"; names = d.names(t, true) {
			<-d.changed
		}
		got, err := d.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			want := row.older
			if want == "" || version == modern {
				want = row.modern
			}
			if want == "" {
				want = row.written
			}
			if text := jsonOf(t, got.Tools[i]); text != jsonOf(t, decoded(t, want)) {
				t.Errorf("%s: %s, want %s", version, text, want)
			}
		}

		for _, row := range []struct{ written, older string }{
			{`{"content":[],"structuredContent":{"a":1}}`, ""},
			{`{"content":[],"structuredContent":[1]}`, `{"content":[{"type":"text","text":"[1]"}]}`},
			{`{"content":[{"type":"text","text":"one"}],"structuredContent":1}`, `{"content":[{"type":"text","text":"one"}]}`},
			{`{"content":[],"structuredContent":null}`, `{"content":[]}`},
		} {
			want := row.older
			if want == "" || version == modern {
				want = row.written
			}
			result, err := d.CallTool(t.Context(), &mcp.CallToolParams{Name: "sound", Arguments: json.RawMessage(row.written)})
			if err != nil {
				t.Fatal(err)
			}
			wanted := new(mcp.CallToolResult)
			if err := json.Unmarshal([]byte(want), wanted); err != nil {
				t.Fatal(err)
			}
			if text := jsonOf(t, result.Content) + jsonOf(t, result.StructuredContent); text != jsonOf(t, wanted.Content)+jsonOf(t, wanted.StructuredContent) {
				t.Errorf("%s: %s, want %s", version, text, want)
			}
		}
	}
}

// The browser's own tools come last.
func TestTheFirstToolsOfAListThatIsTooLargeAreLeftOut(t *testing.T) {
	b := start(t, nil)
	b.SetListBytes(8 << 10)
	e := newExtension("Work")
	e.pair(t, b)
	const pages = 12
	text := strings.Repeat("x", 1<<10)
	e.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "tools/list" {
				return next(ctx, method, req)
			}
			at := max(1, len(req.GetParams().(*mcp.ListToolsParams).Cursor))
			words, next := text, strings.Repeat("x", at+1)
			if at == pages {
				words, next = "own", ""
			}
			return &rawmsg.Result{Text: fmt.Appendf(nil, `{"tools":[{"name":"tool%d","description":"%s"}],"nextCursor":"%s"}`, at, words, next)}, nil
		}
	})
	e.connect(t, b)
	names := newDesktop(t, overHTTP(t, b, ""), nil).names(t, true)
	if first, last := names[0], names[len(names)-1]; first != "tool5" || last != "tool12" {
		t.Errorf("tools %v", names)
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decoded(t *testing.T, definition string) *mcp.Tool {
	t.Helper()
	tool := new(mcp.Tool)
	if err := json.Unmarshal([]byte(definition), tool); err != nil {
		t.Fatal(err)
	}
	return tool
}
