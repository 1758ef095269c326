package farm

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
)

// results is a server whose calls have that result.
func results(result string) server { return server{on: on{"tools/call": gives(result)}} }

func resultCases() []Case {
	text := `{"type":"text","text":"call 1"}`
	progress := func(params string) server {
		return server{on: on{"tools/call": answersAfter(func(a *asked) {
			a.event(notification("notifications/progress", strings.ReplaceAll(params, "$id", a.id)))
		}, textResult("call 1"))}}
	}
	return []Case{
		{Name: "isError is a string", server: results(`{"content":[` + text + `],"isError":"yes"}`), Expect: works()},
		{Name: "isError is null", server: results(`{"content":[` + text + `],"isError":null}`), Expect: works()},
		{Name: "isError is an answer", server: results(`{"content":[` + text + `],"isError":true}`), Expect: works("text:Error: call 1")},
		{Name: "content is null", server: results(`{"content":null}`), Expect: works("text:")},
		{Name: "content is an object", server: results(`{"content":{"type":"text","text":"x"}}`), Expect: works("text:")},
		{Name: "content is missing", server: results(`{}`), Expect: works("text:")},
		{Name: "the result is null", server: results(`null`), Expect: works("code:protocol")},
		{Name: "the result is a string", server: results(`"done"`), Expect: works("code:protocol", "text:")},
		{Name: "the result is an array", server: results(`[` + text + `]`), Expect: works("code:protocol", "text:")},
		{Name: "blocks that are none", server: results(`{"content":[null,7,"x",[],{},{"type":7},{"type":"text"},{"type":"text","text":7},` + text + `]}`), Expect: works("text:")},
		{Name: "blocks of types to come", server: results(`{"content":[{"type":"hologram","data":{}},` + text + `]}`), Expect: works("text:")},
		{Name: "structuredContent is an array", server: results(`{"content":[],"structuredContent":[1,2]}`), Expect: works("text:")},
		{Name: "structuredContent is a string", server: results(`{"content":[],"structuredContent":"x"}`), Expect: works("text:")},
		{Name: "an image of garbage", server: results(`{"content":[{"type":"image","mimeType":"text/html","data":"<script>alert(1)</script>"},` + text + `]}`), Expect: works("text:")},
		{Name: "an image without anything", server: results(`{"content":[{"type":"image"},{"type":"audio","data":7},{"type":"resource"},{"type":"resource","resource":null},{"type":"resource_link"},` + text + `]}`), Expect: works("text:")},
		{Name: "an image of 10 MB", Severe: true, Use: Use{TimeoutMs: 20000}, server: results(`{"content":[{"type":"image","mimeType":"image/png","data":"` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 7<<20))) + `"},` + text + `]}`), Expect: works("text:")},
		{Name: "a text of 12 MB", Severe: true, Use: Use{TimeoutMs: 20000}, server: results(textResult(strings.Repeat("lorem ipsum ", 1<<20))), Expect: works("text:lorem")},
		{Name: "an error of 12 MB", Severe: true, Use: Use{TimeoutMs: 20000}, server: results(`{"isError":true,"content":[{"type":"text","text":"` + strings.Repeat("lorem ipsum ", 1<<20) + `"}]}`), Expect: works("text:Error: lorem")},
		{Name: "a million blocks", Severe: true, Use: Use{TimeoutMs: 20000}, server: results(`{"content":[` + strings.Repeat(`{"type":""},`, 1000000) + text + `]}`), Expect: works("text:", "code:too_large")},
		{Name: "300,000 blocks of text", Severe: true, Use: Use{TimeoutMs: 20000}, server: results(`{"content":[` + strings.Repeat(`{"type":"text","text":"x"},`, 300000) + text + `]}`), Expect: works("text:", "code:too_large")},
		{Name: "a result of 200 levels", Severe: true, server: results(`{"content":[` + text + `],"structuredContent":` + nested(`{"a":`, "1", "}", 200) + `}`), Expect: works("code:protocol")},
		{Name: "structuredContent of 12 MB in small pieces", Severe: true, Use: Use{TimeoutMs: 20000}, server: results(`{"content":[],"structuredContent":{"a":[` + strings.Repeat(`{"b":[]},`, 1200000) + `1]}}`), Expect: works("text:", "code:too_large")},
		{Name: "digits beyond a double, both ways", Use: Use{Args: `{"n":12345678901234567890,"x":0.1234567890123456789}`}, server: results(`{"content":[],"structuredContent":{"n":98765432109876543210}}`), Expect: works(`text:{"n":98765432109876543210}`).sent(`"n":12345678901234567890,"x":0.1234567890123456789`)},
		{Name: "1e400", server: results(`{"content":[],"structuredContent":{"n":1e400,"m":-0,"k":1E-400}}`), Expect: works("text:")},
		{Name: "NaN", server: results(`{"content":[],"structuredContent":{"n":NaN}}`), Expect: works("code:protocol")},
		{Name: "a number of 100,000 digits", Severe: true, server: results(`{"content":[` + text + `],"structuredContent":{"n":` + strings.Repeat("9", 100000) + `}}`), Expect: works("text:")},
		{Name: "half a character in a text", server: results(`{"content":[{"type":"text","text":"call \ud800 1"}]}`), Expect: works()},
		{Name: "NUL and escapes in a text", server: results(`{"content":[{"type":"text","text":"call \u0000\u001b[31m\u202e 1"}]}`), Expect: works()},
		{Name: "a result with prototypes", Severe: true, server: results(`{"content":[` + text + `],"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"structuredContent":{"__proto__":{"polluted":true}}}`), Expect: works()},
		{Name: "toJSON, then and valueOf in a result", Severe: true, server: results(`{"content":[` + text + `],"then":{},"toJSON":"x","valueOf":1,"structuredContent":{"then":1,"toJSON":{}}}`), Expect: works()},
		{Name: "links to files and scripts", Severe: true, server: server{on: on{"tools/call": func(a *asked) {
			a.result(`{"content":[{"type":"resource_link","uri":"file:///etc/passwd","name":"x"},{"type":"resource_link","uri":"javascript:alert(1)","name":"x"},{"type":"resource_link","uri":"` + a.run.elsewhere() + `","name":"x"},` + text + `]}`)
		}}}, Expect: works("text:")},
		{Name: "a result type that nobody knows", server: results(`{"resultType":"maybe","content":[` + text + `]}`), Expect: works("code:unsupported")},
		{Name: "a result type of nonsense, of 2026-07-28", server: server{modern: true, on: on{"tools/call": gives(`{"resultType":7,"content":[` + text + `]}`)}}, Expect: works("text:", "code:protocol")},
		{Name: "input is required for ever", Severe: true, Use: Use{TimeoutMs: 20000}, server: server{modern: true, on: on{"tools/call": gives(`{"resultType":"input_required","requestState":"again"}`)}}, Expect: works("code:protocol", "code:server_error").most("tools/call", 12)},
		{Name: "input of an unknown kind is required", Severe: true, server: server{modern: true, on: on{"tools/call": gives(`{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{}},"__proto__":null}}`)}}, Expect: works("code:protocol", "code:server_error")},
		{Name: "input of nonsense is required", server: server{modern: true, on: on{"tools/call": gives(`{"resultType":"input_required","inputRequests":[1,2]}`)}}, Expect: works("code:protocol", "code:server_error")},
		{Name: "10,000 inputs are required", Severe: true, server: server{modern: true, on: on{"tools/call": gives(`{"resultType":"input_required","inputRequests":{` + strings.Join(many(10000, func(i int) string {
			return fmt.Sprintf(`"q%d":{"method":"elicitation/create","params":{"message":"?"}}`, i)
		}), ",") + `}}`)}}, Use: Use{TimeoutMs: 20000}, Expect: works("code:protocol", "code:server_error").most("tools/call", 12)},
		{Name: "progress is NaN", server: progress(`{"progressToken":$id,"progress":NaN}`), Expect: works()},
		{Name: "progress is 1e308 of -1", server: progress(`{"progressToken":$id,"progress":1e308,"total":-1}`), Expect: works()},
		{Name: "progress is a string", server: progress(`{"progressToken":"$id","progress":"half","total":[],"message":7}`), Expect: works()},
		{Name: "progress of other calls", server: progress(`{"progressToken":999999,"progress":1}`), Expect: works()},
		{Name: "progress with a message of 1 MB", Severe: true, server: progress(`{"progressToken":$id,"progress":1,"message":"` + megabyte + `"}`), Expect: works()},
		{Name: "progress without parameters", server: progress(`null`), Expect: works()},
		{Name: "progress behind the answer", server: server{on: on{"tools/call": func(a *asked) {
			a.events()
			io.WriteString(a.w, dataOf(a.message(textResult("call "+strconv.Itoa(a.nth))), notification("notifications/progress", `{"progressToken":`+a.id+`,"progress":1}`)))
		}}}, Use: Use{Calls: 2}, Expect: works()},
	}
}

func authCases() []Case {
	challenge := func(code int, header string) step {
		return func(a *asked) {
			a.w.Header().Set("Www-Authenticate", header)
			a.w.WriteHeader(code)
		}
	}
	metadata := func(a *asked) {
		a.w.Header().Set("Www-Authenticate", `Bearer resource_metadata="`+a.run.elsewhere()+`", scope="all"`)
		a.w.WriteHeader(401)
	}
	echo := func(code int) step {
		return func(a *asked) {
			a.typed("text/plain")
			a.w.WriteHeader(code)
			for name, values := range a.req.Header {
				io.WriteString(a.w, name+": "+strings.Join(values, ", ")+"\n")
			}
		}
	}
	return []Case{
		{Name: "401", server: server{any: status(401)}, Expect: fails("unauthorized").most("initialize", 1)},
		{Name: "401 to a call", server: server{on: on{"tools/call": status(401)}}, Expect: works("code:unauthorized").most("tools/call", 1)},
		{Name: "401 to all calls", Severe: true, Use: Use{Calls: 3}, server: server{on: on{"tools/call": challenge(401, "Bearer")}}, Expect: works("code:unauthorized").most("tools/call", 3).most("initialize", 1)},
		{Name: "401 with a challenge of 100 KB", Severe: true, server: server{any: challenge(401, "Bearer "+strings.Repeat(`a="b",`, 100<<10/6))}, Expect: fails("unauthorized", "network")},
		{Name: "401 with a challenge of nonsense", Severe: true, server: server{any: challenge(401, `Bearer resource_metadata="\"\\,,=; "", realm=, =x Basic`)}, Expect: fails("unauthorized")},
		{Name: "401 with metadata on another origin", Severe: true, server: server{any: metadata}, Expect: fails("unauthorized")},
		{Name: "401 to a call, with metadata on another origin", Severe: true, server: server{on: on{"tools/call": metadata}}, Expect: works("code:unauthorized")},
		{Name: "401 with metadata in a file", Severe: true, server: server{any: challenge(401, `Bearer resource_metadata="file:///etc/passwd"`)}, Expect: fails("unauthorized")},
		{Name: "401 with metadata in a script", Severe: true, server: server{any: challenge(401, `Bearer resource_metadata="javascript:alert(1)"`)}, Expect: fails("unauthorized")},
		{Name: "401 with metadata in the network", Severe: true, server: server{any: challenge(401, `Bearer resource_metadata="http://169.254.169.254/latest/meta-data/"`)}, Expect: fails("unauthorized")},
		{Name: "401 with a body that drips", Severe: true, server: server{any: func(a *asked) { a.w.WriteHeader(401); dripping(a) }}, Expect: fails("unauthorized", "timeout")},
		{Name: "401 with a page", server: server{any: says(401, "text/html", "<script>alert(1)</script>")}, Expect: fails("unauthorized")},
		{Name: "401 with a JSON-RPC error", server: server{any: says(401, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"unauthorized"}}`)}, Expect: fails("unauthorized")},
		{Name: "401 with an OAuth error of 10 MB", Severe: true, Use: Use{TimeoutMs: 20000}, server: server{any: says(401, "application/json", `{"error":"invalid_token","error_description":"`+strings.Repeat("lorem ipsum ", 10<<20/12)+`"}`)}, Expect: fails("unauthorized", "too_large")},
		{Name: "403", server: server{any: status(403)}, Expect: fails("forbidden").most("initialize", 1)},
		{Name: "403 that wants more scope", server: server{on: on{"tools/call": challenge(403, `Bearer error="insufficient_scope", scope="admin"`)}}, Expect: works("code:forbidden").most("tools/call", 1)},
		{Name: "407", server: server{any: status(407)}, Expect: fails("http_status", "network")},
		{Name: "GET is answered with 401", Use: Use{LingerMs: 800}, server: server{listChanged: true, on: on{"GET": status(401)}}, Expect: works().most("GET", 2)},
		{Name: "DELETE is answered with 401", server: server{session: "s", on: on{"DELETE": status(401)}}, Expect: works()},
		{Name: "a redirect to a page for signing in", Severe: true, server: server{any: moved(302, taken)}, Expect: fails("redirect", "network")},
		{Name: "it repeats our headers in a refusal", Severe: true, server: server{any: echo(400)}, Expect: fails("http_status")},
		{Name: "it repeats our headers in a fault", Severe: true, server: server{on: on{"tools/call": echo(500)}}, Expect: works("code:http_status")},
		{Name: "it repeats our headers in an error's message", Severe: true, server: server{on: on{"tools/call": func(a *asked) { a.fault(200, -1, "you sent "+a.req.Header.Get("X-Api-Key")) }}}, Expect: works("code:server_error")},
		{Name: "it repeats our headers with hidden characters", Severe: true, server: server{on: on{"tools/call": func(a *asked) {
			a.fault(200, -1, "you sent "+strings.Join(strings.Split(a.req.Header.Get("X-Api-Key"), ""), "\u200b"))
		}}}, Expect: works("code:server_error")},
		{Name: "it repeats our headers in capitals and percent-encoded", Severe: true, server: server{on: on{"tools/call": func(a *asked) {
			key := a.req.Header.Get("X-Api-Key")
			a.fault(200, -1, "you sent "+strings.ToUpper(key)+" or "+url.QueryEscape(key))
		}}}, Expect: works("code:server_error")},
		{Name: "it repeats our headers behind a long text", Severe: true, server: server{on: on{"tools/call": func(a *asked) { a.fault(200, -1, strings.Repeat("x", 2040)+a.req.Header.Get("X-Api-Key")) }}}, Expect: works("code:server_error")},
		{Name: "it repeats our headers in its name and version", Severe: true, server: server{on: on{"initialize": func(a *asked) {
			a.result(`{"protocolVersion":"` + a.req.Header.Get("X-Api-Key") + `","capabilities":{},"serverInfo":{"name":"x","version":"1"}}`)
		}}}, Expect: fails("protocol")},
		{Name: "it repeats our headers in a content type", Severe: true, server: server{on: on{"tools/call": func(a *asked) { says(200, "text/x-"+a.req.Header.Get("X-Api-Key"), "x")(a) }}}, Expect: works("code:protocol")},
		{Name: "it repeats our headers in a tool's name", Severe: true, server: server{on: on{"tools/list": func(a *asked) {
			a.tools(tool("t"), `{"name":`+quote(a.req.Header.Get("X-Api-Key"))+`}`)
		}}}, Expect: works()},
		{Name: "it repeats our headers in a definition", Severe: true, server: server{on: on{"tools/list": func(a *asked) {
			key := a.req.Header.Get("X-Api-Key")
			a.tools(tool("t"), `{"name":"u","description":`+quote("see "+key)+`,"inputSchema":{"type":"object","properties":{`+quote(key)+`:{"enum":[`+quote(key)+`]}}}}`,
				`{"name":"v","description":`+quote(strings.Join(strings.Split(key, ""), "\u200b"))+`,"inputSchema":{"type":"object"}}`)
		}}}, Expect: works().tools("bad__t", "bad__u", "bad__v")},
		{Name: "icons on another origin", Severe: true, server: server{on: on{"initialize": func(a *asked) {
			a.result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1","icons":[{"src":"` + a.run.elsewhere() + `"}],"websiteUrl":"` + a.run.elsewhere() + `"}}`)
		}}}, Expect: works()},
	}
}
