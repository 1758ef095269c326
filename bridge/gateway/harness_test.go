//go:build !windows

package gateway

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 log messages belong to the versions that the gateway passes on

// The test binary is also the programs that the gateway runs.
func TestMain(m *testing.M) {
	if name := os.Getenv("GATEWAY_TEST_PROGRAM"); name != "" {
		testPrograms[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var testPrograms = map[string]func(){
	"sdk": func() { serveSDK(nil) },
	// The versions up to 2025-11-25 only.
	"older":  func() { serveSDK(olderVersions) },
	"raw":    serveRaw,
	"silent": func() { _, _ = io.Copy(io.Discard, os.Stdin) },
	"late": func() { // raw, once the file of its environment is there
		for _, err := os.Stat(os.Getenv("LATE")); err != nil; _, err = os.Stat(os.Getenv("LATE")) {
			time.Sleep(5 * time.Millisecond)
		}
		serveRaw()
	},
	"dies": func() {
		fmt.Fprintln(os.Stderr, "cannot read the key", os.Getenv("API_KEY"))
		os.Exit(3)
	},
	"moody": func() { // ends until the file of its environment is there; then it speaks 2026-07-28
		if _, err := os.Stat(os.Getenv("LATE")); err != nil {
			os.Exit(1)
		}
		serveSDK(nil)
	},
	"unready": func() { // cannot answer the first question
		for in, asked := bufio.NewScanner(os.Stdin), false; in.Scan(); asked = true {
			var m struct{ ID json.RawMessage }
			_ = json.Unmarshal(in.Bytes(), &m)
			answer := `"error":{"code":-32603,"message":"not ready"}`
			if asked {
				answer = `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`
			}
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, answer)
		}
	},
	"strict": func() { // ends if the first message is not initialize
		in := bufio.NewScanner(os.Stdin)
		if in.Scan() && strings.Contains(in.Text(), `"initialize"`) {
			var m struct{ ID json.RawMessage }
			_ = json.Unmarshal(in.Bytes(), &m)
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"strict","version":"1"}}}`+"\n", m.ID)
			for in.Scan() {
			}
			return
		}
		os.Exit(1)
	},
	"naive": func() { // answers initialize, and nothing else
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			if _ = json.Unmarshal(in.Bytes(), &m); m.Method == "initialize" {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"naive","version":"1"}}}`+"\n", m.ID)
			}
		}
	},
	"asker": func() { // speaks 2026-07-28, and asks by a request all the same
		var call json.RawMessage
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			var m struct {
				ID     json.RawMessage
				Method string
				Error  json.RawMessage
			}
			switch _ = json.Unmarshal(in.Bytes(), &m); {
			case m.Method == "server/discover":
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`+"\n", m.ID)
			case m.Method == "tools/call":
				call = m.ID
				fmt.Println(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
			case m.Error != nil:
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[],"structuredContent":%s}}`+"\n", call, m.Error)
			}
		}
	},
	"stubborn": func() { // ignores SIGTERM and the end of its input
		signal.Ignore(syscall.SIGTERM)
		serveRaw()
		fmt.Fprintln(os.Stderr, "the input has ended")
		time.Sleep(time.Hour)
	},
	"giant": func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
				os.Exit(0)
			}
		}
	},
	"mute": func() {
		_ = os.Stdout.Close()
		_, _ = io.Copy(io.Discard, os.Stdin)
	},
	"deaf": func() { // reads one message, and no more
		in := bufio.NewReaderSize(os.Stdin, 16)
		var m struct{ ID json.RawMessage }
		line, _ := in.ReadBytes('\n')
		_ = json.Unmarshal(line, &m)
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"deaf","version":"1"}}}`+"\n", m.ID)
		time.Sleep(time.Hour) // a select without cases would end it: nothing else runs in it
	},
}

// serveRaw is a program that does what the params of a request say.
func serveRaw() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	fmt.Fprintln(os.Stderr, "raw runs with", os.Getenv("API_KEY"))
	fmt.Println("Welcome to the raw program!") // no message
	for in.Scan() {
		var m struct {
			ID            json.RawMessage
			Method        string
			Params        json.RawMessage
			Result, Error json.RawMessage
		}
		if json.Unmarshal(in.Bytes(), &m) != nil {
			continue
		}
		var params struct {
			Arguments struct {
				Lines []string // written to stdout, with ID for the request's id
				Exit  *int
			}
		}
		_ = json.Unmarshal(m.Params, &params)
		answer := func(result string) { fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result) }
		switch {
		case m.Method == "initialize":
			answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"experimental":{"x":{"n":12345678901234567890}}},"serverInfo":{"name":"raw","version":"1"},"instructions":"Be kind.","extra":true}`)
		case m.Method == "server/discover":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
		case m.Method == "echo" || m.Method == "tasks/get":
			answer(in.Text())
		case m.Method == "environment":
			text, _ := json.Marshal(os.Environ())
			answer(string(text))
		case m.Method == "pid":
			answer(strconv.Itoa(os.Getpid()))
		case m.Method == "fork":
			answer(strconv.Itoa(forked()))
		case m.Method == "do":
			for _, line := range params.Arguments.Lines {
				fmt.Println(strings.ReplaceAll(line, "ID", string(m.ID)))
			}
			if code := params.Arguments.Exit; code != nil {
				fmt.Fprintln(os.Stderr, "a reason to end, with", os.Getenv("API_KEY"))
				os.Exit(*code)
			}
		case m.Error != nil:
			fmt.Fprintf(os.Stderr, "fault %s: %s\n", m.ID, m.Error)
		case m.Result != nil:
			fmt.Fprintln(os.Stderr, "answer", in.Text())
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/answered","params":%s}`+"\n", in.Text())
		case m.ID == nil && m.Method != "notifications/initialized" && m.Method != "notifications/cancelled":
			fmt.Printf(`{"jsonrpc":"2.0","method":"notifications/heard","params":%s}`+"\n", in.Text())
		}
	}
}

// forked starts another program that ignores SIGTERM, and returns its process id.
func forked() int {
	exe, _ := os.Executable()
	child, err := os.StartProcess(exe, []string{exe}, &os.ProcAttr{
		Env: []string{"GATEWAY_TEST_PROGRAM=stubborn"}, Files: []*os.File{nil, os.Stdout, os.Stderr},
	})
	if err != nil {
		return 0
	}
	return child.Pid
}

// serveSDK is a go-sdk server with everything that it can do.
func serveSDK(versions []string) {
	s := mcp.NewServer(&mcp.Implementation{Name: "sdk", Title: "A Go server", Version: "1"}, &mcp.ServerOptions{
		Instructions: "Be kind.", SupportedProtocolVersions: versions,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"first", "second"}}}, nil
		},
	})
	object := json.RawMessage(`{"type":"object"}`)
	text := func(t string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Meta: mcp.Meta{"x/y": "z"}, Content: []mcp.Content{&mcp.TextContent{Text: t}}}
	}
	add := func(name string, h mcp.ToolHandler) { s.AddTool(&mcp.Tool{Name: name, InputSchema: object}, h) }
	add("echo", func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(string(req.Params.Arguments)), nil
	})
	add("pid", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text(strconv.Itoa(os.Getpid())), nil
	})
	add("progress", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 3 {
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: req.Params.GetProgressToken(), Progress: float64(i + 1), Total: 3,
			})
		}
		_ = req.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "error", Logger: "l", Data: "logged"})
		return text("done"), nil
	})
	add("wait", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: 1})
		<-ctx.Done()
		fmt.Fprintln(os.Stderr, "wait was cancelled")
		return nil, ctx.Err()
	})
	add("ask", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)})
		if err != nil {
			return nil, err
		}
		return text(fmt.Sprint(answer.Action, answer.Content["name"])), nil
	})
	add("sample", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 9})
		if err != nil {
			return nil, err
		}
		return text(answer.Model), nil
	})
	add("roots", func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		answer, err := req.Session.ListRoots(ctx, nil)
		if err != nil {
			return nil, err
		}
		return text(answer.Roots[0].URI), nil
	})
	add("grow", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		add("grown", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return text("grown"), nil })
		return text("done"), nil
	})
	add("update", func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return text("done"), s.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "test://one"})
	})
	s.AddResource(&mcp.Resource{Name: "one", URI: "test://one"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "test://one", Text: "content"}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{Name: "t", URITemplate: "test://{x}"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return nil, nil
	})
	s.AddPrompt(&mcp.Prompt{Name: "p"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hello"}}}}, nil
	})
	_ = s.Run(context.Background(), &mcp.StdioTransport{})
}

// testServer returns a server that runs one of the test programs.
func testServer(t testing.TB, name, program string) Server {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Server{Name: name, Command: exe, Env: map[string]string{
		"GATEWAY_TEST_PROGRAM": program, "API_KEY": "sk-very-secret", "GOCOVERDIR": t.TempDir(),
	}}
}

const page = "https://app.example"

// A running is a gateway under test.
type running struct {
	*Gateway
	t     testing.TB
	token string // of page
	stop  func() // ends it, and returns when it has ended
}

// serve runs a gateway until the test ends. No process may be left then.
func serve(t testing.TB, opts *Options, servers ...Server) *running {
	t.Helper()
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Address = "127.0.0.1:0"
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Grace == 0 {
		o.Grace = 300 * time.Millisecond
	}
	g, err := New(servers, &o)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Listen(); err != nil {
		t.Fatal(err)
	}
	token, err := g.Allow(page)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- g.Serve(ctx) }()
	r := &running{Gateway: g, t: t, token: token}
	ended := false
	r.stop = func() {
		if cancel(); !ended {
			ended = true
			if err := <-served; err != nil {
				t.Error(err)
			}
			if g.mu.Lock(); g.running != 0 {
				t.Errorf("%d processes were left", g.running)
			}
			g.mu.Unlock()
		}
	}
	t.Cleanup(r.stop)
	return r
}

func (r *running) url(server string) string { return "http://" + r.Addr() + "/s/" + server + "/mcp" }

// do sends a request with the token, and returns the response's status and body.
func (r *running) do(method, path, body string, header ...string) (*http.Response, string) {
	r.t.Helper()
	req, err := http.NewRequest(method, "http://"+r.Addr()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	req.Header.Set("Origin", page)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		if req.Header.Del(header[i]); header[i+1] != "" {
			req.Header.Add(header[i], header[i+1])
		}
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := (&http.Client{Timeout: bound}).Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return res, string(text)
}

const initializeRequest = `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}}`

// A session is a client that writes its messages itself.
type session struct {
	*running
	server, id string
}

// begin opens a session.
func (r *running) begin(server string) *session {
	r.t.Helper()
	res, text := r.do("POST", "/s/"+server+"/mcp", initializeRequest)
	id := res.Header.Get("Mcp-Session-Id")
	if res.StatusCode != 200 || id == "" || !strings.Contains(text, `"result"`) {
		r.t.Fatalf("initialize: %d %s", res.StatusCode, text)
	}
	s := &session{r, server, id}
	s.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return s
}

func (s *session) post(body string) (*http.Response, string) {
	s.t.Helper()
	return s.do("POST", "/s/"+s.server+"/mcp", body, "Mcp-Session-Id", s.id)
}

// request returns the only message of the response.
func (s *session) request(body string) string {
	s.t.Helper()
	res, text := s.post(body)
	if res.StatusCode != 200 {
		s.t.Fatalf("%s: %d %s", body, res.StatusCode, text)
	}
	if res.Header.Get("Content-Type") == "text/event-stream" { // the answer took long
		_, text, _ = strings.Cut(text, "data: ")
	}
	return strings.TrimSpace(text)
}

// stream opens the standalone stream. Its messages arrive on the channel.
func (s *session) stream() <-chan string {
	s.t.Helper()
	return s.open("GET", "")
}

// open sends a request whose response is a stream. The channel is closed at its end.
func (s *session) open(method, body string) <-chan string {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, method, s.url(s.server), strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Session-Id", s.id)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	messages := make(chan string, 10000)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(messages)
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 64<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				messages <- data
			} else if strings.HasPrefix(lines.Text(), "{") {
				messages <- lines.Text()
			}
		}
	}()
	s.t.Cleanup(func() { cancel(); <-ended; res.Body.Close() })
	return messages
}

// next returns the next message of a stream.
func next(t testing.TB, messages <-chan string) string {
	t.Helper()
	select {
	case m, ok := <-messages:
		if !ok {
			t.Fatal("the stream has ended")
		}
		return m
	case <-time.After(bound):
		t.Fatal("no message came")
	}
	return ""
}

// bound limits the waits of tests.
const bound = 2 * time.Minute

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

// alive reports whether a process exists.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func resultOf(t testing.TB, message string) string {
	t.Helper()
	var m struct {
		Result json.RawMessage
		Error  json.RawMessage
	}
	if json.Unmarshal([]byte(message), &m) != nil || m.Result == nil {
		t.Fatalf("not a result: %s", message)
	}
	return string(m.Result)
}
