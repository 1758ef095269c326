package farm

import (
	"io"
	"strconv"
	"strings"
	"time"
)

// calls answers a call with a stream of these bytes, in which $id is the request's id.
func calls(text string) server { return server{on: on{"tools/call": streams(text)}} }

// answered is the answer to a call on the wire.
const answered = `{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"call 1"}]}}`

// pushes is a server that announces list changes and has that on its GET stream.
func pushes(step step) server { return server{listChanged: true, on: on{"GET": step}} }

const note = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"lorem ipsum dolor"}}`

func sseCases() []Case {
	changed := notification("notifications/tools/list_changed", "{}")
	whole := "data: " + answered + "\n\n"
	quick := time.Millisecond
	return []Case{
		{Name: "a byte order mark", server: calls("\ufeff" + whole), Expect: works()},
		{Name: "lines end in CR", server: calls(strings.ReplaceAll(": hello\nevent: message\nid: 1\n"+whole, "\n", "\r")), Expect: works()},
		{Name: "lines end in CR LF", server: calls(strings.ReplaceAll(": hello\nevent: message\n"+whole, "\n", "\r\n")), Expect: works()},
		{Name: "line ends of all kinds, in pieces", server: server{on: on{"tools/call": func(a *asked) {
			a.events()
			for _, c := range ": x\r\r\nevent: message\rdata: " + strings.ReplaceAll(answered, "$id", a.id) + "\r" {
				io.WriteString(a.w, string(c))
				a.flush()
			}
			io.WriteString(a.w, "\n\r\n")
		}}}, Use: Use{TimeoutMs: 2000}, Expect: works()},
		{Name: "fields without a colon", server: calls("data\n\nid\nevent\nretry\nfoo\n" + whole), Expect: works()},
		{Name: "fields that nobody knows", server: calls("foo: bar\n:\n::\nDATA: x\n data: x\n" + whole), Expect: works()},
		{Name: "no space behind the colon", server: calls("data:" + answered + "\n\n"), Expect: works()},
		{Name: "an answer in many lines", server: calls("data: " + strings.ReplaceAll(answered, ",", ",\ndata: ") + "\n\n"), Expect: works()},
		{Name: "no blank line at the end", server: calls("data: " + answered + "\n"), Expect: works("text:call", "code:network", "code:protocol")},
		{Name: "events of other names", server: calls("event: ping\ndata: {}\n\nevent: error\ndata: no\n\n" + whole), Expect: works()},
		{Name: "the answer has an unknown event name", server: calls("event: result\n" + whole), Expect: works("code:network", "code:protocol", "text:call")},
		{Name: "events that are not JSON", server: calls("data: hello\n\ndata: {\n\ndata: \"\n\n" + whole), Expect: works()},
		{Name: "events in invalid UTF-8", server: calls("data: \xff\xfe\n\n" + strings.Replace(whole, "call 1", "call \xff", 1)), Expect: works()},
		{Name: "a stream with parameters in its type", server: server{on: on{"tools/call": says(200, "Text/Event-Stream; charset=UTF-8", whole)}}, Expect: works()},
		{Name: "initialize is answered in a stream", server: server{on: on{"initialize": streams("data: " + `{"jsonrpc":"2.0","id":$id,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}` + "\n\n")}}, Expect: works()},
		{Name: "the stream ends before the answer", server: calls(": soon\n\n"), Expect: works("code:network").most("tools/call", 1)},
		{Name: "the stream breaks off before the answer", server: server{on: on{"tools/call": func(a *asked) { a.events(); a.event(note); reset(a) }}}, Expect: works("code:network").most("tools/call", 1)},
		{Name: "the stream stays open behind the answer", Severe: true, server: server{on: on{"tools/call": func(a *asked) { streams(whole)(a); a.flush(); a.wait() }}}, Use: Use{Calls: 3}, Expect: works()},
		{Name: "the stream drips behind the answer", Severe: true, server: server{on: on{"tools/call": func(a *asked) { streams(whole)(a); a.forever(": x\n", 10*time.Millisecond) }}}, Use: Use{Calls: 3}, Expect: works()},
		{Name: "the stream floods behind the answer", Severe: true, server: server{on: on{"tools/call": func(a *asked) { streams(whole)(a); a.forever(strings.Repeat(": xxxxxxxxxxxxxxxx\n", 1000), quick) }}}, Use: Use{Calls: 3}, Expect: works()},
		{Name: "the stream says nothing", Severe: true, server: server{on: on{"tools/call": func(a *asked) { a.events(); a.wait() }}}, Expect: works("code:timeout").most("tools/call", 1)},
		{Name: "comments for ever, to a list", Severe: true, server: server{on: on{"tools/list": func(a *asked) { a.events(); a.forever(strings.Repeat(": still here\n\n", 100), quick) }}}, Expect: fails("timeout", "too_large")},
		{Name: "comments for ever, to a call", Severe: true, server: server{on: on{"tools/call": func(a *asked) { a.events(); a.forever(strings.Repeat(": still here\n\n", 100), quick) }}}, Expect: works("code:timeout", "code:too_large")},
		{Name: "notifications for ever, to a list", Severe: true, server: server{on: on{"tools/list": floods(note, 200, quick)}}, Expect: fails("timeout", "too_large")},
		{Name: "notifications for ever, to a call", Severe: true, server: server{on: on{"tools/call": floods(note, 200, quick)}}, Expect: works("code:timeout", "code:too_large").most("tools/call", 1)},
		{Name: "notifications for ever, to initialize", Severe: true, server: server{on: on{"initialize": floods(note, 200, quick)}}, Expect: fails("timeout", "too_large")},
		{Name: "20,000 notifications, and then the answer", Severe: true, Use: Use{TimeoutMs: 15000}, server: asks(strings.Repeat(dataOf(note), 20000)), Expect: works()},
		{Name: "20,000 pieces of progress, and then the answer", Severe: true, Use: Use{TimeoutMs: 15000}, server: server{on: on{"tools/call": answersAfter(func(a *asked) {
			io.WriteString(a.w, strings.Repeat(dataOf(notification("notifications/progress", `{"progressToken":`+a.id+`,"progress":1,"total":2,"message":"x"}`)), 20000))
		}, textResult("call 1"))}}, Expect: works()},
		{Name: "progress for ever", Severe: true, server: server{on: on{"tools/call": func(a *asked) {
			floods(notification("notifications/progress", `{"progressToken":`+a.id+`,"progress":1}`), 10, 20*time.Millisecond)(a)
		}}}, Expect: works("code:timeout", "code:too_large").most("tools/call", 1)},
		{Name: "notifications for ever, on GET", Severe: true, Use: Use{LingerMs: 1000}, server: pushes(floods(note, 200, quick)), Expect: works()},
		{Name: "pings for ever, on GET", Severe: true, Use: Use{LingerMs: 1500}, server: pushes(floods(request("1", "ping", "{}"), 50, quick)), Expect: works().often("response", 80)},
		{Name: "pings for ever, on subscriptions/listen", Severe: true, Use: Use{LingerMs: 1500}, server: server{modern: true, listChanged: true, on: on{"subscriptions/listen": floods(request("1", "ping", "{}"), 50, quick)}}, Expect: works().often("response", 80)},
		{Name: "questions to the user for ever, on GET", Severe: true, Use: Use{LingerMs: 1000}, server: pushes(floods(request(`"q"`, "elicitation/create", `{"message":"?","requestedSchema":{"type":"object","properties":{}}}`), 50, quick)), Expect: works().often("response", 80)},
		{Name: "list changes for ever, on GET", Severe: true, Use: Use{LingerMs: 2000}, server: pushes(floods(changed, 20, 5*time.Millisecond)), Expect: works().often("tools/list", 6)},
		{Name: "list changes for ever, on subscriptions/listen", Severe: true, Use: Use{LingerMs: 2000}, server: server{modern: true, listChanged: true, on: on{"subscriptions/listen": floods(changed, 20, 5*time.Millisecond)}}, Expect: works().often("tools/list", 6)},
		{Name: "list changes in answer to each list", Severe: true, Use: Use{LingerMs: 2000}, server: server{listChanged: true, on: on{"tools/list": func(a *asked) { a.events(); a.event(changed); a.event(a.message(listOf(tool("t")))) }}}, Expect: works().often("tools/list", 6)},
		{Name: "an event of 64 MB", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": func(a *asked) {
			a.events()
			io.WriteString(a.w, "data: ")
			for range 64 {
				if _, err := io.WriteString(a.w, megabyte); err != nil {
					return
				}
			}
		}}}, Expect: works("code:too_large")},
		{Name: "an event of 64 MB in lines", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": func(a *asked) {
			a.events()
			for range 64 << 10 {
				if _, err := io.WriteString(a.w, "data: "+megabyte[:1024]+"\n"); err != nil {
					return
				}
			}
		}}}, Expect: works("code:too_large")},
		{Name: "a line of 64 MB that is no data", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": func(a *asked) {
			a.events()
			io.WriteString(a.w, "id: ")
			for range 64 {
				if _, err := io.WriteString(a.w, megabyte); err != nil {
					return
				}
			}
		}}}, Expect: works("code:too_large")},
		{Name: "small events of 200 MB in all", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": func(a *asked) {
			a.events()
			block := strings.Repeat("data: "+note+"\n\n", 10000)
			for range 200 << 20 / len(block) {
				if _, err := io.WriteString(a.w, block); err != nil {
					return
				}
			}
		}}}, Expect: works("code:too_large", "code:timeout")},
		{Name: "100,000 empty events", Severe: true, Use: Use{TimeoutMs: 15000}, server: calls(strings.Repeat("data:\n\n", 100000) + whole), Expect: works()},
		{Name: "a million blank lines", Severe: true, Use: Use{TimeoutMs: 15000}, server: calls(strings.Repeat("\n", 1000000) + whole), Expect: works()},
		{Name: "100,000 lines of one event", Severe: true, Use: Use{TimeoutMs: 15000}, server: calls(strings.Repeat("data: \n", 100000) + whole), Expect: works()},
		{Name: "an id with NUL", server: calls("id: a\x00b\n\n" + whole), Expect: works()},
		{Name: "an id that is not ASCII, and the end", Severe: true, Use: Use{TimeoutMs: 1500}, server: calls("id: ünï\r\nretry: 1\n\n"), Expect: works("code:network", "code:timeout", "code:protocol").most("tools/call", 1)},
		{Name: "an id of 1 MB, and the end", Severe: true, Use: Use{TimeoutMs: 1500}, server: calls("id: " + megabyte + "\n\n"), Expect: works("code:network", "code:timeout", "code:too_large").most("tools/call", 1)},
		{Name: "the answer is resumed", Use: Use{TimeoutMs: 15000}, server: server{session: "s", on: on{
			"tools/call": func(a *asked) { streams("id: " + a.id + "\nretry: 500\ndata:\n\n")(a) },
			"GET": func(a *asked) {
				id := a.req.Header.Get("Last-Event-Id")
				if id == "" {
					a.w.WriteHeader(405)
					return
				}
				a.id = id
				streams(whole)(a)
			},
		}}, Expect: works().most("tools/call", 1).least("GET", 1)},
		{Name: "resumed for ever, with retry 1 and new ids", Severe: true, Use: Use{TimeoutMs: 2000}, server: server{session: "s", on: on{
			"tools/call": streams("id: 0\nretry: 1\n\n"),
			"GET":        func(a *asked) { streams("id: " + strconv.Itoa(a.nth) + "\nretry: 1\n\n")(a) },
		}}, Expect: works("code:timeout", "code:network").most("tools/call", 1).most("GET", 8)},
		{Name: "resumed with the same id for ever", Severe: true, Use: Use{TimeoutMs: 2000}, server: server{session: "s", on: on{
			"tools/call": streams("id: 0\nretry: 0\n\n"),
			"GET":        streams("id: 0\nretry: 0\n\n"),
		}}, Expect: works("code:timeout", "code:network", "code:protocol").most("GET", 8)},
		{Name: "retry of a million seconds", Severe: true, Use: Use{TimeoutMs: 1200}, server: calls("id: 1\nretry: 1000000000000\n\n"), Expect: works("code:timeout", "code:network").most("tools/call", 1)},
		{Name: "retry of nonsense", Use: Use{TimeoutMs: 1500}, server: calls("retry: -1\nretry: 1e9\nretry: \nretry: 99999999999999999999999\n\n" + whole), Expect: works()},
		{Name: "a resumed stream is refused", Use: Use{TimeoutMs: 3000}, server: server{session: "s", on: on{"tools/call": streams("id: 0\nretry: 500\n\n"), "GET": status(404)}}, Expect: works("code:network", "code:http_status", "code:protocol").most("tools/call", 1)},
	}
}

var megabyte = strings.Repeat("x", 1<<20)

func legacyCases() []Case {
	sse := Use{Transport: "sse"}
	endpoint := func(to func(a *asked) string, then step) server {
		return server{legacy: true, on: on{"stream": func(a *asked) {
			a.events()
			io.WriteString(a.w, "event: endpoint\ndata: "+to(a)+"\n\n")
			a.flush()
			then(a)
		}}}
	}
	fixed := func(to string) func(*asked) string { return func(*asked) string { return to } }
	return []Case{
		{Name: "all is well", Use: sse, server: server{legacy: true}, Expect: works()},
		{Name: "found out by a refused POST", server: server{legacy: true}, Expect: works()},
		{Name: "the stream is never opened", Severe: true, Use: sse, server: server{legacy: true, on: on{"stream": silent}}, Expect: fails("timeout")},
		{Name: "the endpoint never comes", Severe: true, Use: sse, server: server{legacy: true, on: on{"stream": func(a *asked) { a.events(); a.wait() }}}, Expect: fails("timeout")},
		{Name: "comments for ever, and no endpoint", Severe: true, Use: sse, server: server{legacy: true, on: on{"stream": func(a *asked) { a.events(); a.forever(strings.Repeat(": x\n\n", 100), time.Millisecond) }}}, Expect: fails("timeout", "too_large")},
		{Name: "the endpoint is on another origin", Severe: true, Use: sse, server: endpoint(taken, silent), Expect: fails("protocol")},
		{Name: "the endpoint moves to another origin", Severe: true, Use: sse, server: server{legacy: true, on: on{"opened": func(a *asked) {
			io.WriteString(a.w, "event: endpoint\ndata: "+a.run.elsewhere()+"\n\n")
			a.flush()
			a.wait()
		}}}, Expect: survives()},
		{Name: "the endpoint has a password", Severe: true, Use: sse, server: endpoint(func(a *asked) string { return strings.Replace(a.run.elsewhere(), "http://", "http://u:p@", 1) }, silent), Expect: fails("protocol")},
		{Name: "the endpoint is another scheme", Severe: true, Use: sse, server: endpoint(fixed("file:///etc/passwd"), silent), Expect: fails("protocol")},
		{Name: "the endpoint is a script", Severe: true, Use: sse, server: endpoint(fixed("javascript:alert(1)"), silent), Expect: fails("protocol")},
		{Name: "the endpoint is nonsense", Use: sse, server: endpoint(fixed("http://[::1"), silent), Expect: fails("protocol")},
		{Name: "the endpoint is empty", Use: sse, server: endpoint(fixed(""), silent), Expect: survives()},
		{Name: "the endpoint is of 1 MB", Severe: true, Use: sse, server: endpoint(fixed("/"+megabyte), silent), Expect: survives()},
		{Name: "10,000 endpoints", Severe: true, Use: sse, server: server{legacy: true, on: on{"opened": func(a *asked) {
			io.WriteString(a.w, strings.Repeat("event: endpoint\ndata: "+a.run.here("/post")+"\n\n", 10000))
			a.flush()
			a.wait()
		}}}, Expect: works().orFails("timeout", "protocol", "network")},
		{Name: "the stream ends behind the endpoint", Use: sse, server: endpoint(func(a *asked) string { return a.run.here("/post") }, func(*asked) {}), Expect: fails("network", "timeout", "protocol")},
		{Name: "the stream breaks off in a call", Severe: true, Use: sse, server: server{legacy: true, on: on{"opened": func(a *asked) { a.pause(300 * time.Millisecond); reset(a) }, "tools/call": func(a *asked) { a.w.WriteHeader(202) }}}, Expect: survives().most("tools/call", 1)},
		{Name: "a call is answered with 500", Use: sse, server: server{legacy: true, on: on{"tools/call": status(500)}}, Expect: works("code:http_status").most("tools/call", 1)},
		{Name: "a call is taken, and never answered", Severe: true, Use: sse, server: server{legacy: true, on: on{"tools/call": status(202)}}, Expect: works("code:timeout").most("tools/call", 1)},
		{Name: "a POST is never answered, but the stream has the answer", Severe: true, Use: sse, server: server{legacy: true, on: on{"tools/call": func(a *asked) { a.stream.event(a.message(textResult("call 1"))); a.wait() }}}, Expect: works()},
		{Name: "notifications for ever", Severe: true, Use: Use{Transport: "sse", LingerMs: 700}, server: server{legacy: true, on: on{"opened": func(a *asked) { a.forever(strings.Repeat(dataOf(note), 200), time.Millisecond) }}}, Expect: survives()},
		{Name: "an event of 64 MB", Severe: true, Use: Use{Transport: "sse", TimeoutMs: 15000}, server: server{legacy: true, on: on{"opened": func(a *asked) {
			io.WriteString(a.w, "data: ")
			for range 64 {
				if _, err := io.WriteString(a.w, megabyte); err != nil {
					return
				}
			}
		}}}, Expect: survives()},
		{Name: "the stream is a page", Use: sse, server: server{legacy: true, on: on{"stream": html}}, Expect: fails("protocol", "http_status")},
		{Name: "neither POST nor GET is there", server: server{any: status(404)}, Expect: fails("http_status").most("initialize", 2)},
	}
}
