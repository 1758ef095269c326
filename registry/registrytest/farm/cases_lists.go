package farm

import (
	"strconv"
	"strings"
)

// offers is a server with these tools.
func offers(tools ...string) server { return server{on: on{"tools/list": lists(tools...)}} }

// beside is a server with a tool that cannot be offered, before a good one.
func beside(odd string) server { return offers(odd, tool("t")) }

// dropped is a list without its odd tool.
func dropped(why string) Expect { return works().warning(why) }

func nested(open, inner, end string, n int) string {
	return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
}

func many(n int, of func(i int) string) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = of(i)
	}
	return all
}

func listCases() []Case {
	desc := func(text string) string { return `,"description":` + quote(text) }
	schema := func(s string) string { return toolWith("odd", s, "") }
	properties := func(n int) string {
		return `{"type":"object","properties":{` + strings.Join(many(n, func(i int) string { return `"p` + strconv.Itoa(i) + `":{"type":"string"}` }), ",") + `}}`
	}
	enum := func(n int) string {
		return `{"type":"object","properties":{"e":{"enum":[` + strings.Join(many(n, strconv.Itoa), ",") + `]}}}`
	}
	page := func(cursor string, next func(nth int) string) server {
		return server{on: on{"tools/list": func(a *asked) {
			a.result(`{"tools":[` + tool("t"+strconv.Itoa(a.nth)) + `],"nextCursor":` + next(a.nth) + `}`)
		}}}
	}
	return []Case{
		{Name: "100,000 tools", Severe: true, Use: Use{TimeoutMs: 20000}, server: offers(many(100000, func(i int) string {
			return toolWith("t"+strconv.Itoa(i), `{"type":"object"}`, desc(strings.Repeat("x", 60)))
		})...), Expect: Expect{Health: []string{""}, Warning: "cut at 1000 tools", Call: []string{"text:call"}}},
		{Name: "1,000 tools of 60 KB", Severe: true, Use: Use{TimeoutMs: 20000}, server: offers(many(1000, func(i int) string {
			return toolWith("t"+strconv.Itoa(i), `{"type":"object","description":"`+megabyte[:60<<10]+`"}`, "")
		})...), Expect: fails("too_large")},
		{Name: "10,000 tools that are none", Severe: true, Use: Use{TimeoutMs: 20000}, server: offers(append(many(10000, func(int) string { return "null" }), tool("t"))...), Expect: dropped("dropped")},
		{Name: "an enum of a million", Severe: true, Use: Use{TimeoutMs: 12000}, server: beside(schema(enum(1000000))), Expect: dropped("odd")},
		{Name: "an enum of 600", server: beside(schema(enum(600))), Expect: dropped("odd")},
		{Name: "a schema of 10,000 levels", Severe: true, Use: Use{TimeoutMs: 20000}, server: beside(schema(nested(`{"items":`, "{}", "}", 10000))), Expect: dropped("odd")},
		{Name: "a schema of a million levels", Severe: true, Use: Use{TimeoutMs: 12000}, server: beside(schema(nested(`{"not":`, "{}", "}", 1000000))), Expect: works().orFails("protocol", "too_large")},
		{Name: "a schema of 40 levels", server: beside(schema(nested(`{"items":`, "{}", "}", 40))), Expect: dropped("odd")},
		{Name: "a schema of 5,000 properties", server: beside(schema(properties(5000))), Expect: dropped("odd")},
		{Name: "an output schema of 5,000 properties", server: beside(toolWith("odd", `{"type":"object"}`, `,"outputSchema":`+properties(5000))), Expect: dropped("odd")},
		{Name: "a $ref to another origin", Severe: true, server: server{on: on{"tools/list": func(a *asked) {
			a.tools(toolWith("t", `{"type":"object","properties":{"a":{"$ref":"`+a.run.elsewhere()+`"}},"$schema":"`+a.run.elsewhere()+`"}`, `,"icons":[{"src":"`+a.run.elsewhere()+`"}]`))
		}}}, Expect: works()},
		{Name: "a $ref to a file", Severe: true, server: offers(toolWith("t", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "")), Expect: works()},
		{Name: "a $ref in a circle", Severe: true, server: offers(toolWith("t", `{"type":"object","properties":{"a":{"$ref":"#"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"$ref":"#/$defs/x"}},"allOf":[{"$ref":"#/$defs/x"}]}`, "")), Use: Use{Validate: true}, Expect: works("text:", "code:invalid_arguments")},
		{Name: "$refs that double at each level", Severe: true, server: offers(toolWith("t", `{"type":"object","$defs":{`+strings.Join(many(30, func(i int) string {
			n := strconv.Itoa(i + 1)
			return `"d` + strconv.Itoa(i) + `":{"allOf":[{"$ref":"#/$defs/d` + n + `"},{"$ref":"#/$defs/d` + n + `"}]}`
		}), ",")+`,"d30":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/d0"}}}`, "")), Use: Use{Validate: true, Args: `{"a":"x"}`, TimeoutMs: 20000}, Expect: Expect{Health: []string{""}}},
		{Name: "a pattern that takes for ever", Severe: true, Use: Use{Validate: true, Args: `{"a":"` + strings.Repeat("a", 40) + `!"}`}, server: offers(toolWith("t", `{"type":"object","properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}`, "")), Expect: works("text:", "code:invalid_arguments")},
		{Name: "a pattern that is none", Use: Use{Validate: true, Args: `{"a":"x"}`}, server: offers(toolWith("t", `{"type":"object","properties":{"a":{"type":"string","pattern":"(["}}}`, "")), Expect: works("text:", "code:invalid_arguments")},
		{Name: "null for a tool", Severe: true, server: beside("null"), Expect: dropped("dropped")},
		{Name: "a number, a string and an array for tools", Severe: true, server: offers("7", `"x"`, "[]", "[[]]", "true", tool("t")), Expect: dropped("dropped")},
		{Name: "a tool without a name", server: beside(`{"inputSchema":{"type":"object"}}`), Expect: dropped("name")},
		{Name: "a name that is a number", server: beside(`{"name":7,"inputSchema":{"type":"object"}}`), Expect: dropped("name")},
		{Name: "an empty name", server: beside(tool("")), Expect: dropped("name")},
		{Name: "a name of 1 MB", Severe: true, server: beside(tool(megabyte)), Expect: dropped("name")},
		{Name: "a name with control characters", server: beside(tool("a\x00\x1b[2Jb\n")), Expect: dropped("control")},
		{Name: "a name with a line break", Severe: true, server: beside(tool("a\nb")), Expect: dropped("control")},
		{Name: "a name with half a character", server: beside(`{"name":"a\ud800","inputSchema":{"type":"object"}}`), Expect: dropped("control")},
		{Name: "names of emoji, bidi and joiners", server: offers(tool("📦"), tool("a\u202eb"), tool("a\u200bb"), tool("é"), tool("e\u0301")), Expect: Expect{Health: []string{""}, Call: []string{"text:call 1"}}},
		{Name: "a name in Japanese, of 2026-07-28", Severe: true, server: server{modern: true, on: on{"tools/list": lists(tool("日本"))}}, Expect: works().tools("bad_tool_5evbav5wrf")},
		{Name: "a name as if already encoded, of 2026-07-28", server: server{modern: true, on: on{"tools/list": lists(tool("=?base64?eA==?="))}}, Expect: Expect{Health: []string{""}, Call: []string{"text:call 1"}}},
		{Name: "the same name twice", server: offers(tool("t"), toolWith("t", `{"type":"object"}`, desc("another"))), Expect: dropped("twice")},
		{Name: "the name of another server's tool", Severe: true, server: offers(tool("good__t"), tool("_good__t"), tool("t")), Expect: Expect{Health: []string{""}, Call: []string{"text:call 1"}}},
		{Name: "names of an object's own", Severe: true, server: offers(tool("__proto__"), tool("constructor"), tool("toString"), tool("hasOwnProperty")), Expect: Expect{Health: []string{""}, Call: []string{"text:call 1"}}},
		{Name: "properties of an object's own", Severe: true, server: offers(toolWith("t", `{"type":"object","properties":{"__proto__":{"type":"string","polluted":true},"constructor":{"prototype":{"polluted":true}}},"__proto__":{"polluted":true}}`, `,"__proto__":{"polluted":true}`)), Use: Use{Validate: true}, Expect: works("text:", "code:invalid_arguments")},
		{Name: "no inputSchema", server: beside(`{"name":"odd"}`), Expect: dropped("inputSchema")},
		{Name: "inputSchema is null", server: beside(schema("null")), Expect: dropped("inputSchema")},
		{Name: "inputSchema is an array", server: beside(schema("[]")), Expect: dropped("inputSchema")},
		{Name: "inputSchema is a string", server: beside(schema(`"object"`)), Expect: dropped("inputSchema")},
		{Name: "a schema of other types", server: offers(toolWith("t", `{"type":7,"properties":[1,2],"required":{"a":1},"enum":"x","items":"y","additionalProperties":"no"}`, "")), Use: Use{Validate: true}, Expect: works("text:", "code:invalid_arguments")},
		{Name: "a description that is a number", server: beside(toolWith("odd", `{"type":"object"}`, `,"description":7`)), Expect: dropped("description")},
		{Name: "a description of 100 KB", server: beside(toolWith("odd", `{"type":"object"}`, desc(megabyte[:100<<10]))), Expect: works().tools("bad__odd", "bad__t")},
		{Name: "a description of 1 MB", Severe: true, server: beside(toolWith("odd", `{"type":"object"}`, desc(megabyte))), Expect: dropped("odd")},
		{Name: "a definition of 300 KB", server: beside(toolWith("odd", `{"type":"object"}`, `,"_meta":{"x":"`+megabyte[:300<<10]+`"}`)), Expect: dropped("definition")},
		{Name: "members of other types", server: offers(toolWith("t", `{"type":"object"}`, `,"title":[],"annotations":"readOnly","outputSchema":7,"_meta":[],"icons":{"src":1}`)), Expect: works()},
		{Name: "half a character in a description", server: offers(toolWith("t", `{"type":"object"}`, `,"description":"a\ud83d b\udc00"`)), Expect: works()},
		{Name: "digits beyond a double in a schema", server: offers(toolWith("t", `{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993,"default":123456789012345678901234567890}}}`, "")), Expect: works()},
		{Name: "headers of nonsense, of 2026-07-28", Severe: true, server: server{modern: true, on: on{"tools/list": lists(
			toolWith("odd", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A\r\nX-Evil: 1"}}}`, ""), tool("t"))}}, Expect: dropped("x-mcp-header")},
		{Name: "header values that need encoding, of 2026-07-28", Severe: true, Use: Use{Args: `{"a":"日本\r\nX-Evil: 1"}`}, server: server{modern: true, on: on{"tools/list": lists(
			toolWith("t", `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"Place"}}}`, ""))}}, Expect: works()},
		{Name: "tools is null", server: server{on: on{"tools/list": gives(`{"tools":null}`)}}, Expect: fails("protocol")},
		{Name: "tools is an object", server: server{on: on{"tools/list": gives(`{"tools":{"0":{}}}`)}}, Expect: fails("protocol")},
		{Name: "no tools", server: server{on: on{"tools/list": gives(`{}`)}}, Expect: fails("protocol")},
		{Name: "a list that is an array", server: server{on: on{"tools/list": gives(`[]`)}}, Expect: fails("protocol")},
		{Name: "a list that is refused", server: server{on: on{"tools/list": func(a *asked) { a.fault(200, -32601, "no tools here") }}}, Expect: fails("server_error")},
		{Name: "a new cursor for ever", Severe: true, Use: Use{Limits: map[string]int{"pages": 10}}, server: page("", func(nth int) string { return `"c` + strconv.Itoa(nth) + `"` }), Expect: Expect{Health: []string{""}, Warning: "10 pages", Call: []string{"text:call"}}.most("tools/list", 10)},
		{Name: "the same cursor for ever", Severe: true, server: page("", func(int) string { return `"again"` }), Expect: Expect{Health: []string{""}, Warning: "cursor", Tools: []string{"bad__t1", "bad__t2"}}.most("tools/list", 2)},
		{Name: "an empty cursor", server: page("", func(nth int) string { return [...]string{``, `""`, `"x"`, `null`}[nth] }), Expect: Expect{Health: []string{""}, Tools: []string{"bad__t1", "bad__t2", "bad__t3"}}.least("tools/list", 3).sent(`"cursor":""`)},
		{Name: "an empty cursor for ever", Severe: true, server: page("", func(int) string { return `""` }), Expect: Expect{Health: []string{""}, Warning: "cursor"}.most("tools/list", 2)},
		{Name: "a cursor of 1 MB", Severe: true, server: page("", func(nth int) string { return quote(megabyte + strconv.Itoa(nth)) }), Expect: Expect{Health: []string{""}, Tools: []string{"bad__t1"}, Warning: "cursor", Call: []string{"text:call"}}.most("tools/list", 1)},
		{Name: "a cursor that is a number", server: page("", func(int) string { return `7` }), Expect: Expect{Health: []string{""}, Tools: []string{"bad__t1"}}.most("tools/list", 1)},
		{Name: "pages without tools for ever", Severe: true, Use: Use{TimeoutMs: 20000}, server: server{on: on{"tools/list": func(a *asked) { a.result(`{"tools":[],"nextCursor":"` + strconv.Itoa(a.nth) + `"}`) }}}, Expect: Expect{Health: []string{""}, Warning: "page"}.most("tools/list", 100)},
		{Name: "the second page is never answered", Severe: true, server: server{on: on{"tools/list": func(a *asked) {
			if a.nth > 1 {
				a.wait()
				return
			}
			a.result(`{"tools":[` + tool("t") + `],"nextCursor":"2"}`)
		}}}, Expect: works().warning("page")},
		{Name: "the second page is a fault", server: server{on: on{"tools/list": func(a *asked) {
			if a.nth > 1 {
				a.w.WriteHeader(500)
				return
			}
			a.result(`{"tools":[` + tool("t") + `],"nextCursor":"2"}`)
		}}}, Expect: works().warning("page")},
		{Name: "fresh for ten years", server: server{modern: true, on: on{"tools/list": gives(`{"tools":[` + tool("t") + `],"ttlMs":315360000000,"cacheScope":"public"}`)}}, Expect: works()},
		{Name: "fresh for less than nothing", Use: Use{LingerMs: 500}, server: server{modern: true, on: on{"tools/list": gives(`{"tools":[` + tool("t") + `],"ttlMs":-1e308}`)}}, Expect: works().most("tools/list", 2)},
		{Name: "fresh for a millisecond", Severe: true, Use: Use{LingerMs: 1500, Calls: 3}, server: server{modern: true, on: on{"tools/list": gives(`{"tools":[` + tool("t") + `],"ttlMs":1}`)}}, Expect: works().most("tools/list", 5)},
		{Name: "fresh for nonsense", server: server{modern: true, on: on{"tools/list": gives(`{"tools":[` + tool("t") + `],"ttlMs":"soon"}`)}}, Expect: works()},
		{Name: "another list each time", server: server{on: on{"tools/list": func(a *asked) { a.tools(tool("t"), tool("n"+strconv.Itoa(a.nth))) }}}, Expect: Expect{Health: []string{""}, Call: []string{"text:call"}}},
	}
}
