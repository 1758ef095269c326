package farm

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// bomb is 128 MB of space in 128 KB of gzip.
var bomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	block := bytes.Repeat([]byte{' '}, 1<<20)
	for range 128 {
		z.Write(block)
	}
	z.Close()
	return b.Bytes()
})

func bombs(a *asked) {
	a.typed("application/json")
	a.w.Header().Set("Content-Encoding", "gzip")
	a.w.Write(bomb())
}

// encoded answers with a body that says it is compressed.
func encoded(encoding, body string) step {
	return func(a *asked) {
		a.typed("application/json")
		a.w.Header().Set("Content-Encoding", encoding)
		io.WriteString(a.w, strings.ReplaceAll(body, "$id", a.id))
	}
}

// raws answers on the bare socket: text with $id for the id, and nothing after it.
func raws(text string) step {
	return func(a *asked) { a.raw(strings.ReplaceAll(text, "$id", a.id), nil) }
}

// hangs answers on the bare socket and keeps it open.
func hangs(text string) step {
	return func(a *asked) {
		a.raw(strings.ReplaceAll(text, "$id", a.id), func(_ func(string) bool, gone <-chan struct{}) {
			select {
			case <-gone:
			case <-time.After(time.Minute):
			}
		})
	}
}

// drips writes text on the bare socket byte by byte.
func drips(text string, every time.Duration) step {
	return func(a *asked) {
		a.raw("", func(write func(string) bool, gone <-chan struct{}) {
			for _, c := range []byte(strings.ReplaceAll(text, "$id", a.id)) {
				select {
				case <-gone:
					return
				case <-time.After(every):
				}
				if !write(string(rune(c))) {
					return
				}
			}
		})
	}
}

// moved redirects to where to says.
func moved(code int, to func(*asked) string) step {
	return func(a *asked) {
		a.w.Header().Set("Location", to(a))
		a.w.WriteHeader(code)
	}
}

func taken(a *asked) string { return a.run.elsewhere() }

// list is an answer to tools/list on the wire.
const list = `{"jsonrpc":"2.0","id":$id,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}`

var jsonType = "Content-Type: application/json"

func length(n int) string { return "Content-Length: " + strconv.Itoa(n) }

func transportCases() []Case {
	headed := head("200 OK", jsonType, "Connection: close")
	chunked := head("200 OK", jsonType, "Transfer-Encoding: chunked")
	return []Case{
		{Name: "nothing is ever answered", Severe: true, server: server{any: silent}, Expect: fails("timeout")},
		{Name: "initialize is never answered", Severe: true, server: server{on: on{"initialize": silent}}, Expect: fails("timeout")},
		{Name: "server/discover is never answered", Severe: true, server: server{on: on{"server/discover": silent}}, Expect: works()},
		{Name: "server/discover drips", Severe: true, server: server{on: on{"server/discover": dripping}}, Expect: works()},
		{Name: "notifications/initialized is never answered", Severe: true, Use: Use{TimeoutMs: 1500}, server: server{on: on{"notifications/initialized": silent}}, Expect: works()},
		{Name: "tools/list is never answered", Severe: true, server: server{on: on{"tools/list": silent}}, Expect: fails("timeout")},
		{Name: "tools/call is never answered", Severe: true, server: server{on: on{"tools/call": silent}}, Expect: works("code:timeout").most("tools/call", 1).least("notifications/cancelled", 1)},
		{Name: "tools/call is never answered, and is given up", Severe: true, Use: Use{CancelMs: 200}, server: server{on: on{"tools/call": silent}}, Expect: works("code:aborted").most("tools/call", 1).least("notifications/cancelled", 1)},
		{Name: "tools/call of 2026-07-28 is never answered", Severe: true, server: server{modern: true, on: on{"tools/call": silent}}, Expect: works("code:timeout").most("tools/call", 1)},
		{Name: "notifications/cancelled is never answered", Severe: true, server: server{on: on{"tools/call": silent, "notifications/cancelled": silent}}, Expect: works("code:timeout")},
		{Name: "DELETE is never answered", Severe: true, server: server{session: "s", on: on{"DELETE": silent}}, Expect: works()},
		{Name: "DELETE drips", Severe: true, server: server{session: "s", on: on{"DELETE": dripping}}, Expect: works()},
		{Name: "DELETE is reset", server: server{session: "s", on: on{"DELETE": reset}}, Expect: works()},
		{Name: "GET is never answered", Severe: true, server: server{listChanged: true, on: on{"GET": silent}}, Expect: works()},
		{Name: "GET drips headers", Severe: true, server: server{listChanged: true, on: on{"GET": drips(headed, 50*time.Millisecond)}}, Expect: works()},
		{Name: "subscriptions/listen is never answered", Severe: true, server: server{modern: true, listChanged: true, on: on{"subscriptions/listen": silent}}, Expect: works()},
		{Name: "all answers drip", Severe: true, server: server{any: dripping}, Expect: fails("timeout")},
		{Name: "tools/list drips", Severe: true, server: server{on: on{"tools/list": dripping}}, Expect: fails("timeout")},
		{Name: "tools/call drips", Severe: true, server: server{on: on{"tools/call": dripping}}, Expect: works("code:timeout").most("tools/call", 1)},
		{Name: "tools/call drips, and is given up", Severe: true, Use: Use{CancelMs: 200}, server: server{on: on{"tools/call": dripping}}, Expect: works("code:aborted").most("tools/call", 1)},
		{Name: "headers drip", Severe: true, server: server{any: drips(headed+list, 20*time.Millisecond)}, Expect: fails("timeout")},
		{Name: "half an answer, and then nothing", Severe: true, server: server{on: on{"tools/list": hangs(head("200 OK", jsonType, length(200)) + list[:40])}}, Expect: fails("timeout")},
		{Name: "headers, and then nothing", Severe: true, server: server{on: on{"tools/call": hangs(head("200 OK", jsonType, length(200)))}}, Expect: works("code:timeout").most("tools/call", 1)},
		{Name: "every connection is reset", Severe: true, server: server{any: reset}, Expect: fails("network")},
		{Name: "a call is reset", Severe: true, server: server{on: on{"tools/call": reset}}, Expect: works("code:network").most("tools/call", 1).repeats()},
		{Name: "a call of 2026-07-28 is reset", Severe: true, server: server{modern: true, on: on{"tools/call": reset}}, Expect: works("code:network").most("tools/call", 1).repeats()},
		{Name: "reset in the headers", server: server{on: on{"tools/call": raws("HTTP/1.1 200 OK\r\nContent-Ty")}}, Expect: works("code:network").most("tools/call", 1).repeats()},
		{Name: "reset in the body", server: server{on: on{"tools/call": raws(head("200 OK", jsonType, length(500)) + list[:30])}}, Expect: works("code:network").most("tools/call", 1)},
		{Name: "a chunked body ends early", server: server{on: on{"tools/list": raws(chunked + "20\r\n" + list[:32] + "\r\n")}}, Expect: fails("network", "protocol")},
		{Name: "chunks are nonsense", server: server{on: on{"tools/list": raws(chunked + "zz;\r\n" + list)}}, Expect: fails("network", "protocol")},
		{Name: "a chunk of 2^63 bytes", Severe: true, server: server{on: on{"tools/list": hangs(chunked + "7fffffffffffffff\r\n" + list)}}, Expect: fails("network", "protocol", "timeout")},
		{Name: "trailing garbage behind an answer", server: server{on: on{"tools/list": raws(head("200 OK", jsonType, length(len(list))) + list + "GARBAGE\x00\xff")}}, Expect: survives()},
		{Name: "not HTTP", server: server{any: raws("\x16\x03\x01\x00\x00SSH-2.0-farm\r\n\r\n")}, Expect: fails("redirect", "network", "http_status")},
		{Name: "a status line of nonsense", server: server{any: raws("HTTP/1.1 banana OK\r\n\r\n")}, Expect: fails("network")},
		{Name: "a status of 999", server: server{on: on{"tools/list": raws(head("999 Odd", length(0)))}}, Expect: fails("redirect", "network", "http_status")},
		{Name: "status 101", server: server{on: on{"tools/list": raws(head("101 Switching Protocols", "Upgrade: websocket", "Connection: upgrade"))}}, Expect: fails("network", "http_status", "protocol", "timeout")},
		{Name: "a thousand 103 Early Hints", server: server{on: on{"tools/list": raws(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 1000) + headed + list)}}, Expect: works().orFails("network")},
		{Name: "a header of 1 MB", Severe: true, Use: Use{TimeoutMs: 3000}, server: server{on: on{"tools/list": func(a *asked) { a.w.Header().Set("X-Large", strings.Repeat("x", 1<<20)); a.tools(tool("t")) }}}, Expect: works().orFails("network")},
		{Name: "10,000 headers", Use: Use{TimeoutMs: 3000}, server: server{on: on{"tools/list": func(a *asked) {
			for i := range 10000 {
				a.w.Header().Set("X-H-"+strconv.Itoa(i), "x")
			}
			a.tools(tool("t"))
		}}}, Expect: works().orFails("network")},
		{Name: "a list of 200 MB", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/list": large}}, Expect: fails("too_large")},
		{Name: "an answer to a call of 200 MB", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": large}}, Expect: works("code:too_large").most("tools/call", 1)},
		{Name: "an answer to initialize of 200 MB", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"initialize": large}}, Expect: fails("too_large")},
		{Name: "a gzip bomb for a list", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/list": bombs}}, Expect: fails("too_large")},
		{Name: "a gzip bomb for a call", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": bombs}}, Expect: works("code:too_large")},
		{Name: "a gzip bomb for an error", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": func(a *asked) {
			a.w.Header().Set("Content-Encoding", "gzip")
			a.w.WriteHeader(500)
			a.w.Write(bomb())
		}}}, Expect: works("code:http_status")},
		{Name: "an error body of 200 MB", Severe: true, Use: Use{TimeoutMs: 12000}, server: server{on: on{"tools/call": func(a *asked) { a.typed("text/plain"); a.w.WriteHeader(500); large(a) }}}, Expect: works("code:http_status")},
		{Name: "an error body drips", Severe: true, server: server{on: on{"tools/call": func(a *asked) { a.w.WriteHeader(500); dripping(a) }}}, Expect: works("code:http_status", "code:timeout")},
		{Name: "it says gzip and is not", server: server{on: on{"tools/list": encoded("gzip", list)}}, Expect: fails("network", "protocol")},
		{Name: "an encoding that nobody knows", server: server{on: on{"tools/list": encoded("sdch", list)}}, Expect: works().orFails("network", "protocol")},
		{Name: "Content-Length is too small", server: server{on: on{"tools/list": raws(head("200 OK", jsonType, length(20)) + list)}}, Expect: fails("network", "protocol")},
		{Name: "two Content-Lengths", server: server{on: on{"tools/list": raws(head("200 OK", jsonType, length(20), length(len(list))) + list)}}, Expect: fails("network", "protocol")},
		{Name: "the connection is closed behind each answer", server: server{any: func(a *asked) { a.w.Header().Set("Connection", "close"); server{session: "s"}.usual(a) }}, Expect: works()},
		{Name: "it answers before it has read the request", server: server{on: on{"tools/call": func(a *asked) { a.text("call 1") }}}, Use: Use{Args: `{"x":"` + strings.Repeat("x", 100<<10) + `"}`}, Expect: works()},
		{Name: "every request is answered with 500", server: server{any: status(500)}, Expect: fails("http_status")},
		{Name: "a call is answered with 500", server: server{on: on{"tools/call": status(500)}}, Expect: works("code:http_status").most("tools/call", 1)},
		{Name: "GET is answered with 500", Use: Use{LingerMs: 1500}, server: server{listChanged: true, on: on{"GET": status(500)}}, Expect: works().most("GET", 4)},
		{Name: "GET is answered with a page", Use: Use{LingerMs: 1500}, server: server{listChanged: true, on: on{"GET": html}}, Expect: works().most("GET", 2)},
		{Name: "GET streams end at once", Severe: true, Use: Use{LingerMs: 2000}, server: server{listChanged: true, on: on{"GET": streams("")}}, Expect: works().most("GET", 4)},
		{Name: "GET streams end at once, with retry 1 and new ids", Severe: true, Use: Use{LingerMs: 2000}, server: server{listChanged: true, on: on{"GET": func(a *asked) { streams("id: " + strconv.Itoa(a.nth) + "\nretry: 1\n\n")(a) }}}, Expect: works().most("GET", 5)},
		{Name: "subscriptions/listen ends at once", Severe: true, Use: Use{LingerMs: 2000}, server: server{modern: true, listChanged: true, on: on{"subscriptions/listen": streams("")}}, Expect: works().most("subscriptions/listen", 4)},
		{Name: "429 with a Retry-After of a year", Severe: true, server: server{on: on{"tools/list": func(a *asked) { a.w.Header().Set("Retry-After", "31536000"); a.w.WriteHeader(429) }}}, Expect: fails("rate_limited")},
		{Name: "503 with a Retry-After of a year in a call", Severe: true, Use: Use{Calls: 2}, server: server{on: on{"tools/call": func(a *asked) {
			if a.nth > 1 {
				a.text("call 2")
				return
			}
			a.w.Header().Set("Retry-After", "31536000")
			a.w.WriteHeader(503)
		}}}, Expect: works("code:http_status").last("text:call 2")},
		{Name: "Retry-After of nonsense", server: server{on: on{"tools/call": func(a *asked) { a.w.Header().Set("Retry-After", "-1e999, soon"); a.w.WriteHeader(429) }}}, Expect: works("code:rate_limited")},
		{Name: "a redirect to another origin", Severe: true, server: server{any: moved(307, taken)}, Expect: fails("redirect", "network", "http_status")},
		{Name: "a call is redirected to another origin", Severe: true, server: server{on: on{"tools/call": moved(307, taken)}}, Expect: works("code:redirect", "code:network", "code:http_status")},
		{Name: "a call is redirected with 303 to another origin", Severe: true, server: server{on: on{"tools/call": moved(303, taken)}}, Expect: works("code:redirect", "code:network", "code:http_status")},
		{Name: "GET is redirected to another origin", Severe: true, Use: Use{LingerMs: 800}, server: server{listChanged: true, on: on{"GET": moved(302, taken)}}, Expect: works()},
		{Name: "a redirect on its own origin", server: server{on: on{"tools/list": moved(308, func(a *asked) string { return a.run.here("/other") })}}, Expect: fails("redirect", "network", "http_status")},
		{Name: "a redirect in a circle", Severe: true, server: server{any: moved(307, func(a *asked) string { return a.run.here("/mcp") })}, Expect: fails("redirect", "network", "http_status").most("initialize", 2)},
		{Name: "a redirect to a file", Severe: true, server: server{any: moved(302, func(*asked) string { return "file:///etc/passwd" })}, Expect: fails("redirect", "network", "http_status")},
		{Name: "a redirect to nowhere", server: server{any: status(307)}, Expect: fails("redirect", "network", "http_status")},
		{Name: "cookies", server: server{any: func(a *asked) { a.w.Header().Set("Set-Cookie", "session=1; Path=/"); server{}.usual(a) }}, Expect: works()},
	}
}
