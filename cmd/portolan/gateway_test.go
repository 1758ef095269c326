package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

func TestGatewayUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	config := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(config, []byte(`{"mcpServers":{"a":{"url":"https://x.example"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, 2, "there is no .mcp.json, mcp.json"},
		{[]string{"--"}, 2, "want a command behind --"},
		{[]string{"--", ""}, 2, "want a command behind --"},
		{[]string{"--listen", "0.0.0.0:1", "--", "x"}, 2, "not a loopback address"},
		{[]string{"--idle", "0", "--", "x"}, 2, "--idle"},
		{[]string{"--config", "x", "--", "x"}, 2, "want --config, or a command"},
		{[]string{"extra"}, 2, `unexpected "extra"`},
		{[]string{"--config", "none.json"}, 1, "read none.json"},
		{[]string{"--config", config}, 1, "has no server with a command"},
		{[]string{"--listen", "127.0.0.1:0", "--dir", t.TempDir(), "--allow", "evil", "--", "x"}, 2, `--allow: "evil" is not an origin`},
		{[]string{"revoke"}, 2, "want one origin"},
		{[]string{"revoke", "https://a.example", "--dir", t.TempDir()}, 1, "https://a.example was not paired"},
	} {
		var out, errs bytes.Buffer
		code := run(context.Background(), append([]string{"gateway"}, row.args...), &out, &errs)
		if code != row.code || !strings.Contains(errs.String(), row.want) || out.Len() > 0 {
			t.Errorf("%v: exit code %d, %s%s", row.args, code, out.String(), errs.String())
		}
	}
}

// TestGatewayCommand runs the command with the file that is there, and ends it: by the
// system, in the terminal, and with the terminal.
func TestGatewayCommand(t *testing.T) {
	for _, end := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(end.String(), func(t *testing.T) { testGatewayCommand(t, end) })
	}
}

// stubborn starts the gateway with a program that does not end by itself, and whose script writes its pid. It returns
// the gateway, its stderr and the pid.
func stubborn(t *testing.T, script string) (cmd *exec.Cmd, errs io.ReadCloser, pid int) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(path, "gateway", "--listen", "127.0.0.1:0", "--dir", t.TempDir(), "--allow", "https://app.example", "--verbose",
		"--", "sh", "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if errs, err = cmd.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	req := initializing(t, out, "sh")
	go http.DefaultClient.Do(req) // it gets no answer
	for lines := bufio.NewScanner(errs); pid == 0 && lines.Scan(); {
		if _, number, ok := strings.Cut(lines.Text(), ": pid "); ok {
			pid, _ = strconv.Atoi(number)
		}
	}
	if pid == 0 {
		t.Fatal("the program has not written its pid")
	}
	t.Cleanup(func() { syscall.Kill(-pid, syscall.SIGKILL) })
	return cmd, errs, pid
}

// TestASecondInterruptLeavesNoProgram runs a program that ignores the end of its input and SIGTERM.
func TestASecondInterruptLeavesNoProgram(t *testing.T) {
	cmd, errs, pid := stubborn(t, `trap "" TERM; echo pid $$ >&2; while :; do sleep 1; done`)
	ended := make(chan error, 1)
	go func() {
		_, _ = io.Copy(io.Discard, errs)
		ended <- cmd.Wait()
	}()
	for late := time.After(20 * time.Second); ; {
		_ = cmd.Process.Signal(syscall.SIGINT)
		select {
		case err := <-ended:
			if syscall.Kill(pid, 0) != syscall.ESRCH {
				t.Errorf("the gateway ended with %v, and its program goes on", err)
			}
			return
		case <-late:
			t.Fatal("the gateway does not end")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// The reader of the gateway's output, such as tee, ends with the same interrupt. A program that ignores the end of its
// input is ended all the same.
func TestOutputThatNobodyReadsLeavesNoProgram(t *testing.T) {
	cmd, errs, pid := stubborn(t, `trap "" TERM PIPE; echo pid $$ >&2; while :; do echo words >&2; sleep 0.1; done`)
	errs.Close()
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if syscall.Kill(pid, 0) != syscall.ESRCH {
		t.Errorf("the gateway ended with %v, and its program goes on", err)
	}
}

// initializing returns the first request to a server, once the gateway has said where it is.
func initializing(t *testing.T, out io.Reader, server string) *http.Request {
	t.Helper()
	lines := bufio.NewScanner(out)
	var url, token string
	for lines.Scan() && !strings.Contains(lines.Text(), "Find a running gateway") {
		if name, at, ok := strings.Cut(strings.TrimSpace(lines.Text()), "  "); ok && name == server {
			url = at
		}
		if _, at, ok := strings.Cut(lines.Text(), "for this run: "); ok {
			token = at
		}
	}
	req, err := http.NewRequest("POST", url, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	return req
}

func testGatewayCommand(t *testing.T, end os.Signal) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := `{"mcpServers":{"bridge":{"command":"` + path + `","args":["bridge","--stdio","--listen","127.0.0.1:0","--discovery","-","--dir","` + dir + `"]},
		"remote":{"url":"https://x.example"}}} // a comment`
	if err := os.WriteFile(filepath.Join(dir, ".mcp.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	// A test under nohup ignores SIGHUP, and so would the command, unless the test catches it.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, path, "gateway", "--listen", "127.0.0.1:0", "--dir", dir, "--allow", "https://app.example", "--verbose")
	cmd.Dir = dir
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	req := initializing(t, out, "bridge")
	res, err := (&http.Client{Timeout: 20 * time.Second}).Do(req)
	if err != nil || res.StatusCode != 200 || res.Header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("%v %v", res, err)
	}
	res.Body.Close()
	if err := cmd.Process.Signal(end); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	for _, want := range []string{"remote: left out", "bridge: The bridge is at", "a program was started", "a program ended"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("stderr lacks %q: %s", want, errs.String())
		}
	}
}

// TestGatewayTokenThatCannotBeStored pairs a page while the folder does not take the file. Terminal and page say that it
// was not paired.
func TestGatewayTokenThatCannotBeStored(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "gateway.json.new", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "gateway", "--listen", "127.0.0.1:0", "--dir", dir, "--", "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	said := bufio.NewReader(out)
	// until reads up to a word of the terminal, of which a question ends without a line.
	until := func(word string) (text string) {
		t.Helper()
		for !strings.HasSuffix(text, word) {
			b, err := said.ReadByte()
			if err != nil {
				t.Errorf("%v behind %q", err, text)
				return text
			}
			text += string(b)
		}
		return text
	}
	until("The gateway is at http://")
	addr := strings.TrimSpace(until("\n"))
	const page = "https://app.example"
	ws, _, err := websocket.Dial(t.Context(), "ws://"+addr+"/pair",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {page}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	who := handshake.Profile{InstallID: "page", Origin: page, Address: addr}
	ended := make(chan string, 1)
	_, err = handshake.Pair(t.Context(), socket.New(ws, nil, socket.Limits{}), who, func(context.Context) (string, error) {
		until("Type these digits there:\n\n    ")
		digits := strings.TrimSpace(until("\n"))
		go func() {
			until("[y/N] ")
			io.WriteString(in, "y\n")
			ended <- until("\n")
		}()
		return strings.ReplaceAll(digits, " ", ""), nil
	})
	if err == nil || !strings.Contains(err.Error(), "NOT_KEPT") {
		t.Errorf("the page gets %v", err)
	}
	if text := <-ended; !strings.HasPrefix(text, "It was not paired: write the admitted origins: ") {
		t.Errorf("the terminal says %q", text)
	}
}
