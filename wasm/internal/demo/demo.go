// Package demo is the MCP server inside the module, "builtin:demo": a handful
// of tools that show everything a tool can do, without a network. It stands at
// the session seam, since nothing is framed or sent.
package demo

import (
	"context"
	"strconv"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// URL is how a server's configuration names the demo.
const URL = "builtin:demo"

// Or returns a Connect that opens the demo for its URL, refuses other builtin
// names, and leaves the rest to next.
func Or(next registry.Connect) registry.Connect {
	return func(ctx context.Context, name string, cfg registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
		switch {
		case cfg.URL == URL:
			return session{}, nil
		case len(cfg.URL) >= 8 && cfg.URL[:8] == "builtin:":
			return nil, registry.Because(registry.ErrInvalidConfig, "there is no "+cfg.URL+"; the one builtin server is "+URL)
		}
		return next(ctx, name, cfg, notify)
	}
}

type session struct{}

func (session) Info() registry.SessionInfo {
	return registry.SessionInfo{ProtocolVersion: "2026-07-28", ServerName: "portolan-demo", ServerVersion: "1"}
}

func (session) Close(context.Context) error { return nil }

func (session) ListTools(context.Context, *string) (*registry.ToolPage, error) {
	page := &registry.ToolPage{}
	for _, t := range tools {
		page.Tools = append(page.Tools, registry.ToolDef{Name: t.name, Def: registry.Raw(t.definition())})
		page.Bytes += len(t.schema) + len(t.description)
	}
	return page, nil
}

func (session) CallTool(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	for _, t := range tools {
		if t.name == call.Tool {
			return t.run(ctx, call)
		}
	}
	return nil, &registry.RPCError{Code: -32602, Message: "unknown tool: " + call.Tool}
}

type tool struct {
	name, description, schema string
	run                       func(context.Context, registry.ToolCall) (*registry.ToolOutput, error)
}

func (t tool) definition() []byte {
	b := rawjson.AppendString([]byte(`{"name":`), t.name)
	b = rawjson.AppendString(append(b, `,"description":`...), t.description)
	return append(append(append(b, `,"inputSchema":`...), t.schema...), '}')
}

var tools = []tool{
	{"echo", "Returns the text that it is given.",
		`{"type":"object","properties":{"text":{"type":"string","description":"What to say"}},"required":["text"]}`, echo},
	{"add", "Adds two numbers.",
		`{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}`, add},
	{"count", "Counts slowly and reports progress.",
		`{"type":"object","properties":{"to":{"type":"integer","minimum":1,"maximum":100,"default":5},"delayMs":{"type":"integer","minimum":0,"maximum":10000,"default":200}}}`, count},
	{"picture", "Returns a small image.", `{"type":"object","properties":{}}`, picture},
	{"weather", "Returns made-up weather as structured content.",
		`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`, weather},
	{"fail", "Always answers with an error.",
		`{"type":"object","properties":{"reason":{"type":"string"}}}`, fail},
}

func echo(_ context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	return text(argString(call, "text", "")), nil
}

func add(_ context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	a, okA := argNumber(call, "a")
	b, okB := argNumber(call, "b")
	if !okA || !okB {
		return failure("a and b must be numbers"), nil
	}
	return text(strconv.FormatFloat(a+b, 'f', -1, 64)), nil
}

func count(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	to, ok := argNumber(call, "to")
	if !ok {
		to = 5
	}
	delay, ok := argNumber(call, "delayMs")
	if !ok {
		delay = 200
	}
	to, delay = min(max(to, 1), 100), min(max(delay, 0), 10_000)
	for i := 1.0; i <= to; i++ {
		select {
		case <-time.After(time.Duration(delay * float64(time.Millisecond))):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if call.OnProgress != nil {
			call.OnProgress(registry.Progress{Progress: i, Total: to, Message: "at " + strconv.Itoa(int(i))})
		}
	}
	return text("counted to " + strconv.Itoa(int(to))), nil
}

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func picture(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
	return result(`{"content":[{"type":"text","text":"One pixel:"},{"type":"image","mimeType":"image/png","data":"`+pixel+`"}]}`, false), nil
}

func weather(_ context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	city := rawjson.AppendString(nil, argString(call, "city", "nowhere"))
	structured := `{"city":` + string(city) + `,"celsius":21.5,"sky":"clear"}`
	shown := rawjson.AppendString(nil, structured)
	return result(`{"content":[{"type":"text","text":`+string(shown)+`}],"structuredContent":`+structured+`}`, false), nil
}

func fail(_ context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	return failure(argString(call, "reason", "this tool always fails")), nil
}

func text(s string) *registry.ToolOutput { return answer(s, false) }

func failure(s string) *registry.ToolOutput { return answer(s, true) }

func answer(s string, isError bool) *registry.ToolOutput {
	quoted := string(rawjson.AppendString(nil, s))
	json := `{"content":[{"type":"text","text":` + quoted + `}]`
	if isError {
		json += `,"isError":true`
	}
	return result(json+"}", isError)
}

func result(json string, isError bool) *registry.ToolOutput {
	return &registry.ToolOutput{Result: registry.Raw(json), IsError: isError}
}

func argString(call registry.ToolCall, key, def string) string {
	raw, _ := rawjson.Get(call.Arguments, key)
	if s, ok := rawjson.String(raw); ok {
		return s
	}
	return def
}

func argNumber(call registry.ToolCall, key string) (float64, bool) {
	raw, _ := rawjson.Get(call.Arguments, key)
	return rawjson.Float(raw)
}
