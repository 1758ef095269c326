package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/rawmsg"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// binary builds the command once.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "portolan-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "portolan")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// program returns portolan bridge with arguments, at a port and folder of the test.
type program struct{ path, addr, dir string }

func newProgram(t *testing.T) program {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return program{path, freeAddress(t), t.TempDir()}
}

// freeAddress returns an address for a program. Its port is below those that the system gives to connections, so that
// no other process gets it meanwhile.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		addr := fmt.Sprint("127.0.0.1:", 31_000+rand.IntN(1700))
		if l, err := net.Listen("tcp", addr); err == nil {
			l.Close()
			return addr
		}
	}
}

func (p program) command(args ...string) *exec.Cmd {
	words := []string{"bridge"}
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		words, args = append(words, args[0]), args[1:]
	}
	words = append(words, "--listen", p.addr, "--dir", p.dir, "--discovery", "-")
	return exec.Command(p.path, append(words, args...)...)
}

const origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"

func (p program) socket(t *testing.T) *socket.Conn {
	t.Helper()
	ws, _, err := websocket.Dial(t.Context(), "ws://"+p.addr+"/extension",
		&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.CloseNow() })
	return socket.New(ws, nil, socket.Limits{})
}

func (p program) pair(t *testing.T) []byte {
	t.Helper()
	key, said, failed, err := p.tryPair(t)
	if err != nil || failed != nil {
		t.Fatal(err, failed, said)
	}
	return key
}

// tryPair runs portolan bridge pair. The person types the digits into the extension and y into the terminal. It returns
// what the command writes to stderr, how the command ends, and how the extension's side of it ends.
func (p program) tryPair(t *testing.T) (key []byte, errs string, failed, err error) {
	t.Helper()
	cmd := p.command("pair")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(stdout)
	if line, err := said.ReadString('\n'); err != nil || !strings.Contains(line, "side panel") {
		t.Fatalf("%q, %v", line, err)
	}
	digits := regexp.MustCompile(`^\s+(\d{3}) (\d{3})$`)
	who := handshake.Profile{InstallID: "i-1", Label: "Work", Origin: origin, Address: p.addr}
	key, err = handshake.Pair(t.Context(), p.socket(t), who, func(context.Context) (string, error) {
		for {
			line, err := said.ReadString('\n')
			if err != nil {
				return "", err
			}
			if m := digits.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				go func() { // the question has no end of line
					var all []byte
					for b := make([]byte, 1); !bytes.Contains(all, []byte("[y/N]")); all = append(all, b...) {
						if _, err := said.Read(b); err != nil {
							return
						}
					}
					fmt.Fprintln(stdin, "y")
					io.Copy(io.Discard, said)
				}()
				return m[1] + m[2], nil
			}
		}
	})
	failed = cmd.Wait()
	return key, stderr.String(), failed, err
}

// TestKeyThatCannotBeStored pairs while the folder does not take the file. Both sides get the reason, and the command ends.
func TestKeyThatCannotBeStored(t *testing.T) {
	p := newProgram(t)
	if out, err := p.command("token").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if err := os.MkdirAll(filepath.Join(p.dir, "bridge.json.new", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, said, failed, err := p.tryPair(t)
	if err == nil || !strings.Contains(err.Error(), "NOT_KEPT") {
		t.Errorf("the extension gets %v", err)
	}
	if failed == nil || !strings.Contains(said, "write pairings: ") {
		t.Errorf("the command: %v, %s", failed, said)
	}
}

// extend connects an extension with one tool.
func (p program) extend(t *testing.T, key []byte) {
	t.Helper()
	c := p.socket(t)
	if err := handshake.Connect(t.Context(), c, handshake.Client{Role: "extension", InstallID: "i-1", Origin: origin,
		Address: p.addr, Key: key}); err != nil {
		t.Fatal(err)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "extension", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "hello"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult,
		any, error) {
		return textResult("from the browser"), nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult,
		any, error) {
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
			Message: "Which tone?", Meta: mcp.Meta{rawmsg.MetaCall: req.Params.Meta[rawmsg.MetaCall]},
		})
		if err != nil {
			return nil, nil, err
		}
		return textResult(answer.Action), nil, nil
	})
	session, err := s.Connect(context.Background(), c, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
}

func TestBridgeStdio(t *testing.T) {
	p := newProgram(t)
	connect := func() (*exec.Cmd, *mcp.ClientSession, chan struct{}) {
		t.Helper()
		changed := make(chan struct{}, 100)
		client := mcp.NewClient(&mcp.Implementation{Name: "desktop", Version: "1"}, &mcp.ClientOptions{
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "decline"}, nil
			},
		})
		cmd := p.command("--stdio")
		session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cmd, session, changed
	}
	first, one, changedOne := connect()
	second, two, changedTwo := connect() // attaches to the first
	for _, s := range []*mcp.ClientSession{one, two} {
		list, err := s.ListTools(t.Context(), nil)
		if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "portolan_pair" {
			t.Fatalf("%v, %v", list, err)
		}
	}
	key := p.pair(t)
	p.extend(t, key)
	<-changedOne
	<-changedTwo
	for _, s := range []*mcp.ClientSession{one, two} {
		result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "hello"})
		if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != "from the browser" {
			t.Errorf("%+v, %v", result, err)
		}
		if version := s.InitializeResult().ProtocolVersion; version != "2026-07-28" {
			t.Errorf("version %s", version)
		}
		result, err = s.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
		if err != nil || result.Content[0].(*mcp.TextContent).Text != "decline" {
			t.Errorf("a question: %+v, %v", result, err)
		}
	}
	out, err := p.command("clients").Output()
	if err != nil || !strings.Contains(string(out), `i-1  "Work"`) || !strings.Contains(string(out), "  Connected") {
		t.Errorf("clients: %s, %v", out, err)
	}
	// Each ends with its stdin. The end of the second does not end the first.
	two.Close()
	if second.ProcessState == nil || second.ProcessState.ExitCode() != 0 {
		t.Errorf("second: %v", second.ProcessState)
	}
	if _, err := one.CallTool(t.Context(), &mcp.CallToolParams{Name: "hello"}); err != nil {
		t.Error(err)
	}
	if out, err := p.command("revoke", "i-1").Output(); err != nil || string(out) != "Revoked.\n" {
		t.Errorf("revoke: %s, %v", out, err)
	}
	one.Close()
	if first.ProcessState == nil || first.ProcessState.ExitCode() != 0 {
		t.Errorf("first: %v", first.ProcessState)
	}
	if _, err := net.Dial("tcp", p.addr); err == nil {
		t.Error("something still listens")
	}
}

// The profile that the first client chooses is not that of a client that attaches to its bridge.
func TestBridgeStdioProfiles(t *testing.T) {
	p := newProgram(t)
	connect := func(args ...string) *mcp.ClientSession {
		t.Helper()
		session, err := mcp.NewClient(&mcp.Implementation{Name: "desktop", Version: "1"}, nil).
			Connect(t.Context(), &mcp.CommandTransport{Command: p.command(append([]string{"--stdio"}, args...)...)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { session.Close() })
		return session
	}
	connect("--profile", "Home")
	other := connect()
	p.extend(t, p.pair(t)) // the profile "Work"
	result, err := other.CallTool(t.Context(), &mcp.CallToolParams{Name: "hello"})
	if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != "from the browser" {
		t.Errorf("%+v, %v", result, err)
	}
}

// The client that began the bridge leaves. The others go on: one of them has the port then.
func TestBridgeStdioGoesOnWithoutTheFirst(t *testing.T) {
	p := newProgram(t)
	connect := func() (*exec.Cmd, *mcp.ClientSession) {
		t.Helper()
		cmd := p.command("--stdio")
		session, err := mcp.NewClient(&mcp.Implementation{Name: "desktop", Version: "1"}, nil).
			Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return cmd, session
	}
	_, one := connect()
	second, two := connect()
	third, three := connect()
	key := p.pair(t)
	p.extend(t, key)
	hello := func(s *mcp.ClientSession) {
		t.Helper()
		result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "hello"})
		if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != "from the browser" {
			t.Errorf("%+v, %v", result, err)
		}
	}
	hello(two)
	one.Close()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", p.addr); err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no bridge listens")
		}
	}
	p.extend(t, key)
	hello(two)
	hello(three)
	two.Close()
	three.Close()
	for _, cmd := range []*exec.Cmd{second, third} {
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("it ended with %v", cmd.ProcessState)
		}
	}
	if _, err := net.Dial("tcp", p.addr); err == nil {
		t.Error("something still listens")
	}
}

// B3: the bridge logs into a file that only the user may read, without secrets.
func TestBridgeLogFile(t *testing.T) {
	p := newProgram(t)
	log := filepath.Join(t.TempDir(), "bridge.log")
	cmd := p.command("--log-file", log, "--log-level", "debug")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", p.addr); err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the bridge does not listen")
		}
	}
	key := p.pair(t)
	p.extend(t, key)
	token, err := p.command("token").Output()
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(log)
		if err == nil && bytes.Contains(text, []byte(`msg="a browser connected" profile=Work`)) {
			if bytes.Contains(text, bytes.TrimSpace(token)) || bytes.Contains(text, key) {
				t.Errorf("a secret is in the log:\n%s", text)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log has %q, %v", text, err)
		}
	}
	if info, err := os.Stat(log); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	second := filepath.Join(t.TempDir(), "second.log")
	if out, err := p.command("--stdio", "--log-file", second).Output(); err != nil || len(out) > 0 {
		t.Errorf("a client that attaches and ends: %q, %v", out, err)
	}
	if text, err := os.ReadFile(second); !bytes.Contains(text, []byte("another bridge has the port")) {
		t.Errorf("the second log has %q, %v", text, err)
	}
}

// TestBridgeEnds ends the bridge with a client, an extension and a stream open.
func TestBridgeEnds(t *testing.T) {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		p := newProgram(t)
		key := p.pair(t) // no bridge runs
		cmd := p.command()
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "The bridge is at http://"+p.addr+"/mcp\n" {
			t.Errorf("%q, %v", line, err)
		}
		p.extend(t, key)
		ended := make(chan error, 1)
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(sig) // a second signal ends the process at once
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			t.Errorf("%v: it runs on", sig)
		}
	}
}

func TestBridgeLeavesOthersAlone(t *testing.T) {
	p := newProgram(t)
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	var heard bytes.Buffer
	var mu sync.Mutex
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		req.Write(&heard)
		http.NotFound(w, req)
	})}
	go server.Serve(l)
	defer server.Close()
	token, err := p.command("token").Output()
	if err != nil || len(strings.TrimSpace(string(token))) != 32 {
		t.Fatalf("token: %v", err)
	}
	for _, args := range [][]string{{}, {"--stdio"}, {"pair"}} {
		cmd := p.command(args...)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		err := cmd.Run()
		if code := cmd.ProcessState.ExitCode(); err == nil || code != 1 ||
			!strings.Contains(errs.String(), "another program has the port") {
			t.Errorf("%v: exit code %d: %s", args, code, errs.String())
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if strings.Contains(heard.String(), strings.TrimSpace(string(token))) || heard.Len() == 0 {
		t.Error("the program on the port heard the token, or nothing")
	}
}

// A client starts its servers again, and the earlier bridge has the port still, but takes no client any more.
func TestBridgeStdioStartsBesideOneThatEnds(t *testing.T) {
	p := newProgram(t)
	if err := p.command("token").Run(); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if c, err := l.Accept(); err == nil {
			c.Close()
		}
		l.Close()
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "editor", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: p.command("--stdio")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

func TestBridgeUsage(t *testing.T) {
	for _, args := range [][]string{{"x"}, {"--listen", "0.0.0.0:1"}, {"--nonsense"},
		{"--discovery", "0.0.0.0:1"}, {"--discovery", "nonsense"}, {"pair", "x"}, {"clients", "x"},
		{"revoke"}, {"token", "x"}, {"--origin", "app.example", "--dir", t.TempDir(), "--listen", "127.0.0.1:0"}} {
		if code, out, errs := portolan(t, append([]string{"bridge"}, args...)...); code != 2 || out != "" ||
			!strings.Contains(errs, "usage:") {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
	t.Setenv("PORTOLAN_ADDR", "0.0.0.0:1")
	for _, c := range []struct {
		args   []string
		source string
	}{
		{[]string{"bridge"}, "PORTOLAN_ADDR"},
		{[]string{"bridge", "--listen", "0.0.0.0:2"}, "--listen"},
	} {
		if code, _, errs := portolan(t, c.args...); code != 2 || !strings.Contains(errs, c.source+": 0.0.0.0 is not") {
			t.Errorf("%q: exit code %d, stderr %q", c.args, code, errs)
		}
	}
	if code, out, errs := portolan(t, "bridge", "revoke", "none", "--dir", t.TempDir(), "--listen",
		"127.0.0.1:1"); code != 1 || out != "" {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
}
