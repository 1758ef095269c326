package farm

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// answersCalls is a server whose calls are answered with that body.
func answersCalls(body string) server { return server{on: on{"tools/call": answers(body)}} }

func answersLists(body string) server { return server{on: on{"tools/list": answers(body)}} }

func initializes(result string) server { return server{on: on{"initialize": gives(result)}} }

// asks puts questions of the server before the answer to a call, on its stream.
func asks(messages string) server {
	return server{on: on{"tools/call": answersAfter(func(a *asked) { io.WriteString(a.w, messages) }, textResult("call 1"))}}
}

func dataOf(messages ...string) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString("data: " + m + "\n\n")
	}
	return b.String()
}

func protocolCases() []Case {
	const ok = `"result":{"content":[{"type":"text","text":"call 1"}]}`
	fine := `{"jsonrpc":"2.0","id":$id,` + ok + `}`
	large := strings.Repeat("lorem ipsum ", 10<<20/12)
	return []Case{
		{Name: "every answer is a page", Severe: true, server: server{any: html}, Expect: fails("protocol")},
		{Name: "a list is a page", Severe: true, server: server{on: on{"tools/list": html}}, Expect: fails("protocol")},
		{Name: "a call is answered with a page", Severe: true, Use: Use{Calls: 2}, server: server{on: on{"tools/call": func(a *asked) {
			if a.nth == 1 {
				html(a)
			} else {
				a.text("call 2")
			}
		}}}, Expect: works("code:protocol").last("text:call 2").most("initialize", 1)},
		{Name: "a list is cut off", server: answersLists(list[:40]), Expect: fails("protocol")},
		{Name: "a call's answer is cut off", Severe: true, Use: Use{Calls: 2}, server: server{on: on{"tools/call": func(a *asked) {
			if a.nth == 1 {
				answers(fine[:30])(a)
			} else {
				a.text("call 2")
			}
		}}}, Expect: works("code:protocol").last("text:call 2").most("tools/call", 2)},
		{Name: "a call's answer is empty", server: answersCalls(``), Expect: works("code:protocol")},
		{Name: "a call's answer is null", server: answersCalls(`null`), Expect: works("code:protocol")},
		{Name: "a call's answer is a number", server: answersCalls(`7`), Expect: works("code:protocol")},
		{Name: "a call's answer is an empty array", server: answersCalls(`[]`), Expect: works("code:protocol")},
		{Name: "a call's answer is an empty object", server: answersCalls(`{}`), Expect: works("code:protocol")},
		{Name: "a call's answer is a request", server: answersCalls(`{"jsonrpc":"2.0","id":$id,"method":"ping"}`), Expect: works("code:protocol")},
		{Name: "an answer with a byte order mark", server: answersCalls("\ufeff" + fine), Expect: works()},
		{Name: "an answer in invalid UTF-8", server: answersCalls(strings.Replace(fine, "call 1", "call \xff\xc0\x80", 1)), Expect: works()},
		{Name: "garbage behind an answer", server: answersCalls(fine + "}]"), Expect: works("code:protocol")},
		{Name: "two answers in one body", server: answersCalls(fine + "\n" + fine), Expect: works("code:protocol")},
		{Name: "an answer in a body of spaces", server: answersCalls(strings.Repeat(" \n\t\r", 100000) + fine), Expect: works()},
		{Name: "the wrong id", server: answersCalls(`{"jsonrpc":"2.0","id":424242,` + ok + `}`), Expect: works("code:protocol")},
		{Name: "the id as a string", server: answersCalls(`{"jsonrpc":"2.0","id":"$id",` + ok + `}`), Expect: works("code:protocol", "text:call")},
		{Name: "the id as 1e400", server: answersCalls(`{"jsonrpc":"2.0","id":1e400,` + ok + `}`), Expect: works("code:protocol")},
		{Name: "no id", server: answersCalls(`{"jsonrpc":"2.0",` + ok + `}`), Expect: works("code:protocol")},
		{Name: "an error without id", server: answersCalls(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}`), Expect: works("code:server_error")},
		{Name: "no jsonrpc member", server: answersCalls(`{"id":$id,` + ok + `}`), Expect: works()},
		{Name: "jsonrpc 1.0", server: answersCalls(`{"jsonrpc":"1.0","id":$id,` + ok + `,"error":null}`), Expect: works("text:", "code:protocol")},
		{Name: "a result and an error", server: answersCalls(`{"jsonrpc":"2.0","id":$id,` + ok + `,"error":{"code":1,"message":"x"}}`), Expect: works("text:", "code:server_error", "code:protocol")},
		{Name: "neither result nor error", server: answersCalls(`{"jsonrpc":"2.0","id":$id}`), Expect: works("code:protocol", "code:network")},
		{Name: "an answer in a batch", server: answersCalls(`[` + fine + `]`), Expect: works()},
		{Name: "an answer in a batch of 100,000", Severe: true, server: answersCalls(`[` + strings.Repeat(`{},null,[],`, 33000) + fine + `]`), Expect: works()},
		{Name: "a batch of batches", server: answersCalls(strings.Repeat("[", 100) + fine + strings.Repeat("]", 100)), Expect: works("code:protocol", "text:")},
		{Name: "answers to nobody before the answer", server: asks(dataOf(`{"jsonrpc":"2.0","id":7777,"result":{}}`, `{"jsonrpc":"2.0","id":"x","result":{}}`, `{"jsonrpc":"2.0","id":-1,"error":{"code":1,"message":"x"}}`)), Expect: works()},
		{Name: "answers to all ids before the answer", Severe: true, server: server{on: on{"tools/call": answersAfter(func(a *asked) {
			for i := range 200 {
				if id := strconv.Itoa(i); id != a.id {
					a.event(`{"jsonrpc":"2.0","id":` + id + `,"result":{"content":[{"type":"text","text":"stolen"}],"tools":[]}}`)
				}
			}
		}, textResult("call 1"))}}, Expect: works()},
		{Name: "the answer comes three times", server: server{on: on{"tools/call": func(a *asked) {
			a.events()
			for range 3 {
				a.event(a.message(textResult("call 1")))
			}
		}}}, Use: Use{Calls: 2}, Expect: works()},
		{Name: "an error's code is a string", server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":{"code":"E_FAIL","message":"no"}}`), Expect: works("code:server_error", "code:protocol")},
		{Name: "an error's code is 1e308", server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":{"code":1e308,"message":"no"}}`), Expect: works("code:server_error", "code:protocol")},
		{Name: "an error without members", server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":{}}`), Expect: works("code:server_error", "code:protocol")},
		{Name: "an error that is a string", server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":"no"}`), Expect: works("code:server_error", "code:protocol")},
		{Name: "an error's message is an object", server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":{"a":[1]}}}`), Expect: works("code:server_error", "code:protocol")},
		{Name: "an error's message is 10 MB", Severe: true, Use: Use{TimeoutMs: 20000}, server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"` + large + `"}}`), Expect: works("code:server_error", "code:too_large")},
		{Name: "an error's message is 10 MB, with status 500", Severe: true, Use: Use{TimeoutMs: 20000}, server: server{on: on{"tools/call": says(500, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"`+large+`"}}`)}}, Expect: works("code:http_status", "code:server_error")},
		{Name: "an error's message has 20,000 beginnings of tokens", Severe: true, server: server{session: "eyJeyJeyJx", on: on{"tools/call": answers(`{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"` + strings.Repeat("eyJ", 20000) + `"}}`)}}, Expect: works("code:server_error")},
		{Name: "an error's message has 60,000 beginnings of the session", Severe: true, server: server{session: strings.Repeat("a", 4000) + "b", on: on{"tools/call": answers(`{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"` + strings.Repeat("a", 60000) + `"}}`)}}, Expect: works("code:server_error")},
		{Name: "an error's message drives a terminal", server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"\u001b[2J\u001b]0;owned\u0007\u0000\r\nINJECTED"}}`), Expect: works("code:server_error")},
		{Name: "an error's data is 10,000 levels deep", Severe: true, server: answersCalls(`{"jsonrpc":"2.0","id":$id,"error":{"code":-1,"message":"x","data":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}}`), Expect: works("code:server_error", "code:protocol")},
		{Name: "initialize is refused", server: server{on: on{"initialize": func(a *asked) { a.fault(200, -32603, "no") }}}, Expect: fails("server_error")},
		{Name: "initialize: version 1999-01-01", server: initializes(`{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`), Expect: fails("protocol")},
		{Name: "initialize: version 9999-99-99", server: initializes(`{"protocolVersion":"9999-99-99","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`), Expect: fails("protocol")},
		{Name: "initialize: version of 1 MB", Severe: true, server: initializes(`{"protocolVersion":"` + large[:1<<20] + `","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`), Expect: fails("protocol")},
		{Name: "initialize: version is a number", server: initializes(`{"protocolVersion":20251125,"capabilities":{},"serverInfo":{"name":"x","version":"1"}}`), Expect: fails("protocol")},
		{Name: "initialize: the result is null", server: initializes(`null`), Expect: fails("protocol")},
		{Name: "initialize: the result is an array", server: initializes(`[]`), Expect: fails("protocol")},
		{Name: "initialize: all members of other types", server: initializes(`{"protocolVersion":"2025-11-25","capabilities":[],"serverInfo":7,"instructions":{"a":1}}`), Expect: works().orFails("protocol")},
		{Name: "initialize: capabilities of other types", server: initializes(`{"protocolVersion":"2025-11-25","capabilities":{"tools":true,"logging":7,"experimental":[]},"serverInfo":{"name":"x","version":"1"}}`), Expect: works().orFails("protocol")},
		{Name: "initialize: a name of 5 MB", Severe: true, Use: Use{TimeoutMs: 20000}, server: initializes(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"` + large[:5<<20] + `","version":"` + large[:1<<20] + `"}}`), Expect: works().orFails("protocol", "too_large")},
		{Name: "initialize: instructions of 10 MB", Severe: true, Use: Use{TimeoutMs: 20000}, server: initializes(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"},"instructions":"` + large + `"}`), Expect: works().orFails("protocol", "too_large")},
		{Name: "initialize is 10,000 levels deep", Severe: true, server: initializes(`{"protocolVersion":"2025-11-25","capabilities":{"experimental":` + strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000) + `},"serverInfo":{"name":"x","version":"1"}}`), Expect: works().orFails("protocol")},
		{Name: "server/discover promises what the server is not", server: server{on: on{"server/discover": gives(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`), "tools/list": func(a *asked) { a.fault(400, -32600, "no session") }}}, Expect: survives().most("server/discover", 4)},
		{Name: "server/discover speaks of versions to come", server: server{on: on{"server/discover": gives(`{"resultType":"complete","supportedVersions":["2099-01-01"],"capabilities":{"tools":{}}}`)}}, Expect: works()},
		{Name: "server/discover is of other types", server: server{on: on{"server/discover": gives(`{"supportedVersions":{"a":1},"capabilities":"tools"}`)}}, Expect: works()},
		{Name: "server/discover refuses the version that it supports", Severe: true, server: server{on: on{"server/discover": answers(`{"jsonrpc":"2.0","id":$id,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`)}}, Expect: works().orFails("server_error").most("server/discover", 4)},
		{Name: "server/discover answers with 200 and an error", server: server{on: on{"server/discover": func(a *asked) { a.fault(200, -32601, "unknown") }}}, Expect: works()},
		{Name: "notifications are answered with 200 and nothing", server: server{on: on{"notifications/initialized": status(200)}}, Expect: works()},
		{Name: "notifications are answered with 204", server: server{on: on{"notifications/initialized": status(204)}}, Expect: works()},
		{Name: "notifications are answered with a message", server: server{on: on{"notifications/initialized": answers(`{"jsonrpc":"2.0","id":null,"result":{}}`)}}, Expect: works()},
		{Name: "notifications are answered with a stream", server: server{on: on{"notifications/initialized": floods(notification("x", "{}"), 1, 10*time.Millisecond)}}, Expect: works()},
		{Name: "notifications are refused", server: server{on: on{"notifications/initialized": status(400)}}, Expect: works()},
		{Name: "a call is answered with 202", server: server{on: on{"tools/call": status(202)}}, Expect: works("code:protocol", "code:network")},
		{Name: "a call is answered with 204", server: server{on: on{"tools/call": status(204)}}, Expect: works("code:protocol", "code:network")},
		{Name: "a list is answered with 202", server: server{on: on{"tools/list": status(202)}}, Expect: fails("protocol", "network")},
		{Name: "no content type", server: server{on: on{"tools/list": raws(head("200 OK", "Connection: close") + list)}}, Expect: works()},
		{Name: "a content type with parameters", server: server{on: on{"tools/call": says(200, `Application/JSON; charset="utf-8"; odd`, fine)}}, Expect: works()},
		{Name: "JSON that says it is text", server: server{on: on{"tools/call": says(200, `text/plain`, fine)}}, Expect: works("code:protocol", "text:")},
		{Name: "JSON that says it is a page", server: server{on: on{"tools/call": says(200, `text/html`, fine)}}, Expect: works("code:protocol")},
		{Name: "a content type of nonsense", server: server{on: on{"tools/call": says(200, `;;;=,"`, fine)}}, Expect: works("code:protocol", "text:")},
		{Name: "ping before the answer", server: asks(dataOf(request(`"p1"`, "ping", "{}"))), Expect: works()},
		{Name: "10,000 pings before the answer", Severe: true, Use: Use{TimeoutMs: 20000}, server: asks(strings.Repeat(dataOf(request(`1`, "ping", "{}")), 10000)), Expect: works().often("response", 60)},
		{Name: "sampling that was not announced", server: asks(dataOf(request(`"s1"`, "sampling/createMessage", `{"messages":[],"maxTokens":1}`))), Expect: works()},
		{Name: "roots that were not announced", server: asks(dataOf(request(`"s1"`, "roots/list", `{}`))), Expect: works()},
		{Name: "10,000 questions to the user", Severe: true, Use: Use{TimeoutMs: 20000}, server: asks(strings.Repeat(dataOf(request(`1`, "elicitation/create", `{"message":"Password?","requestedSchema":{"type":"object","properties":{}}}`)), 10000)), Expect: works().often("response", 60)},
		{Name: "10,000 requests of unknown methods", Severe: true, Use: Use{TimeoutMs: 20000}, server: asks(strings.Repeat(dataOf(request(`"u"`, "evil/method", `{}`)), 10000)), Expect: works().often("response", 60)},
		{Name: "requests with odd ids", server: asks(dataOf(request(`null`, "ping", "{}"), request(`{}`, "ping", "{}"), request(`[1]`, "ping", "{}"), request(`1.5`, "ping", "{}"), request(`"`+large[:100000]+`"`, "ping", "{}"))), Expect: works()},
		{Name: "a method of 1 MB", server: asks(dataOf(request(`1`, large[:1<<20], "{}"), notification(large[:1<<20], "{}"))), Expect: works()},
		{Name: "a method that is no string", server: asks(dataOf(`{"jsonrpc":"2.0","id":1,"method":7}`, `{"jsonrpc":"2.0","method":{"a":1},"params":3}`)), Expect: works()},
		{Name: "it cancels our request", server: server{on: on{"tools/call": answersAfter(func(a *asked) { a.event(notification("notifications/cancelled", `{"requestId":`+a.id+`}`)) }, textResult("call 1"))}}, Expect: works("text:", "code:aborted", "code:network", "code:protocol", "code:server_error")},
		{Name: "numbers and prototypes in a message", server: asks(dataOf(`{"jsonrpc":"2.0","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"method":"notifications/message","params":{"__proto__":{"polluted":true},"n":1e999}}`)), Expect: works()},
		{Name: "a message of 100,000 levels", Severe: true, server: asks(dataOf(`{"jsonrpc":"2.0","method":"x","params":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}`)), Expect: works()},
		{Name: "an answer of 100,000 levels", Severe: true, server: answersCalls(`{"jsonrpc":"2.0","id":$id,"result":{"content":[],"x":` + strings.Repeat("[", 100000) + strings.Repeat("]", 100000) + `}}`), Expect: works("code:protocol")},
		{Name: "members that appear twice", server: answersCalls(`{"jsonrpc":"2.0","id":0,"id":$id,"result":{},` + ok + `}`), Expect: works()},
	}
}

func sessionCases() []Case {
	// forgets answers the first n requests of that method as if it did not know the session.
	forgets := func(method string, n, code int) server {
		return server{session: "s", on: on{method: func(a *asked) {
			if a.nth <= n {
				a.w.WriteHeader(code)
				return
			}
			server{}.usual(a)
		}}}
	}
	id := func(value string) server { return server{session: value} }
	return []Case{
		{Name: "a call is answered with 404", Severe: true, server: forgets("tools/call", 1, 404), Expect: works("text:call 2").most("tools/call", 2).most("initialize", 2)},
		{Name: "a call is answered with 400 in a session", Severe: true, server: forgets("tools/call", 1, 400), Expect: works("text:call 2").most("tools/call", 2).most("initialize", 2)},
		{Name: "all calls are answered with 404", Severe: true, server: forgets("tools/call", 1000, 404), Expect: works("code:session_expired").most("tools/call", 2).most("initialize", 4)},
		{Name: "a list is answered with 404", Severe: true, server: forgets("tools/list", 1, 404), Expect: works().most("initialize", 2)},
		{Name: "all lists are answered with 404", Severe: true, Use: Use{LingerMs: 1000}, server: forgets("tools/list", 1000, 404), Expect: fails("session_expired", "http_status").most("initialize", 8)},
		{Name: "notifications are answered with 404", server: forgets("notifications/initialized", 1000, 404), Expect: works().orFails("session_expired", "http_status")},
		{Name: "GET is answered with 404", server: server{session: "s", listChanged: true, on: on{"GET": status(404)}}, Use: Use{LingerMs: 700}, Expect: works().most("initialize", 3)},
		{Name: "the session id changes with each answer", Severe: true, server: server{any: func(a *asked) { server{session: "s" + strconv.Itoa(a.nth)}.usual(a) }, on: on{"tools/call": func(a *asked) { a.w.Header().Set("Mcp-Session-Id", "other"); a.text("call 1") }}}, Expect: works()},
		{Name: "a session id that is not ASCII", Severe: true, server: id("sëssion-日本"), Expect: works().orFails("protocol", "network")},
		{Name: "a session id with control characters", Severe: true, server: server{on: on{"initialize": func(a *asked) {
			body := a.message(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
			a.raw(head("200 OK", jsonType, length(len(body)), "Mcp-Session-Id: a\x01\tb\x7f", "Connection: close")+body, nil)
		}}}, Expect: works().orFails("protocol", "network")},
		{Name: "a session id of 100 KB", Severe: true, server: id(strings.Repeat("s", 100<<10)), Expect: works().orFails("protocol", "network")},
		{Name: "a session id that would add a header", Severe: true, server: server{on: on{"initialize": func(a *asked) {
			body := a.message(`{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
			a.raw(head("200 OK", jsonType, length(len(body)), "Mcp-Session-Id: a\r\n b: c", "Connection: close")+body, nil)
		}}}, Expect: works().orFails("protocol", "network")},
		{Name: "an empty session id", server: server{on: on{"initialize": func(a *asked) { a.w.Header().Set("Mcp-Session-Id", ""); server{}.usual(a) }}}, Expect: works()},
		{Name: "a session that ends between calls", Use: Use{Calls: 3}, server: server{session: "s", on: on{"tools/call": func(a *asked) {
			if a.nth == 2 {
				a.fault(404, -32001, "session not found")
				return
			}
			a.text("call " + strconv.Itoa(a.nth))
		}}}, Expect: works().most("initialize", 2).most("tools/call", 4)},
	}
}
