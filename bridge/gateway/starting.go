package gateway

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// The bounds of the pause before a program that failed is started again.
const (
	shortPause = 2 * time.Second // requests wait for a pause of up to this
	longPause  = time.Minute
	longLife   = 30 * time.Second // a process that lived longer did not fail at its start
)

// start starts a process for owner. The caller holds the turn.
func (e *entry) start(ctx context.Context, owner string) (*program, *fault) {
	if f := e.pause(ctx); f != nil {
		return nil, f
	}
	release, err := e.g.place(ctx, owner)
	if err != nil {
		return nil, internalFault(fmt.Sprintf("the program %s was not started: %v", e.Name, err))
	}
	p := newProgram(e)
	began := time.Now()
	p.proc = &process{
		done: make(chan struct{}), gone: make(chan struct{}), wake: make(chan struct{}, 1),
		grace: e.g.opts.Grace, hurry: e.g.hurry, limit: e.g.opts.Limits.Message, receive: p.receive, note: e.note,
		over: func(note exitNote) {
			e.over(p, note, time.Since(began))
			release()
		},
	}
	e.mu.Lock()
	e.programs[p] = true
	e.mu.Unlock()
	if err := p.proc.start(e.Server); err != nil {
		e.over(p, exitNote{Code: -1, How: cannotStart(e.Server, err)}, 0)
		release()
		close(p.proc.gone)
		return nil, e.gone()
	}
	e.g.opts.Logger.Info("a program was started", "server", e.Name, "pid", p.proc.cmd.Process.Pid)
	return p, nil
}

func cannotStart(s Server, err error) string {
	if _, lost := os.Stat(s.Dir); s.Dir != "" && lost != nil { // the system names the command in both cases
		return fmt.Sprintf("its folder %q was not found", printable([]byte(s.Dir)))
	}
	reason, known := errors.AsType[syscall.Errno](err)
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("its command %q was not found", printable([]byte(s.Command)))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("its command %q may not be run", printable([]byte(s.Command)))
	case known: // its words have no argument and no variable
		return "the system did not start it: " + reason.Error()
	}
	return "the system did not start it"
}

// pause waits until the program may be started again, or says when that is.
func (e *entry) pause(ctx context.Context) *fault {
	e.mu.Lock()
	wait := time.Until(e.until)
	e.mu.Unlock()
	if wait > shortPause {
		return e.gone()
	}
	if wait <= 0 {
		return nil
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return internalFault("the client has left")
	}
}

// gone returns the error of requests to a program that has ended.
func (e *entry) gone() *fault {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fault(e.last)
}

// fault says how the program ended, and what its stderr says of that. e.mu is held.
func (e *entry) fault(note exitNote) *fault {
	text := fmt.Sprintf("the program %s ended", e.Name)
	if note.How != "" {
		text += ": " + note.How
	}
	data := map[string]any{"program": e.Name}
	if note.Code >= 0 && note.How != "" {
		data["exitCode"] = note.Code
	}
	if stderr := redact(note.Stderr, e.secrets); stderr != "" {
		stderr = stderr[:min(len(stderr), 300)]
		text += "; it wrote: " + stderr
		data["stderr"] = stderr
	}
	if wait := time.Until(e.until); wait > 0 && e.failures > 0 {
		text += fmt.Sprintf("; the gateway starts it again in %d s at the earliest", int(math.Ceil(wait.Seconds())))
		data["retryAfterMs"] = wait.Milliseconds()
	}
	return &fault{Code: codeInternal, Message: text, Data: data}
}

// over takes note of a process that has ended.
func (e *entry) over(p *program, note exitNote, lived time.Duration) {
	harmless := p.isProbing() && e.era.Load() == eraUnknown
	e.mu.Lock()
	e.last = note
	if lived > longLife {
		e.failures = 0
	}
	if !note.Asked && !harmless {
		wait := min(longPause, e.g.opts.Delay<<min(e.failures, 20))
		e.failures++
		e.until = time.Now().Add(wait)
	}
	delete(e.programs, p)
	e.drop(p) // first: a client whose stream ends may post at once
	f := e.fault(note)
	e.mu.Unlock()
	p.close(f)
	e.g.opts.Logger.Info("a program ended", "server", e.Name, "how", note.How, "unused", note.Asked)
}

// drop forgets the clients of a program, and their next requests get another one. e.mu is held.
func (e *entry) drop(p *program) {
	if e.spare == p {
		e.spare = nil
	}
	if e.shared == p {
		e.shared = nil
	}
	ofIt := func(_ string, to *peer) bool { return to.program == p }
	maps.DeleteFunc(e.sessions, ofIt)
	maps.DeleteFunc(e.origins, ofIt)
}

// retire ends a program that nobody uses. It may take its time, and gets no request meanwhile.
func (e *entry) retire(p *program) {
	e.mu.Lock()
	e.drop(p)
	e.mu.Unlock()
	p.proc.stop("")
}

// take waits for the turn to start a process.
func (e *entry) take(ctx context.Context) (give func(), f *fault) {
	select {
	case e.turn <- struct{}{}:
		return func() { <-e.turn }, nil
	case <-ctx.Done():
		return nil, internalFault("the client has left")
	}
}

// program returns a process for a new client of owner: the shared one, the spare one, or a new one.
// The caller holds the turn.
func (e *entry) program(ctx context.Context, owner string) (*program, *fault) {
	e.mu.Lock()
	p := e.shared
	if p == nil {
		p, e.spare = e.spare, nil
	}
	e.mu.Unlock()
	var f *fault
	if p == nil {
		p, f = e.start(ctx, owner)
	}
	if f == nil && e.Shared {
		e.mu.Lock()
		if e.programs[p] { // it may have ended by now
			e.shared = p
		}
		e.mu.Unlock()
	}
	return p, f
}
