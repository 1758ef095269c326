package bridge

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
)

// A client that never ends its line takes little memory.
func TestLinesAreBounded(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	part := strings.Repeat("x", 1<<20)
	var parts []io.Reader
	for range 256 {
		parts = append(parts, strings.NewReader(part))
	}
	var answers bytes.Buffer
	lines := newLineReader(io.NopCloser(io.MultiReader(append(parts, strings.NewReader("\n"+ping+"\n"))...)), &lineWriter{w: &answers})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	messages, err := lines.next()
	runtime.ReadMemStats(&after)
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 300 {
		t.Errorf("%d MiB for a line of 256 MiB", mib)
	}
	if err != nil || string(messages[0]) != ping || !strings.Contains(answers.String(), "-32700") {
		t.Errorf("%.100q, %v, answered %.200q", messages, err, answers.String())
	}
}

// Many clients may begin sessions at the same time.
func TestSessionsThatMadeRoomAreBounded(t *testing.T) {
	var s instances
	for i := range 10 * maxInstances {
		s.begin(strings.Repeat("s", 10)+string(rune(0x4e00+i)), "", false)
	}
	if n := len(s.takeLeft()); n > maxInstances {
		t.Errorf("%d sessions are to be ended", n)
	}
}

// A session that a client ends while its stream is open is forgotten.
func TestAnEndedSessionIsForgotten(t *testing.T) {
	var s instances
	s.begin("session", "", false)
	streamEnds := s.during("session")
	s.end("session")
	streamEnds()
	s.number("session", "name", "project")
	if n := len(s.sessions); n > 0 {
		t.Errorf("%d sessions are kept", n)
	}
}

// Sessions that did not begin, or ended by themselves, take no place of others.
func TestOnlySessionsThatLiveAreKept(t *testing.T) {
	b, err := New(&Options{Ephemeral: true})
	if err != nil {
		t.Fatal(err)
	}
	token, err := b.Token()
	if err != nil {
		t.Fatal(err)
	}
	post := func(session, message string) *httptest.ResponseRecorder {
		req := httptest.NewRequestWithContext(t.Context(), "POST", "http://127.0.0.1/mcp", strings.NewReader(message))
		req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}}
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		w := httptest.NewRecorder()
		b.serveMCP(w, req)
		return w
	}
	if w := post("unknown", `{"jsonrpc":"2.0","id":1,"method":"ping"}`); w.Code != 404 {
		t.Errorf("an unknown session gets %d", w.Code)
	}
	if w := post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`); !strings.Contains(w.Body.String(), `"error"`) {
		t.Errorf("%d %s", w.Code, w.Body.String())
	}
	if n := len(b.instances.sessions); n > 0 {
		t.Errorf("%d sessions are kept", n)
	}
	post("", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},`+
		`"clientInfo":{"name":"script","version":"1"}}}`)
	if n := len(b.instances.sessions); n != 1 {
		t.Errorf("%d sessions, want 1", n)
	}
	for session := range b.relayFor("").server.Sessions() { // as after a day without requests
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		b.instances.mu.Lock()
		n := len(b.instances.sessions)
		b.instances.mu.Unlock()
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are kept", n)
		}
	}
}
