package gateway

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A process is a started program. Write and stop may be called from several goroutines.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	grace time.Duration
	hurry <-chan struct{} // closed when there is no time for grace
	limit int             // bytes in a message

	receive func(line []byte)     // a message on stdout, from one goroutine; it may keep the line
	note    func(line string)     // a line of stderr, or one of stdout that is no message
	over    func(reason exitNote) // once, when the process and its output have ended

	done chan struct{} // closed before over is called
	gone chan struct{} // closed behind it

	mu      sync.Mutex
	queue   [][]byte // lines that wait for stdin
	queued  int      // their bytes
	wake    chan struct{}
	started bool
	closing bool
	reason  string // why the gateway ends it; empty if the program ends by itself
	last    string // what stderr says of the end
}

// An exitNote says how a process ended.
type exitNote struct {
	Code   int    // -1 if a signal ended it, or the gateway
	How    string // "exit code 3", "signal: killed", or why the gateway ended it
	Asked  bool   // the gateway ended it because nobody uses it
	Stderr string // its last line, or the error above it
}

// maxQueued bounds the messages that a program has not read yet.
const maxQueued = 256

// errBusy is the error of a write to a program that does not read its input.
var errBusy = errors.New("it does not read its input")

// start starts a program in a process group of its own, unless stop was called before.
func (p *process) start(s Server) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return errors.New("it is ending")
	}
	p.cmd = exec.Command(commandOf(s), s.Args...)
	p.cmd.Env, p.cmd.Dir = environ(s.Env), s.Dir
	ownGroup(p.cmd)
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	// These pipes are not cmd's own: Wait would close them before all of the output is read.
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return err
	}
	errRead, errWrite, err := os.Pipe()
	if err == nil {
		p.cmd.Stdout, p.cmd.Stderr = outWrite, errWrite
		err = p.cmd.Start()
		_ = errWrite.Close()
	}
	_ = outWrite.Close()
	if err != nil {
		_ = outRead.Close()
		if errRead != nil {
			_ = errRead.Close()
		}
		return err
	}
	p.started = true
	var reading sync.WaitGroup
	reading.Go(func() { p.readOutput(outRead) })
	reading.Go(func() { p.readErrors(errRead) })
	go p.write()
	go func() {
		err := p.cmd.Wait()
		killGroup(p.cmd) // what it started, and left behind
		read := make(chan struct{})
		go func() { reading.Wait(); close(read) }()
		select {
		case <-read:
		case <-time.After(p.grace): // a program outside the group holds the pipes
		}
		_ = outRead.Close()
		_ = errRead.Close()
		<-read
		p.ended(err)
	}()
	return nil
}

func (p *process) ended(err error) {
	p.mu.Lock()
	note := exitNote{Code: p.cmd.ProcessState.ExitCode(), How: "exit code 0", Stderr: p.last, Asked: p.closing && p.reason == ""}
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case p.reason != "":
		note.How, note.Code = p.reason, -1
	case exited:
		note.How = strings.Replace(exit.Error(), "exit status", "exit code", 1)
	case err != nil:
		note.How = "its output could not be read"
	}
	p.closing = true
	p.mu.Unlock()
	close(p.done)
	p.over(note)
	close(p.gone)
}

// send queues a message for the program. line has no line break.
func (p *process) send(line []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closing:
		return errors.New("it is ending")
	case len(p.queue) >= maxQueued || p.queued+len(line) > 2*p.limit:
		return errBusy
	}
	p.queue, p.queued = append(p.queue, line), p.queued+len(line)
	wakeUp(p.wake)
	return nil
}

// write writes the queue to stdin until the process is to end.
func (p *process) write() {
	defer p.stdin.Close()
	for {
		p.mu.Lock()
		lines, closing := p.queue, p.closing
		p.queue, p.queued = nil, 0
		p.mu.Unlock()
		for _, line := range lines {
			if _, err := p.stdin.Write(append(line, '\n')); err != nil {
				return // it is ending; over reports it
			}
		}
		if closing {
			return
		}
		select {
		case <-p.wake:
		case <-p.done:
			return
		}
	}
}

// stop ends the program: it closes stdin, then sends SIGTERM, then kills the group. reason
// is empty if nobody uses the program.
func (p *process) stop(reason string) {
	p.mu.Lock()
	if p.closing {
		p.mu.Unlock()
		return
	}
	p.closing, p.reason = true, reason
	started := p.started
	p.mu.Unlock()
	if !started {
		return
	}
	wakeUp(p.wake)
	go func() {
		for _, step := range []func(*exec.Cmd){nil, terminateGroup, killGroup} {
			if step != nil {
				step(p.cmd)
			}
			select {
			case <-p.done:
				return
			case <-time.After(p.grace):
			case <-p.hurry:
			}
		}
		_ = p.stdin.Close() // in case a write waits for a pipe that another program holds
	}()
}

// readOutput reads the messages of stdout, one a line.
func (p *process) readOutput(r io.Reader) {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := readLine(lines, p.limit)
		if errors.Is(err, bufio.ErrTooLong) {
			p.stop(fmt.Sprintf("it wrote a message larger than %d MiB", p.limit>>20))
			_, _ = io.Copy(io.Discard, lines)
			return
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			p.handle(line)
		}
		if err != nil {
			go p.closedOutput()
			return
		}
	}
}

// handle passes a message on. One that breaks the relay ends the program, and not the
// gateway.
func (p *process) handle(line []byte) {
	defer func() {
		if recover() != nil {
			p.stop("one of its messages could not be handled")
		}
	}()
	p.receive(line)
}

// closedOutput ends a program that goes on without its stdout.
func (p *process) closedOutput() {
	select {
	case <-p.done:
	case <-time.After(p.grace):
		p.stop("it closed its stdout")
	}
}

// readLine returns the next line. It fails with [bufio.ErrTooLong] beyond limit bytes.
func readLine(r *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit {
			return nil, bufio.ErrTooLong
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// errorLines is how many lines behind an error still belong to it: Node prints a stack and its own version there.
const errorLines = 20

// readErrors reads stderr. Of a long line it keeps the beginning.
func (p *process) readErrors(r io.Reader) {
	lines := bufio.NewReaderSize(r, longestRead)
	after := errorLines // lines behind the last error
	for whole := true; ; {
		part, err := lines.ReadSlice('\n')
		if text := printable(part); whole && text != "" {
			if after++; strings.Contains(text, "Error: ") {
				after = 0
			}
			if after == 0 || after > errorLines {
				p.mu.Lock()
				p.last = text
				p.mu.Unlock()
			}
			p.note(text)
		}
		whole = err == nil
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// printable removes what could control a terminal.
func printable(text []byte) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e ||
			r >= 0x2066 && r <= 0x2069 || r == 0xfeff:
			return -1
		}
		return r
	}, string(text)))
}
