package bridge

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
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
	line, _, err := lines.next()
	runtime.ReadMemStats(&after)
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 300 {
		t.Errorf("%d MiB for a line of 256 MiB", mib)
	}
	if string(line) != ping || err != nil || !strings.Contains(answers.String(), "-32700") {
		t.Errorf("%.100q, %v, answered %.200q", line, err, answers.String())
	}
}

// A client may name many sessions that do not exist.
func TestSessionsThatMadeRoomAreBounded(t *testing.T) {
	var s instances
	for i := range 10 * maxInstances {
		s.during(strings.Repeat("s", 10) + string(rune(0x4e00+i)))()
	}
	if n := len(s.takeLeft()); n > maxInstances {
		t.Errorf("%d sessions are to be ended", n)
	}
}

// A session that a client ends while its stream is open is forgotten.
func TestAnEndedSessionIsForgotten(t *testing.T) {
	var s instances
	streamEnds := s.during("session")
	s.end("session")
	streamEnds()
	if n := len(s.sessions); n > 0 {
		t.Errorf("%d sessions are kept", n)
	}
}
