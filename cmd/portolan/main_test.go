package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
)

// start serves the site and the demo server, as up does.
func start(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	handler := site(fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")},
		"portolan/portolan.wasm": {Data: []byte("\x00asm")}}, pageSettings{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		merged, stop := context.WithCancel(req.Context())
		defer stop()
		defer context.AfterFunc(ctx, stop)()
		if req.URL.Path == "/locked" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, req.WithContext(merged))
	}))
	server.Start()
	t.Cleanup(func() {
		cancel() // streams hold the server open
		server.Close()
	})
	return server.URL
}

func portolan(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestTools(t *testing.T) {
	base := start(t)
	code, out, errs := portolan(t, "tools", base+"/mcp", base+"/sse", "--json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var list struct {
		Servers map[string]struct{ Status, Transport string }
		Tools   []struct{ Name, Server, Tool string }
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ Status, Transport string }{
		"localhost": {"connected", "streamable-http"}, "localhost_2": {"connected", "sse"},
	}
	if d := cmp.Diff(want, list.Servers); d != "" {
		t.Errorf("servers (-want +got):\n%s", d)
	}
	if len(list.Tools) != 14 || list.Tools[0].Name != "localhost__add" {
		t.Errorf("tools %v", list.Tools)
	}
}

func TestToolsInEveryDialect(t *testing.T) {
	base := start(t)
	for _, format := range []string{"openai", "openai-responses", "anthropic", "gemini"} {
		code, out, errs := portolan(t, "tools", "--format", format, base+"/mcp")
		var tools []map[string]any
		if err := json.Unmarshal([]byte(out), &tools); code != 0 || err != nil || len(tools) != 7 {
			t.Errorf("%s: exit code %d, %v, %d tools, %s", format, code, err, len(tools), errs)
		}
	}
}

func TestToolsOfTheServersThatWork(t *testing.T) {
	base := start(t)
	code, out, errs := portolan(t, "tools", base+"/nowhere", base+"/mcp")
	if code != 1 || !strings.Contains(out, "localhost_2__echo") || !strings.Contains(errs, "404") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

func TestCall(t *testing.T) {
	base := start(t)
	unknown := httptest.NewUnstartedServer(http.NotFoundHandler())
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	unknown.StartTLS()
	defer unknown.Close()
	locked := unknown.URL + "/mcp"
	for _, row := range []struct {
		name string
		args []string
		code int
		out  string // in stdout
		errs string // in stderr
	}{
		{"raw name", []string{base + "/mcp", "echo", `{"text":"hé"}`}, 0, "hé", ""},
		{"model name", []string{base + "/sse", "localhost__add", `{"a":1,"b":2}`}, 0, "3", ""},
		{"json", []string{"--json", base + "/mcp", "reverse", `{"text":"abc"}`}, 0, `"text": "cba"`, ""},
		{"progress", []string{base + "/mcp", "countdown", `{"from":2,"delayMs":1}`}, 0, "Lift-off.", "2\n1\n"},
		{"is error", []string{base + "/mcp", "fail"}, 1, "on purpose", "answered with an error"},
		{"own deadline", []string{base + "/mcp", "countdown", `{"from":9,"delayMs":10000}`, "--timeout", "1ms"}, 1, "", "--timeout 10m"},
		{"no deadline", []string{base + "/mcp", "echo", "--timeout", "-1s"}, 2, "", "--timeout is negative"},
		{"unknown tool", []string{base + "/mcp", "nothing", "--json"}, 1, `"code": "unknown_tool"`, "hint: see the names with: portolan tools URL\n"},
		{"no server", []string{base + "/nowhere", "echo", "--json"}, 1, `"status": 404`, "404"},
		{"nothing listens", []string{"http://127.0.0.1:1/mcp", "echo"}, 1, "", "hint: check the URL, and that the server runs\n"},
		{"a certificate that is not trusted", []string{locked, "echo", "--json"}, 1, "SSL_CERT_FILE", "hint: this machine does not trust"},
		{"not an object", []string{base + "/mcp", "echo", `[1]`}, 2, "", "not a JSON object"},
		{"no tool", []string{base + "/mcp"}, 2, "", "usage: portolan help call"},
		{"demo", []string{"builtin:demo", "add", `{"a":1,"b":2}`}, 0, "3", ""},
		{"demo, model name", []string{"builtin:demo", "demo__add", `{"a":1,"b":2}`}, 0, "3", ""},
		{"unauthorized", []string{base + "/locked", "echo"}, 1, "", "hint: send the server's token: --header 'Authorization: Bearer TOKEN'\n"},
		{"bad header", []string{base + "/mcp", "echo", "--header", "s3cr3t"}, 2, "", "Name: value"},
		{"bad header with the words of the error", []string{base + "/mcp", "echo", "--header", "for flag s3cr3t"}, 2, "", "for flag -header: want"},
		{"forbidden header", []string{base + "/mcp", "echo", "--header", "Host: x"}, 2, "", "Host"},
		{"bad url", []string{"ftp://x", "echo"}, 2, "", "https://"},
		{"a port only", []string{"http://:8080/mcp", "echo"}, 2, "", "url has no host"},
		{"half an address", []string{"http://[::1", "echo"}, 2, "", "the URL cannot be read"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, out, errs := portolan(t, append([]string{"call"}, row.args...)...)
			if code != row.code || !strings.Contains(out, row.out) || !strings.Contains(errs, row.errs) || strings.Contains(errs, "s3cr3t") {
				t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", code, row.code, out, errs)
			}
		})
	}
}

// full is a disk that is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// A result that could not be written is a failure.
func TestResultsThatAreLost(t *testing.T) {
	url := start(t) + "/mcp"
	for _, command := range []string{
		"tools " + url, "call " + url + ` echo {"text":"a"}`, "call --json " + url + ` echo {"text":"a"}`, "resources " + url,
		"read " + url + " demo://harbour", "prompt " + url + " greet who=A", "chats check --list",
		"help", "version",
	} {
		var errs bytes.Buffer
		if code := run(t.Context(), strings.Fields(command), full{}, &errs); code != 1 || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("%s: exit code %d, %s", command, code, errs.String())
		}
	}
}

func TestUsage(t *testing.T) {
	t.Setenv("SEAL_KEYS", strings.Repeat("k", 22))
	for _, args := range [][]string{{}, {"nonsense"}, {"tools"}, {"tools", "--nonsense", "x"},
		{"tools", "http://x", "--format", "x"}, {"up", "x"}, {"up", "--listen", "0.0.0.0:80"}, {"up", "--listen", "x"},
		{"up", "--listen", "127.0.0.1:99999"}, {"proxy", "--origin", "https://a.example", "--host", "a.example", "--listen", "x"},
		{"bridge", "--listen", "127.0.0.1:x"}, {"up", "--root", ".", "--listen", "127.0.0.1:0", "--origin", "x"},
		{"proxy", "seal", "--origin", "https://a.example", "--host", "a.example", "--header", "Cookie: a"}} {
		code, out, errs := portolan(t, args...)
		lines := strings.Count(errs, "\n")
		if code != 2 || out != "" || !strings.Contains(errs, "usage:") || len(args) > 0 && lines != 1 {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, code, out, errs)
		}
	}
	for _, row := range []struct {
		args  []string
		lines int
	}{{[]string{"help"}, 29}, {[]string{"help", "tools"}, 2}, {[]string{"tools", "--help"}, 2}, {[]string{"proxy", "-h"}, 5},
		{[]string{"chats", "--help"}, 3}} {
		if code, out, _ := portolan(t, row.args...); code != 0 || strings.Count(out, "\n") != row.lines {
			t.Errorf("%q: exit code %d, %s", row.args, code, out)
		}
	}
	text, err := os.ReadFile("../../wasm/js/shared/version.ts")
	if err != nil {
		t.Fatal(err)
	}
	if code, out, _ := portolan(t, "--version"); code != 0 || out != "portolan "+version+"\n" ||
		!strings.Contains(string(text), "'"+version+"'") {
		t.Errorf("--version: exit code %d, %q; the package has %s", code, out, text)
	}
}

func TestMisspeltWords(t *testing.T) {
	t.Setenv("TICKET_KEYS", "short")
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"brigde"}, `unknown command "brigde"; did you mean bridge? (`},
		{[]string{"tool"}, `unknown command "tool"; did you mean tools? (`},
		{[]string{"nonsense"}, `unknown command "nonsense" (`},
		{[]string{"x"}, `unknown command "x" (`},
		{[]string{"tools", "--jsn", "http://x"}, "not defined: -jsn; did you mean --json? ("},
		{[]string{"tools", "--nonsense", "http://x"}, "not defined: -nonsense ("},
		{[]string{"call", "http://x", "t", "--timeout", "5"}, "for flag -timeout: want a time such as 10m ("},
		{[]string{"gateway", "--idle", "5", "--", "cat"}, "for flag -idle: want a time such as 10m ("},
		{[]string{"proxy", "ticket", "--origin", "https://a.example", "--host", "b.example"}, "the key in TICKET_KEYS is shorter than 22 characters"},
		{[]string{"proxy", "ticket", "--days", "many"}, "for flag -days: want a number ("},
		{[]string{"doctor", "--server", "http://x", "--key", "k"}, "--key and --ticket are for a proxy, whose address --proxy says ("},
		{[]string{"doctor", "--proxy", "http://x", "--header", "A: b"}, "--header is for a server, whose address --server says ("},
		{[]string{"bridge", "--project", "tides", "--log-file", "."}, "--project needs --stdio; a client over HTTP sends the header Portolan-Project ("},
		{[]string{"bridge", "token", "--project", "tides"}, "not defined: -project ("},
		{[]string{"bridge", "clients", "--profile", "work"}, "not defined: -profile ("},
		{[]string{"bridge", "pair", "--origin", "https://app.example"}, "not defined: -origin ("},
		{[]string{"bridge", "revoke", "--debug-dir", ".", "x"}, "not defined: -debug-dir ("},
		{[]string{"doctor", "--server", "http://ada:s3cr3t@[bad/mcp"}, "--server: not an absolute URL ("},
	} {
		if code, out, errs := portolan(t, row.args...); code != 2 || out != "" || !strings.Contains(errs, row.want) {
			t.Errorf("%q: exit code %d, %s%s", row.args, code, out, errs)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if code, out, errs := portolan(t, "up", "--root", missing); code != 1 || out != "" || !strings.Contains(errs, "--root: open ") {
		t.Errorf("up without its folder: exit code %d, %s%s", code, out, errs)
	}
	if _, out, _ := portolan(t, "help", "gateway", "revoke"); out != help("gateway") {
		t.Errorf("help for a subcommand: %s", out)
	}
}

// A hint names no option of the JavaScript API, and names the proxy if that is what failed.
func TestHintsOfThisCommand(t *testing.T) {
	late := &registry.ServerError{Server: "harbour", Op: "connect", Err: context.DeadlineExceeded}
	if hint := hintFor(late); hint != "the server did not answer in time; try again, or give a call more: --timeout 10m" {
		t.Errorf("a server that is late: %q", hint)
	}
	_, out, errs := portolan(t, "tools", "--json", "http://127.0.0.1:1/a", "http://127.0.0.1:1/b")
	if hint := `"hint": "check the URL, and that the server runs"`; strings.Count(out, hint) != 2 {
		t.Errorf("a list of servers that do not answer: %s%s", out, errs)
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	asking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer asking.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	defer refusing.Close()
	for _, row := range []struct{ proxy, server, hint string }{
		{strings.TrimPrefix(asking.URL, "http://"), "http://mcp.example/mcp", "hint: check the proxy that "},
		{strings.TrimPrefix(asking.URL, "http://"), "https://mcp.example/mcp", "Proxy Authentication Required\nhint: check the proxy that "},
		{strings.TrimPrefix(refusing.URL, "http://"), "https://mcp.example/mcp", ": 403 Forbidden\nhint: check the proxy that "},
		{"ada:s3cr3t@127.0.0.1:1", "http://mcp.example/mcp", "hint: check the proxy that "},
		{"ada:s3cr3t%@127.0.0.1:1", "http://127.0.0.1:1/mcp", "hint: HTTPS_PROXY is no address that can be read, so no proxy is used; write % as %25\n"},
	} {
		cmd := exec.CommandContext(t.Context(), path, "tools", row.server)
		cmd.Env = append(os.Environ(), "HTTP_PROXY=http://"+row.proxy, "HTTPS_PROXY=http://"+row.proxy, "NO_PROXY=")
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), row.hint) || strings.Contains(string(out), "s3cr3t") {
			t.Errorf("%v, %s", err, out)
		}
	}
	for server, want := range map[string]string{
		"https://mcp.example/mcp": "the proxy " + strings.TrimPrefix(refusing.URL, "http://") + ", which HTTPS_PROXY names, refuses to connect: 403 Forbidden",
		"http://mcp.example/mcp":  "FAIL  it answers MCP (status 407)\n      Check the proxy that HTTP_PROXY names",
	} {
		cmd := exec.CommandContext(t.Context(), path, "doctor", "--server", server)
		cmd.Env = append(os.Environ(), "HTTPS_PROXY="+refusing.URL, "HTTP_PROXY="+asking.URL, "NO_PROXY=")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v, %s", err, out)
		}
	}
}

// The reader of a list has enough, such as head. The command says nothing, and ends its session.
func TestAClosedPipeEndsTheSession(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 1)
	handler := demoHandler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodDelete {
			ended <- req.Header.Get("Mcp-Session-Id")
		}
		handler.ServeHTTP(w, req)
	}))
	defer server.Close()
	defer server.CloseClientConnections()
	for _, command := range []string{"tools", "resources"} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		out.Close()
		var errs bytes.Buffer
		cmd := exec.Command(path, command, server.URL+"/mcp")
		cmd.Stdout, cmd.Stderr = in, &errs
		err = cmd.Run()
		in.Close()
		select {
		case session := <-ended:
			if session == "" || cmd.ProcessState.ExitCode() != 1 || errs.Len() > 0 {
				t.Errorf("%s: session %q ended, %v, %s", command, session, err, errs.String())
			}
		default:
			t.Errorf("%s: its session goes on: %v, %s", command, err, errs.String())
		}
	}
}

// A closed terminal ends a call as an interrupt does.
func TestAClosedTerminalEndsACall(t *testing.T) {
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	// A test under nohup ignores SIGHUP, and so would the command, unless the test catches it.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	cmd := exec.CommandContext(t.Context(), path, "call", start(t)+"/mcp", "countdown", `{"from":5,"delayMs":1000}`)
	errs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(errs)
	if line, err := said.ReadString('\n'); err != nil || line != "5\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(said)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); err != nil || code != 1 || !strings.Contains(string(rest), "hangup") {
		t.Errorf("exit code %d, %v, %s", code, err, rest)
	}
}

// A pipe in place of a file may never end. One interrupt ends the command all the same.
func TestAnInterruptEndsACommandThatReadsAPipe(t *testing.T) {
	t.Parallel() // it waits most of the time
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "mcp.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "gateway", "--config", pipe)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the command reads
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

// A folder in place of the file of keys ends in a sentence that says what to do.
func TestKeysThatAreNoFile(t *testing.T) {
	for _, row := range []struct {
		name, text, want string
		args             []string
	}{
		{"bridge.json", "", " is not a file: move it away", []string{"bridge", "token"}},
		{"bridge.json", "{", " is not a file of this version of the bridge: move it away", []string{"bridge", "token"}},
		{"gateway.json", "", " is not a file: move it away", []string{"gateway", "origins"}},
		{"gateway.json", "{", " is not a file of this version of the gateway: move it away", []string{"gateway", "origins"}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, row.name)
		err := os.WriteFile(path, []byte(row.text), 0o600)
		if row.text == "" { // a pipe
			err = errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600))
		}
		if err != nil {
			t.Fatal(err)
		}
		code, out, errs := portolan(t, append(row.args, "--dir", dir)...)
		if code != 1 || out != "" || !strings.Contains(errs, row.want) {
			t.Errorf("%s %q: exit code %d, %s%s", row.name, row.text, code, out, errs)
		}
	}
}

func TestUpServesUntilItIsInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"up", "--root", t.TempDir()}, w, io.Discard)
		w.Close()
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "Portolan is at ")
	if err != nil || !ok || !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/") {
		t.Fatalf("%q, %v", line, err)
	}
	// An open stream must not delay the end.
	res, err := http.Get(url + "sse")
	if err != nil || res.StatusCode != 200 {
		t.Fatal(res, err)
	}
	defer res.Body.Close()
	interrupt()
	if got := <-code; got != 0 {
		t.Errorf("exit code %d", got)
	}
}

func TestSiteHeaders(t *testing.T) {
	base := start(t)
	get := func(method, path string) http.Header {
		req, err := http.NewRequest(method, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.Header
	}
	if got := get("GET", "/portolan/portolan.wasm").Get("Content-Type"); got != "application/wasm" {
		t.Errorf("wasm: Content-Type %q", got)
	}
	if got := get("GET", "/").Get("Content-Security-Policy"); !strings.Contains(got, "'wasm-unsafe-eval'") {
		t.Errorf("page: policy %q", got)
	}
	preflight := get("OPTIONS", "/mcp")
	if preflight.Get("Access-Control-Allow-Origin") != "*" ||
		!strings.Contains(preflight.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
		t.Errorf("preflight: %v", preflight)
	}
}

func TestOffers(t *testing.T) {
	url := start(t) + "/mcp"
	for command, want := range map[string]string{
		"resources " + url: "demo://harbour                           A text about the harbour.\n" +
			"demo://tide/{day}                        The tide of a day\n",
		"read " + url + " demo://tide/monday":                  "High water on monday: 1.2 m\n",
		"prompts " + url:                                       "greet                                    Asks the model for a greeting.\n",
		"prompt " + url + " greet who=Ada language=Portuguese": "user: Greet Ada in one sentence. Write Portuguese.\n",
	} {
		if code, out, errs := portolan(t, strings.Fields(command)...); code != 0 || out != want {
			t.Errorf("%s: exit code %d, %q, %s", command, code, out, errs)
		}
	}
	for command, want := range map[string]string{
		"resources " + url + " --json":                     `"uriTemplate": "demo://tide/{day}"`,
		"read " + url + " demo://harbour --json":           `"mimeType": "text/markdown"`,
		"prompts " + url + " --json":                       `"name": "localhost__greet"`,
		"prompt " + url + " localhost__greet who=A --json": `"role": "user"`,
	} {
		if code, out, errs := portolan(t, strings.Fields(command)...); code != 0 || !strings.Contains(out, want) || !json.Valid([]byte(out)) {
			t.Errorf("%s: exit code %d, %s, %s", command, code, out, errs)
		}
	}
	for command, want := range map[string]string{
		"read " + url + " demo://none --json": `"hint": "see the URIs with: portolan resources URL"`,
		"prompt " + url + " greet --json":     `"code": "invalid_arguments"`,
		"prompt " + url + " none --json":      `"code": "unknown_prompt"`,
	} {
		if code, out, _ := portolan(t, strings.Fields(command)...); code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, %s", command, code, out)
		}
	}
	if _, out, errs := portolan(t, "resources", url+"/none", "--json"); strings.Count(errs, "status 404") != 1 || !json.Valid([]byte(out)) ||
		!strings.Contains(out, `"code": "http_status"`) || !strings.Contains(out, `"resources": []`) {
		t.Errorf("a server that does not answer: %s%s", out, errs)
	}
	for _, command := range []string{"resources", "read " + url, "prompts", "prompt " + url, "prompt " + url + " greet who"} {
		if code, _, errs := portolan(t, strings.Fields(command)...); code != 2 {
			t.Errorf("%s: exit code %d, %s", command, code, errs)
		}
	}
	file := t.TempDir() + "/harbour.md"
	if code, _, errs := portolan(t, "read", url, "demo://harbour", "--output", file); code != 0 {
		t.Error(errs)
	}
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "# The harbour") {
		t.Errorf("%q, %v", text, err)
	}
	_ = os.Remove(file)
	code, out, errs := portolan(t, "read", url, "demo://harbour", "--output", file, "--json")
	if _, err := os.Stat(file); code != 0 || err != nil || !json.Valid([]byte(out)) {
		t.Errorf("--output and --json: exit code %d, %v, %q, %s", code, err, out, errs)
	}
}

// Words of a server control no terminal, in JSON neither.
func TestAServersWordsInTheTerminal(t *testing.T) {
	const odd = "\u009b2J\\u001b[2J\u007f\u202e"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(req.Body).Decode(&m)
		result, ok := map[string]string{
			"initialize":     `{"protocolVersion":"2025-11-25","capabilities":{"prompts":{},"resources":{},"extensions":{"io.modelcontextprotocol/skills":{}}},"serverInfo":{"name":"s","version":"1"}}`,
			"prompts/list":   `{"prompts":[{"name":"p"}]}`,
			"skills/list":    `{"skills":[{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a","description":"words` + odd + `"},"resources":"dynamic"}]}`,
			"prompts/get":    `{"messages":[{"role":"user` + odd + `","content":{"type":"text","text":"words` + odd + `"}}]}`,
			"resources/read": `{"contents":[{"uri":"s://a` + odd + `","mimeType":"image/png` + odd + `","blob":"AAAA"}]}`,
		}[m.Method]
		switch {
		case req.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":`+result+`}`)
		}
	}))
	t.Cleanup(server.Close)
	for _, args := range [][]string{{"prompt", server.URL, "p"}, {"read", server.URL, "s://a"}, {"skills", server.URL}} {
		code, out, errs := portolan(t, args...)
		if code != 0 || !strings.Contains(out, "user: words\n") && out != fmt.Sprintf("%-40s words\n", "skill://a/SKILL.md") && !strings.Contains(out, "[s://a, image/png, 3 bytes") {
			t.Errorf("%v: %d %q %q", args, code, out, errs)
		}
		code, out, errs = portolan(t, append(args, "--json")...)
		isList := args[0] == "skills" // whose entries have no hidden text
		if code != 0 || strings.ContainsAny(out, "\u009b\u007f\x1b") || !isList && !strings.Contains(out, `\u009b2J\u001b[2J\u007f`) || !json.Valid([]byte(out)) {
			t.Errorf("%v: %d %q %q", args, code, out, errs)
		}
	}
}

// A server's list of numbers that lies deep is not printed at a hundred times its length.
func TestLongJSONIsNotIndented(t *testing.T) {
	long := strings.Repeat("[", 120) + strings.Repeat("0,", 1<<20) + "0" + strings.Repeat("]", 120)
	var out bytes.Buffer
	if err := printJSON(&out, json.RawMessage(long)); err != nil || out.String() != long+"\n" {
		t.Errorf("%d bytes for %d, %v", out.Len(), len(long), err)
	}
	out.Reset()
	if err := printJSON(&out, []int{1}); err != nil || out.String() != "[\n  1\n]\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// A replacedList is the session of a server that has replaced its list: the definitions are released.
type replacedList struct{ registry.Session }

func (replacedList) Info() registry.SessionInfo { return registry.SessionInfo{} }

func (replacedList) ListTools(context.Context, *string) (*registry.ToolPage, error) {
	return &registry.ToolPage{Tools: []registry.ToolDef{{Name: "echo", Def: released{}}}}, nil
}

func (replacedList) Close(context.Context) error { return nil }

type released struct{}

func (released) Len() int { return 0 }

func (released) JSON() ([]byte, error) { return nil, errors.New("the value was released") }

func TestToolsOfAListThatChangesMeanwhile(t *testing.T) {
	r := registry.New(&registry.Options{
		Connect: func(context.Context, string, registry.ServerConfig, registry.Notify) (registry.Session, error) {
			return replacedList{}, nil
		},
	})
	defer r.Close()
	if err := r.Add("sea", registry.ServerConfig{URL: "https://sea.example/mcp"}); err != nil {
		t.Fatal(err)
	}
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := newListing(r, []string{"sea"}, []string{"https://sea.example/mcp"}, "", nil)
	if err == nil || !strings.Contains(err.Error(), "server sea changed its list meanwhile: run the command again") {
		t.Error(err)
	}
}
