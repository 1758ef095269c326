//go:build js

package jsfetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/hack-pad/safejs"
)

// peer is a server of Node's, in this process: the requests take the platform's
// real fetch and a real socket.
const peer = `(() => {
  const http = require('node:http')
  const state = {open: 0, aborted: 0, port: 0, seen: [], waiting: []}
  const changed = () => { state.waiting = state.waiting.filter((w) => state[w.key] !== w.n || w.resolve()) }
  state.until = (key, n) => new Promise((resolve) => { state.waiting.push({key, n, resolve}); changed() })
  const server = http.createServer((req, res) => {
    state.open++
    changed()
    res.on('close', () => { state.open--; if (!res.writableEnded) state.aborted++; changed() })
    const chunks = []
    req.on('data', (c) => chunks.push(c))
    req.on('end', () => {
      const body = Buffer.concat(chunks)
      state.seen.push({method: req.method, url: req.url, headers: req.headers, length: body.length})
      switch (new URL(req.url, 'http://x').pathname) {
      case '/echo': res.setHeader('X-Method', req.method); res.setHeader('X-Key', req.headers['x-key'] ?? ''); res.end(body); break
      case '/status': res.statusCode = 418; res.end('short and stout'); break
      case '/empty': res.statusCode = 204; res.end(); break
      case '/silent': break
      case '/drip': res.write('first'); break
      case '/redirect': res.statusCode = 307; res.setHeader('Location', '/echo'); res.end(); break
      case '/break': res.write('half'); setImmediate(() => res.destroy()); break
      case '/big': res.end(Buffer.alloc(3000000, 120)); break
      }
    })
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => {
    state.port = server.address().port
    state.stop = () => { server.close(); server.closeAllConnections() }
    resolve(state)
  }))
})()`

type node struct {
	t     *testing.T
	state js.Value
	base  string
}

func start(t *testing.T) *node {
	t.Helper()
	started := make(chan js.Value, 1)
	then := js.FuncOf(func(_ js.Value, args []js.Value) any { started <- args[0]; return nil })
	defer then.Release()
	js.Global().Call("eval", peer).Call("then", then)
	state := <-started
	t.Cleanup(func() { state.Call("stop") })
	return &node{t, state, "http://127.0.0.1:" + strconv.Itoa(state.Get("port").Int())}
}

func (n *node) do(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	n.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, n.base+path, bytes.NewReader(body))
	if err != nil {
		n.t.Fatal(err)
	}
	if method == http.MethodGet {
		req.Body = nil
	}
	req.Header.Set("X-Key", "value")
	req.Header.Set("User-Agent", "not this")
	return New().RoundTrip(req)
}

func (n *node) ok(method, path string, body []byte) (*http.Response, string) {
	n.t.Helper()
	res, err := n.do(n.t.Context(), method, path, body)
	if err != nil {
		n.t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		n.t.Fatal(err)
	}
	res.Body.Close()
	return res, string(text)
}

// until waits until the server counts k requests that are "open" or "aborted".
func (n *node) until(count string, k int) {
	n.t.Helper()
	select {
	case <-await(safejs.Safe(n.state.Call("until", count, k))):
	case <-time.After(10 * time.Second):
		n.t.Errorf("%s is %d, want %d", count, n.state.Get(count).Int(), k)
	}
}

func TestRoundTrip(t *testing.T) {
	n := start(t)
	for _, body := range []string{"", "hello", strings.Repeat("é", 100000)} {
		res, text := n.ok("POST", "/echo", []byte(body))
		if res.StatusCode != 200 || text != body || res.Header.Get("X-Method") != "POST" || res.Header.Get("X-Key") != "value" {
			t.Errorf("status %d, %d bytes, headers %v", res.StatusCode, len(text), res.Header)
		}
	}
	if res, text := n.ok("GET", "/status", nil); res.StatusCode != 418 || text != "short and stout" {
		t.Errorf("status %d, %q", res.StatusCode, text)
	}
	if res, text := n.ok("DELETE", "/empty", nil); res.StatusCode != 204 || text != "" {
		t.Errorf("status %d, %q", res.StatusCode, text)
	}
	if _, text := n.ok("GET", "/big", nil); len(text) != 3000000 {
		t.Errorf("%d bytes", len(text))
	}
	for i := range n.state.Get("seen").Length() {
		headers := n.state.Get("seen").Index(i).Get("headers")
		if agent := headers.Get("user-agent"); agent.Type() == js.TypeString && agent.String() == "not this" {
			t.Error("User-Agent was set")
		}
	}
}

func TestFailures(t *testing.T) {
	n := start(t)
	for _, method := range []string{"GET", "POST"} {
		res, err := n.do(t.Context(), method, "/redirect", []byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode < 300 || res.StatusCode > 399 {
			t.Errorf("the redirect of a %s was followed", method)
		}
	}
	closed := &node{t: t, base: "http://127.0.0.1:1"}
	if _, err := closed.do(t.Context(), "GET", "/", nil); err == nil {
		t.Error("nobody answered, and no error")
	}
	res, err := n.do(t.Context(), "GET", "/break", nil)
	if err == nil {
		_, err = io.ReadAll(res.Body)
	}
	if err == nil {
		t.Error("no error for a body that breaks off")
	}
	req, err := http.NewRequest("GET", n.base+"/echo", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header["X-Bad"] = []string{"größe \u2028"}
	if _, err := New().RoundTrip(req); err == nil {
		t.Error("no error for a header value that JavaScript refuses")
	}
}

func TestContextEndsTheRequest(t *testing.T) {
	n := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := n.do(ctx, "POST", "/silent", []byte("x"))
		done <- err
	}()
	n.until("open", 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
	n.until("aborted", 1)
}

// net/http stops watching the context when the headers have come.
func TestContextEndsTheBody(t *testing.T) {
	n := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	for range 8 {
		res, err := n.do(ctx, "GET", "/drip", nil)
		if err != nil {
			t.Fatal(err)
		}
		p := make([]byte, 100)
		if k, err := res.Body.Read(p); string(p[:k]) != "first" {
			t.Fatalf("%q, %v", p[:k], err)
		}
		go func() {
			if _, err := res.Body.Read(p); !errors.Is(err, context.Canceled) {
				t.Errorf("read: %v, want context.Canceled", err)
			}
		}()
	}
	cancel()
	n.until("aborted", 8)
	n.until("open", 0)
}

func TestCloseEndsTheBody(t *testing.T) {
	n := start(t)
	res, err := n.do(t.Context(), "GET", "/drip", nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	res.Body.Close()
	if _, err := res.Body.Read(make([]byte, 1)); err == nil {
		t.Error("no error after Close")
	}
	n.until("aborted", 1)
}

func TestStreamedBodies(t *testing.T) {
	if !canStream() {
		t.Fatal("Node's fetch takes streams")
	}
	n := start(t)
	req, err := http.NewRequest("POST", n.base+"/echo", strings.NewReader(`{"method":"tools/call"}`))
	if err != nil {
		t.Fatal(err)
	}
	var o origins
	if o.streams(req, []byte(`{"method":"tools/call"}`)) {
		t.Error("a stream over plain HTTP/1.1, which Chromium refuses")
	}
	abort, err := newAborter()
	if err != nil {
		t.Fatal(err)
	}
	init, err := requestInit(req, []byte("streamed"), abort, true)
	if err != nil {
		t.Fatal(err)
	}
	settled := await(safejs.Safe(js.Global().Call("fetch", n.base+"/echo", safejs.Unsafe(init))))
	if s := <-settled; s.err != nil {
		t.Fatal(s.err)
	}
	seen := n.state.Get("seen")
	if seen.Length() != 1 || seen.Index(0).Get("length").Int() != len("streamed") {
		t.Errorf("%d requests", seen.Length())
	}
}
