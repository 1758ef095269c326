package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestSitesAreChosen(t *testing.T) {
	offered := []string{"chatgpt", "gemini", "claude"}
	for _, row := range []struct {
		named []string
		want  string // or the error
		tool  string
	}{
		{nil, "chatgpt gemini claude", "chat_all"},
		{[]string{"all"}, "chatgpt gemini claude", "chat_all"},
		{[]string{"gemini,claude"}, "gemini claude", "chat_all"},
		{[]string{"gemini", "claude,all"}, "chatgpt gemini claude", "chat_all"},
		{[]string{"gemini", "gemini"}, "gemini", "chat_gemini"},
		{[]string{"grok"}, `the browser does not offer "grok": switch it on in the side panel; it offers chatgpt, gemini, claude`, ""},
	} {
		got, err := chosenSites(namedSites(row.named), offered)
		text := strings.Join(got, " ")
		if err != nil {
			text = err.Error()
		}
		if text != row.want {
			t.Errorf("%q: %s, want %s", row.named, text, row.want)
		}
		if tool, _ := chatToolFor(got, false, false); err == nil && tool != row.tool {
			t.Errorf("%q: %s, want %s", row.named, tool, row.tool)
		}
	}
}

func TestAResultWithoutASiteNamesIt(t *testing.T) {
	fault := map[string]any{"error": map[string]any{"code": "TIMEOUT"}}
	answer := map[string]any{"answer": "12 m"}
	for _, content := range []map[string]any{
		{"chatgpt": answer, "gemini": fault, "comparison": nil, "partial": true},
		{"answers": map[string]any{"chatgpt": answer, "gemini": fault}, "consensus": nil},
	} {
		err := incomplete(&mcp.CallToolResult{StructuredContent: content})
		if err == nil || err.Error() != "no answer from gemini" {
			t.Errorf("%v: %v", content, err)
		}
	}
}

// A chat that fails in a later round of a consensus keeps its earlier answer.
func TestASiteThatFailsToReviseHasAnAnswer(t *testing.T) {
	revising := map[string]any{"answer": "12 m", "error": map[string]any{"code": "TIMEOUT"}}
	content := map[string]any{"answers": map[string]any{"chatgpt": revising}, "consensus": map[string]any{"answer": "12 m"}, "partial": true}
	if err := incomplete(&mcp.CallToolResult{StructuredContent: content}); err != nil {
		t.Error(err)
	}
}

func TestAConsensusWithoutAJudgementFails(t *testing.T) {
	answer, fault := map[string]any{"answer": "12 m"}, map[string]any{"code": "NO_JUDGEMENT", "message": "No JSON."}
	for _, content := range []map[string]any{
		{"chatgpt": answer, "gemini": answer, "comparison": nil, "partial": false, "error": fault},
		{"answers": map[string]any{"chatgpt": answer, "gemini": answer}, "consensus": nil, "error": fault},
	} {
		var out bytes.Buffer
		text := &mcp.TextContent{Text: "12 m"}
		err := printAnswer(&mcp.CallToolResult{Content: []mcp.Content{text}, StructuredContent: content}, false, &out)
		if err == nil || err.Error() != "No JSON. (NO_JUDGEMENT)" || out.String() != "12 m\n" {
			t.Errorf("%v, %q", err, out.String())
		}
	}
}

// TestNoChatIsAsked looks at both outputs while no bridge runs.
func TestNoChatIsAsked(t *testing.T) {
	nowhere := []string{"--json", "--listen", "127.0.0.1:1", "--dir", t.TempDir()}
	for _, command := range [][]string{{"ask", "How deep is the harbour?"}, {"chats", "check", "--yes"}} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append(command, nowhere...), &out, &errs)
		var said struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal(out.Bytes(), &said); code != 1 || err != nil || said.Error.Code != "NOT_CONNECTED" ||
			!strings.Contains(errs.String(), said.Error.Message) || said.Error.Message == "" {
			t.Errorf("%v: exit code %d, %v, stdout %q, stderr %q", command, code, err, out.String(), errs.String())
		}
	}
}

// A list without tools does not say why no browser can be asked. The answer to a call does.
func TestABrowserThatCannotBeAskedIsExplained(t *testing.T) {
	defer func(before time.Duration) { offerWait = before }(offerWait)
	offerWait = 0
	said := ""
	server := mcp.NewServer(&mcp.Implementation{Name: "bridge"}, &mcp.ServerOptions{Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}})
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method != "tools/call" || said == "" {
				return next(ctx, method, req)
			}
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
		}
	})
	ours, theirs := mcp.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer serving.Close()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "ask"}, nil).Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, row := range []struct{ said, code, message string }{
		{"", "CHAT_DISABLED", "the browser offers no chat: open it, and switch one on in the side panel of Portolan"},
		{"The person stopped everything. (STOPPED)", "STOPPED", "The person stopped everything. (STOPPED)"},
		{`The browser profile "b" is not connected.`, "NOT_CONNECTED", `The browser profile "b" is not connected.`},
	} {
		said = row.said
		_, err := offeredChats(t.Context(), session)
		var out bytes.Buffer
		unasked(t.Context(), &out, true, "CHAT_DISABLED", err)
		var got struct{ Error callFailure }
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got.Error.Code != row.code || got.Error.Message != row.message {
			t.Errorf("%q: %v, %s", row.said, err, out.String())
		}
	}
}

// The question may have been sent, so the error is not only that of the connection.
func TestABridgeThatEndsMeanwhileIsExplained(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "bridge"}, nil)
	ours, theirs := net.Pipe()
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if method == "tools/call" {
				theirs.Close()
			}
			return next(ctx, method, req)
		}
	})
	if _, err := server.Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil); err != nil {
		t.Fatal(err)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "ask"}, nil).Connect(t.Context(), &mcp.IOTransport{Reader: ours, Writer: ours}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, _, err := callText(t.Context(), session, "chat_all", nil); err == nil || !strings.Contains(err.Error(), "may have been sent") {
		t.Error(err)
	}
	if err := lost(t.Context(), &jsonrpc.Error{Message: "unknown tool"}); err.Error() != "unknown tool" {
		t.Error(err)
	}
}

// The error of the request does not say that the person has ended the command.
func TestAnInterruptIsNoMissingBrowser(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("interrupt signal received"))
	var out bytes.Buffer
	err := unasked(ctx, &out, true, "NOT_CONNECTED", errors.New(`calling "tools/call": context canceled`))
	var said struct{ Error callFailure }
	if json.Unmarshal(out.Bytes(), &said) != nil || said.Error.Code != "CANCELLED" || said.Error.Message != "interrupt signal received" ||
		!strings.Contains(err.Error(), said.Error.Message) {
		t.Errorf("%v, %s", err, out.String())
	}
}

// A person who has changed their mind ends the command instead of the question.
func TestAQuestionIsNotWaitedForAfterAnInterrupt(t *testing.T) {
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func(before *os.File) { os.Stdin = before }(os.Stdin)
	os.Stdin = in
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("interrupt signal received"))
	ended := make(chan string, 1)
	go func() {
		var errs bytes.Buffer
		code := run(ctx, []string{"ask", "-"}, io.Discard, &errs)
		ended <- fmt.Sprint(code, " ", errs.String())
	}()
	select {
	case said := <-ended:
		if said != "1 portolan ask: interrupt signal received\n" {
			t.Error(said)
		}
	case <-time.After(30 * time.Second):
		t.Error("the command goes on")
	}
	typing.Close()
}

func TestAskIsUsedWrongly(t *testing.T) {
	for _, args := range []string{"", "a b", "--consensus --compare question", "--nothing question", "\u00a0"} {
		var stderr bytes.Buffer
		if code := run(t.Context(), append([]string{"ask"}, strings.Split(args, " ")...), io.Discard, &stderr); code != 2 {
			t.Errorf("%q: exit code %d, %s", args, code, stderr.String())
		}
	}
}

// B3: the log of `portolan bridge --log-file`.
func TestLogFilesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridge.log")
	if err := os.WriteFile(path, []byte("an older run\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	l.most = 1000
	for i := range 500 {
		if _, err := fmt.Fprintf(l, "entry %03d of the log\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != maxLogFiles {
		t.Fatalf("%q, %v", files, err)
	}
	last := 499
	for i, file := range files { // the newest first
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() > 1000 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if want := fmt.Sprintf("entry %03d of the log", last); lines[len(lines)-1] != want {
			t.Errorf("file %d ends with %q, want %q", i, lines[len(lines)-1], want)
		}
		last -= len(lines)
	}
}

// A device or a pipe, such as /dev/null and /dev/stderr, is written to and else left alone.
func TestALogThatIsNoPlainFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := errors.Join(syscall.Mkfifo(path, 0o600), os.Chmod(path, 0o622)); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.most = 10
	for range 3 {
		if _, err := io.WriteString(l, "a long entry\n"); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != os.ModeNamedPipe|0o622 {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}
