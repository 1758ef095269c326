package farm

import (
	"bytes"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"
)

var quiet = log.New(io.Discard, "", 0)

// An asked is one request to a case's server, and the means to answer it.
type asked struct {
	w      http.ResponseWriter
	req    *http.Request
	run    *Run
	method string // of the message, or GET or DELETE
	nth    int    // request of that method
	id     string // JSON text of the message's id
	body   []byte
	stream *asked // of HTTP+SSE: where the answer goes
}

// A step answers a request.
type step func(*asked)

// A server is what a case's server does differently from a good one.
type server struct {
	modern      bool   // it speaks 2026-07-28 instead of 2025-11-25
	listChanged bool   // it announces notifications/tools/list_changed
	session     string // the session id that it gives
	legacy      bool   // it is HTTP+SSE, of 2024-11-05; see legacy.go
	on          map[string]step
	// any answers what has no step in on, beside preflights.
	any step
}

func (s server) handler(r *Run) http.Handler {
	if s.legacy {
		return &legacy{s: s, run: r}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		a, ok := read(w, req, r)
		if !ok {
			return
		}
		s.answer(a)
	})
}

// read takes a request apart.
func read(w http.ResponseWriter, req *http.Request, r *Run) (*asked, bool) {
	a := &asked{w: w, req: req, run: r, method: req.Method}
	if req.Method == http.MethodPost {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, false
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.Unmarshal(body, &m) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return nil, false
		}
		a.body, a.id, a.method = body, string(m.ID), m.Method
		if m.Method == "" {
			a.method = "response"
		}
	}
	a.nth = r.count(a.method, a.body)
	return a, true
}

func (s server) answer(a *asked) {
	if step := s.on[a.method]; step != nil {
		step(a)
	} else if s.any != nil {
		s.any(a)
	} else {
		s.usual(a)
	}
}

// usual is what a good server does.
func (s server) usual(a *asked) {
	tools := `{"listChanged":` + strconv.FormatBool(s.listChanged) + `}`
	switch a.method {
	case "server/discover":
		if !s.modern {
			a.fault(http.StatusBadRequest, -32601, "unknown method")
			return
		}
		a.result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":` + tools + `}}`)
	case "initialize":
		if s.session != "" {
			a.w.Header().Set("Mcp-Session-Id", s.session)
		}
		a.result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":` + tools + `},"serverInfo":{"name":"farm","version":"1"}}`)
	case "tools/list":
		a.tools(tool("t"))
	case "tools/call":
		a.text("call " + strconv.Itoa(a.nth))
	case http.MethodGet:
		a.w.WriteHeader(http.StatusMethodNotAllowed)
	case http.MethodDelete:
		a.w.WriteHeader(http.StatusNoContent)
	default:
		if a.id != "" && a.method != "response" {
			a.fault(http.StatusOK, -32601, "unknown method")
			return
		}
		a.w.WriteHeader(http.StatusAccepted)
	}
}

func goodServer() http.Handler {
	idle := &Run{asked: make(map[string]int), open: make(map[int]string)}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if a, ok := read(w, req, idle); ok {
			server{}.answer(a)
		}
	})
}

func (a *asked) typed(media string) { a.w.Header().Set("Content-Type", media) }

func (a *asked) json(text string) {
	a.typed("application/json")
	io.WriteString(a.w, text)
}

func (a *asked) message(result string) string {
	return `{"jsonrpc":"2.0","id":` + a.id + `,"result":` + result + `}`
}

func (a *asked) result(result string) { a.json(a.message(result)) }

func (a *asked) tools(tools ...string) { a.result(listOf(tools...)) }

func (a *asked) text(text string) { a.result(textResult(text)) }

func (a *asked) fault(status, code int, message string) {
	a.typed("application/json")
	a.w.WriteHeader(status)
	io.WriteString(a.w, `{"jsonrpc":"2.0","id":`+a.id+`,"error":{"code":`+strconv.Itoa(code)+`,"message":`+quote(message)+`}}`)
}

// events begins a stream.
func (a *asked) events() {
	a.typed("text/event-stream")
	a.flush()
}

// event writes one.
func (a *asked) event(message string) {
	io.WriteString(a.w, "data: "+message+"\n\n")
	a.flush()
}

func (a *asked) flush() {
	a.w.(http.Flusher).Flush()
}

// wait waits until the client has gone, and a minute at most.
func (a *asked) wait() { a.pause(time.Minute) }

// pause is false if the client has gone meanwhile.
func (a *asked) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-a.req.Context().Done():
		return false
	case <-timer.C:
		return true
	}
}

// forever writes text again and again until the client has gone, and a minute at most.
func (a *asked) forever(text string, every time.Duration) {
	end := time.Now().Add(time.Minute)
	for time.Now().Before(end) {
		if _, err := io.WriteString(a.w, text); err != nil {
			return
		}
		a.flush()
		if !a.pause(every) {
			return
		}
	}
}

// raw writes text to the socket in place of an answer, and calls then, which may be
// nil, before it closes it.
func (a *asked) raw(text string, then func(write func(string) bool, gone <-chan struct{})) {
	conn, buffered, err := a.w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		io.Copy(io.Discard, buffered) // ends with the client, or with Close
	}()
	write := func(text string) bool {
		conn.SetWriteDeadline(time.Now().Add(time.Minute))
		_, err := io.WriteString(conn, text)
		return err == nil
	}
	if write(text) && then != nil {
		then(write, gone)
	}
}

// head is the beginning of an answer for raw, which pages may read.
func head(status string, fields ...string) string {
	var b strings.Builder
	b.WriteString("HTTP/1.1 " + status + "\r\n")
	for key, value := range corsHeaders {
		b.WriteString(key + ": " + value + "\r\n")
	}
	for _, f := range fields {
		b.WriteString(f + "\r\n")
	}
	return b.String() + "\r\n"
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s)
	return strings.TrimSpace(b.String())
}

func tool(name string) string { return toolWith(name, `{"type":"object"}`, "") }

// toolWith is a definition; more are members, each with a comma before it.
func toolWith(name, schema, more string) string {
	return `{"name":` + quote(name) + `,"inputSchema":` + schema + more + `}`
}

func listOf(tools ...string) string { return `{"tools":[` + strings.Join(tools, ",") + `]}` }

func textResult(text string) string {
	return `{"content":[{"type":"text","text":` + quote(text) + `}]}`
}

func notification(method, params string) string {
	return `{"jsonrpc":"2.0","method":"` + method + `","params":` + params + `}`
}

func request(id, method, params string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`
}

// Steps that many cases share.

func silent(a *asked) { a.wait() }

// reset breaks the connection before an answer.
func reset(*asked) { panic(http.ErrAbortHandler) }

func status(code int) step {
	return func(a *asked) { a.w.WriteHeader(code) }
}

func says(code int, media, body string) step {
	return func(a *asked) {
		a.typed(media)
		a.w.WriteHeader(code)
		io.WriteString(a.w, strings.ReplaceAll(body, "$id", a.id))
	}
}

// answers is 200 with a JSON body in which $id is the request's.
func answers(body string) step { return says(http.StatusOK, "application/json", body) }

// gives is a well-formed answer with that result.
func gives(result string) step { return func(a *asked) { a.result(result) } }

func lists(tools ...string) step { return func(a *asked) { a.tools(tools...) } }

func html(a *asked) { says(200, "text/html", "<!doctype html><title>Sign in</title>")(a) }

// dripping begins an answer in JSON and never ends it.
func dripping(a *asked) {
	a.typed("application/json")
	a.forever(" ", 20*time.Millisecond)
}

// large answers with 200 MB.
func large(a *asked) {
	a.typed("application/json")
	block := bytes.Repeat([]byte{' '}, 1<<20)
	for range 200 {
		if _, err := a.w.Write(block); err != nil {
			return
		}
	}
}

// streams answers with a stream of these events, as they are on the wire, in which
// $id is the request's id.
func streams(text string) step {
	return func(a *asked) {
		a.events()
		io.WriteString(a.w, strings.ReplaceAll(text, "$id", a.id))
	}
}

// floods answers with a stream of messages that never ends.
func floods(message string, at int, every time.Duration) step {
	text := strings.Repeat("data: "+message+"\n\n", at)
	return func(a *asked) {
		a.events()
		a.forever(text, every)
	}
}

// then answers well in the end.
func answersAfter(before func(*asked), result string) step {
	return func(a *asked) {
		a.events()
		before(a)
		a.event(a.message(result))
	}
}
