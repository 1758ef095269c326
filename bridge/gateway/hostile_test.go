//go:build !windows

package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// initialize sends the first request and returns the response's text.
func (r *running) initialize(server string) string {
	r.t.Helper()
	_, text := r.do("POST", "/s/"+server+"/mcp", initializeRequest)
	return text
}

// TestFailures lets programs fail in all ways. The page gets an error that says how.
func TestFailures(t *testing.T) {
	for _, row := range []struct {
		name, program string
		opts          Options
		want          []string
	}{
		{"dies at start", "dies", Options{}, []string{"the program p ended: exit code 3", "it wrote: cannot read the key [redacted]", `"exitCode":3`, "starts it again in"}},
		{"never answers", "silent", Options{Start: 200 * time.Millisecond}, []string{"it sent nothing within 200ms"}},
		{"giant line", "giant", Options{Limits: Limits{Message: 4 << 20}}, []string{"it wrote a message larger than 4 MiB"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, &row.opts, testServer(t, "p", row.program))
			text := r.initialize("p")
			for _, want := range append(row.want, `{"error":{"code":-32603`, `"id":"i"`) {
				if !strings.Contains(text, want) {
					t.Errorf("%s\nlacks %s", text, want)
				}
			}
			if strings.Contains(text, "sk-very-secret") {
				t.Error("the error has a secret: ", text)
			}
		})
	}
	t.Run("no such command", func(t *testing.T) {
		r := serve(t, nil, Server{Name: "p", Command: "no-such-command-of-portolan"})
		if text := r.initialize("p"); !strings.Contains(text, `its command \"no-such-command-of-portolan\" was not found`) {
			t.Error(text)
		}
	})
	t.Run("a script that does not name its interpreter", func(t *testing.T) {
		path := t.TempDir() + "/script"
		if err := os.WriteFile(path, []byte("exit 4\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		r := serve(t, nil, Server{Name: "p", Command: path})
		if text := r.initialize("p"); !strings.Contains(text, "the system did not start it: exec format error") {
			t.Error(text)
		}
	})
	t.Run("no such folder", func(t *testing.T) {
		s := testServer(t, "p", "raw")
		s.Dir = t.TempDir() + "/none"
		r := serve(t, nil, s)
		if text := r.initialize("p"); !strings.Contains(text, `the program p ended: its folder \"`) {
			t.Error(text)
		}
	})
}

// TestCrash ends a program in the middle of calls, and uses it again.
func TestCrash(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Delay: 30 * time.Second}, testServer(t, "raw", "raw"))
	s := r.begin("raw")
	waiting := s.open("POST", `{"jsonrpc":"2.0","id":"w","method":"do","params":{"arguments":{}}}`)
	stream := s.stream()
	text := s.request(`{"jsonrpc":"2.0","id":9,"method":"do","params":{"arguments":{"exit":7}}}`)
	for _, m := range []string{text, next(t, waiting)} {
		for _, want := range []string{"the program raw ended: exit code 7", "a reason to end, with [redacted]", `"code":-32603`} {
			if !strings.Contains(m, want) {
				t.Errorf("%s\nlacks %s", m, want)
			}
		}
	}
	if _, open := <-stream; open {
		t.Error("the stream of a program that ended goes on")
	}
	if res, _ := s.post(`{"jsonrpc":"2.0","id":10,"method":"pid"}`); res.StatusCode != 404 {
		t.Errorf("its session: %d", res.StatusCode)
	}
	text = r.initialize("raw")
	if !regexp.MustCompile(`starts it again in ([3-9]|[12]\d|30) s.*"retryAfterMs":[12]?\d{4}\b`).MatchString(text) {
		t.Errorf("while it backs off: %s", text)
	}
	e := r.byName["raw"]
	e.mu.Lock()
	e.until = time.Now().Add(shortPause / 2) // short enough to wait for
	e.mu.Unlock()
	if text = r.initialize("raw"); !strings.Contains(text, `"result"`) {
		t.Errorf("after the pause: %s", text)
	}
}

// TestGarbage lets a program write what are no messages between its messages.
func TestGarbage(t *testing.T) {
	r := serve(t, nil, testServer(t, "raw", "raw"))
	s := r.begin("raw")
	lines := []string{
		"not JSON", "{", "[]", "[1,2]", "null", `{"jsonrpc":"1.0","id":ID,"result":1}`, `{"jsonrpc":"2.0","id":ID}`, `{"id":ID,"result":1}`,
		`{"jsonrpc":"2.0","id":ID,"result":1,"result":2}`, `{"jsonrpc":"2.0","id":[1],"result":1}`, `{"jsonrpc":"2.0","id":99999,"result":1}`,
		`{"jsonrpc":"2.0","id":"other","result":1}`, `{"jsonrpc":"2.0","id":null,"result":1}`, `{"jsonrpc":"2.0","id":ID,"method":5}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID}}`, `{"jsonrpc":"2.0","method":"notifications/progress"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}`,
		strings.Repeat("[", 20000), "\x00\xff\xfe", "\x1b[2J", strings.Repeat("x", 193) + "sk-very-secret",
		strings.Repeat("y", maxLogLine-len("stdout: ")-7) + "sk-very-secret",
		`[{"jsonrpc":"2.0","method":"notifications/first"},{"jsonrpc":"2.0","id":ID,"result":"the answer"}]`,
	}
	text, _ := json.Marshal(lines)
	messages := s.open("POST", `{"jsonrpc":"2.0","id":3,"method":"do","params":{"arguments":{"lines":`+string(text)+`}}}`)
	want := []string{`{"jsonrpc":"2.0","method":"notifications/first"}`, `{"jsonrpc":"2.0","id":3,"result":"the answer"}`}
	if d := cmp.Diff(want, []string{next(t, messages), next(t, messages)}); d != "" {
		t.Error(d)
	}
	log := r.byName["raw"].log.text()
	if !strings.Contains(log, "stdout: not JSON") || strings.Contains(log, "\x1b") || strings.Contains(log, "sk-very") {
		t.Errorf("the log: %q", log)
	}
}

// TestFlood lets a program send more than its client reads. The answer still comes.
func TestFlood(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Limits: Limits{Queue: 50}}, testServer(t, "raw", "raw"))
	s := r.begin("raw")
	lines := make([]string, 20000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/n","params":{"i":%d,"pad":%q}}`, i, strings.Repeat("x", 500))
	}
	text, _ := json.Marshal(append(lines, `{"jsonrpc":"2.0","id":ID,"result":"the answer"}`))
	answer := s.request(`{"jsonrpc":"2.0","id":3,"method":"do","params":{"arguments":{"lines":` + string(text) + `}}}`)
	if !strings.Contains(answer, `"result":"the answer"`) {
		t.Error("the answer was lost in a flood")
	}
	log := make([]string, 3000)
	for i := range log {
		log[i] = strings.Repeat("y", 200)
	}
	text, _ = json.Marshal(append(log, `{"jsonrpc":"2.0","id":ID,"result":1}`))
	s.request(`{"jsonrpc":"2.0","id":4,"method":"do","params":{"arguments":{"lines":` + string(text) + `}}}`)
	if n := len(r.byName["raw"].log.text()); n > 64<<10 {
		t.Errorf("the log has %d bytes", n)
	}
}

// Messages that no client reads are held within a bound, with and without a stream.
func TestWhatWaitsIsBounded(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Limits: Limits{Message: 1 << 20}}, testServer(t, "raw", "raw"))
	s := r.begin("raw")
	to := r.byName["raw"].find(s.id, page)
	line := `{"jsonrpc":"2.0","method":"notifications/n","params":{"pad":"` + strings.Repeat("x", 900<<10) + `"}}`
	flood := func() {
		for range 4 {
			to.program.message([]byte(line))
		}
	}
	flood()
	if n := len(to.waiting); n != 2 {
		t.Errorf("%d messages wait for a stream", n)
	}
	slow := newStream(r.opts.Limits)
	to.program.listen(to, slow)
	flood()
	if n := len(slow.queue); n != 2 {
		t.Errorf("%d messages wait for a reader", n)
	}
	slow.end([]byte("the answer"))
	if n := len(slow.queue); n != 3 {
		t.Errorf("the answer is not among %d messages", n)
	}
}

// TestClientFloods lets a client send more than it may.
func TestClientFloods(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Limits: Limits{Calls: 3, Sessions: 2, Message: 1 << 20, Processes: 3}},
		testServer(t, "raw", "raw"), testServer(t, "deaf", "deaf"), testServer(t, "third", "raw"), testServer(t, "fourth", "raw"))
	s := r.begin("raw")
	for id := range 3 {
		s.open("POST", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"do","params":{"arguments":{}}}`, id))
	}
	if text := s.request(`{"jsonrpc":"2.0","id":4,"method":"pid"}`); !strings.Contains(text, "too many requests are under way") {
		t.Error(text)
	}
	s.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	if text := s.request(`{"jsonrpc":"2.0","id":2,"method":"pid"}`); !strings.Contains(text, "a request with this id is under way") {
		t.Error(text)
	}
	if res, _ := s.post(`{"jsonrpc":"2.0","id":5,"method":"echo","params":"` + strings.Repeat("x", 1<<20) + `"}`); res.StatusCode != 413 {
		t.Errorf("a large message: %d", res.StatusCode)
	}
	for _, body := range []string{"", "[]", "null", `[{"jsonrpc":"2.0","id":1,"method":"pid"}]`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"pid"}`, strings.Repeat("[", 1<<18)} {
		if res, text := s.post(body); res.StatusCode != 400 {
			t.Errorf("%.20q: %d %.200s", body, res.StatusCode, text)
		}
	}
	second := r.begin("raw")
	secondStream := second.stream()
	if text := r.initialize("raw"); !strings.Contains(text, "has 2 sessions") {
		t.Error(text)
	}
	deaf := r.begin("deaf")
	pad := strings.Repeat("x", 500<<10)
	for range 6 {
		deaf.post(`{"jsonrpc":"2.0","method":"notifications/n","params":"` + pad + `"}`)
	}
	full := deaf.request(`{"jsonrpc":"2.0","id":1,"method":"n","params":"` + pad + `"}`)
	if !strings.Contains(full, "it does not read its input") {
		t.Errorf("%.300s", full)
	}
	deaf.stream()
	if text := r.initialize("fourth"); !strings.Contains(text, "3 programs are running") {
		t.Error(text)
	}
	if res, _ := second.do("DELETE", "/s/raw/mcp", "", "Mcp-Session-Id", second.id); res.StatusCode != 204 {
		t.Errorf("DELETE: %d", res.StatusCode)
	}
	if _, open := <-secondStream; open {
		t.Error("the stream of a session that ended goes on")
	}
	eventually(t, "there is a place again", func() bool { return strings.Contains(r.initialize("fourth"), `"result"`) })
	// Pages that were reloaded leave sessions behind. They make room for new ones.
	for range 5 {
		if text := r.initialize("third"); !strings.Contains(text, `"result"`) {
			t.Error(text)
		}
	}
}

// A page that begins many sessions ends its own ones, and not those of another page.
func TestAPageEndsItsOwnSessionsFirst(t *testing.T) {
	t.Parallel()
	for name, limits := range map[string]Limits{"of a server": {Sessions: 2}, "all programs": {Processes: 2}} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, &Options{Limits: limits}, testServer(t, "raw", "raw"))
			token, err := r.Allow("https://other.example")
			if err != nil {
				t.Fatal(err)
			}
			other := []string{"Origin", "https://other.example", "Authorization", "Bearer " + token}
			res, _ := r.do("POST", "/s/raw/mcp", initializeRequest, other...)
			for range 3 {
				r.begin("raw")
			}
			res, text := r.do("POST", "/s/raw/mcp", `{"jsonrpc":"2.0","id":1,"method":"pid"}`,
				append(other, "Mcp-Session-Id", res.Header.Get("Mcp-Session-Id"))...)
			if res.StatusCode != 200 {
				t.Errorf("the other page's session: %d %s", res.StatusCode, text)
			}
		})
	}
}

// TestClosedOutput ends a program that closes its stdout, and breaks nothing else.
func TestClosedOutput(t *testing.T) {
	r := serve(t, nil, testServer(t, "p", "mute"))
	if text := r.initialize("p"); !strings.Contains(text, "the program p ended: it closed its stdout") {
		t.Error(text)
	}
}

// TestNothingRemains ends programs that resist, and what they started.
func TestNothingRemains(t *testing.T) {
	r := serve(t, nil, testServer(t, "stubborn", "stubborn"), testServer(t, "raw", "raw"))
	s, raw := r.begin("stubborn"), r.begin("raw")
	var pids []int
	for _, one := range []struct {
		s      *session
		method string
	}{{s, "pid"}, {s, "fork"}, {raw, "pid"}, {raw, "fork"}} {
		pid, err := strconv.Atoi(resultOf(t, one.s.request(`{"jsonrpc":"2.0","id":1,"method":"`+one.method+`"}`)))
		if err != nil || !alive(pid) {
			t.Fatalf("%s: process %d: %v", one.method, pid, err)
		}
		pids = append(pids, pid)
	}
	// A client leaves, and its program with what that started.
	raw.do("DELETE", "/s/raw/mcp", "", "Mcp-Session-Id", raw.id)
	eventually(t, "the program of a session that ended is gone", func() bool { return gone(pids[2]) && gone(pids[3]) })
	r.stop()
	for _, pid := range pids {
		eventually(t, "nothing remains", func() bool { return gone(pid) })
	}
}

// TestNothingRemainsInAHurry ends a program that resists, without the time that it has otherwise.
func TestNothingRemainsInAHurry(t *testing.T) {
	r := serve(t, &Options{Grace: time.Hour}, testServer(t, "stubborn", "stubborn"))
	pid, err := strconv.Atoi(resultOf(t, r.begin("stubborn").request(`{"jsonrpc":"2.0","id":1,"method":"pid"}`)))
	if err != nil || !alive(pid) {
		t.Fatalf("process %d: %v", pid, err)
	}
	r.Hurry()
	r.Hurry()
	r.stop()
	eventually(t, "nothing remains", func() bool { return gone(pid) })
}

// TestAProgramIsStoppedBeforeItStarts ends a gateway at the moment at which a page wants a program.
func TestAProgramIsStoppedBeforeItStarts(t *testing.T) {
	hurry := make(chan struct{})
	close(hurry)
	p := &process{done: make(chan struct{}), gone: make(chan struct{}), wake: make(chan struct{}, 1), hurry: hurry}
	p.stop("the gateway is ending")
	if err := p.start(testServer(t, "raw", "raw")); err == nil {
		t.Error("it was started")
		killGroup(p.cmd)
	}
}

// gone reports whether a process has ended. One that nobody has waited for counts.
func gone(pid int) bool {
	if !alive(pid) {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestKilled kills a program from outside. Its stdout may be closed long before a busy computer reports its end.
func TestKilled(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Delay: time.Millisecond, Grace: time.Minute}, testServer(t, "raw", "raw"))
	for range 5 {
		s := r.begin("raw")
		pid, _ := strconv.Atoi(resultOf(t, s.request(`{"jsonrpc":"2.0","id":1,"method":"pid"}`)))
		waiting := s.open("POST", `{"jsonrpc":"2.0","id":"w","method":"do","params":{"arguments":{}}}`)
		e := r.byName["raw"]
		eventually(t, "the call is under way", func() bool { return e.find(s.id, page).program.busy() })
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if m := next(t, waiting); !strings.Contains(m, "the program raw ended: signal: killed") {
			t.Error(m)
		}
	}
}

func (p *program) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	all, _ := p.underWay(nil)
	return all > 0
}

// TestIdle ends programs that nobody uses, and none that somebody does.
func TestIdle(t *testing.T) {
	t.Parallel()
	r := serve(t, &Options{Idle: 3 * time.Second}, testServer(t, "raw", "raw"), testServer(t, "used", "raw"))
	unused := r.begin("raw")
	// A page that is gone leaves a request behind that is never answered.
	ctx, leave := context.WithCancel(context.Background())
	req, _ := http.NewRequestWithContext(ctx, "POST", r.url("raw"), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"do","params":{"arguments":{}}}`))
	for name, value := range map[string]string{"Authorization": "Bearer " + r.token, "Content-Type": "application/json", "Mcp-Session-Id": unused.id} {
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil || res.StatusCode != 200 {
		t.Fatal(err)
	}
	used := r.begin("used")
	stream := used.stream()
	leave()
	res.Body.Close()
	eventually(t, "the unused program ends", func() bool { return r.Servers()[0].Processes == 0 })
	if res, _ = unused.post(`{"jsonrpc":"2.0","id":1,"method":"pid"}`); res.StatusCode != 404 {
		t.Errorf("its session: %d", res.StatusCode)
	}
	if r.Servers()[0].RetryAfterMs != 0 {
		t.Error("a program that was unused backs off")
	}
	used.post(`{"jsonrpc":"2.0","method":"notifications/n"}`)
	next(t, stream)
	if text := r.initialize("raw"); !strings.Contains(text, `"result"`) {
		t.Errorf("again: %s", text)
	}
}

// An unused program takes its time to end. Meanwhile its page gets another one.
func TestAPageComesBackWhileItsProgramEnds(t *testing.T) {
	t.Parallel()
	ending := make(chan struct{}, 10)
	r := serve(t, &Options{Idle: time.Second, Grace: time.Hour, Stderr: func(_, line string) {
		if line == "the input has ended" {
			ending <- struct{}{}
		}
	}}, testServer(t, "stubborn", "stubborn"))
	s := r.begin("stubborn")
	<-ending
	if res, text := s.post(`{"jsonrpc":"2.0","id":1,"method":"pid"}`); res.StatusCode != 404 {
		t.Errorf("its session: %d %s", res.StatusCode, text)
	}
	if _, text := s.post(initializeRequest); !strings.Contains(text, `"result"`) {
		t.Errorf("another one: %s", text)
	}
	r.Hurry()
}

// TestFiftyPrograms uses 50 programs at once.
func TestFiftyPrograms(t *testing.T) {
	t.Parallel()
	var servers []Server
	for i := range 50 {
		servers = append(servers, testServer(t, fmt.Sprintf("p%d", i), "raw"))
	}
	r := serve(t, nil, servers...)
	pids := make([]string, 50)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			s := r.begin(servers[i].Name)
			for range 5 {
				pids[i] = resultOf(t, s.request(`{"jsonrpc":"2.0","id":1,"method":"pid"}`))
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, pid := range pids {
		seen[pid] = true
	}
	if len(seen) != 50 {
		t.Errorf("%d processes", len(seen))
	}
	r.stop()
	for pid := range seen {
		n, _ := strconv.Atoi(pid)
		if !gone(n) {
			t.Errorf("process %d is left", n)
		}
	}
}

// TestEnvironment shows that a program sees what is configured, and nothing of ours.
func TestEnvironment(t *testing.T) {
	t.Setenv("PORTOLAN_TEST_SECRET", "ours")
	r := serve(t, nil, testServer(t, "raw", "raw"))
	text := r.begin("raw").request(`{"jsonrpc":"2.0","id":1,"method":"environment"}`)
	var all []string
	if err := json.Unmarshal([]byte(resultOf(t, text)), &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all {
		name, _, _ := strings.Cut(one, "=")
		configured := name == "API_KEY" || name == "GATEWAY_TEST_PROGRAM" || name == "GOCOVERDIR"
		if !configured && !strings.Contains(" "+strings.Join(inherited, " ")+" ", " "+name+" ") {
			t.Errorf("the program sees %s", name)
		}
	}
	if !strings.Contains(text, "sk-very-secret") || !strings.Contains(text, "PATH=") {
		t.Errorf("it lacks what it needs: %s", text)
	}
}

// MCP clients look for a command where the PATH of its configuration says.
func TestACommandIsFoundInItsOwnPath(t *testing.T) {
	s, dir := testServer(t, "raw", "raw"), t.TempDir()
	if err := os.Symlink(s.Command, dir+"/only-here-of-portolan"); err != nil {
		t.Fatal(err)
	}
	s.Command, s.Env["PATH"] = "only-here-of-portolan", t.TempDir()+string(os.PathListSeparator)+dir
	r := serve(t, nil, s)
	if text := r.initialize("raw"); !strings.Contains(text, `"result"`) {
		t.Error(text)
	}
}

func TestASecretWithinAnotherIsHidden(t *testing.T) {
	secrets := secretsOf(Server{Env: map[string]string{"A": "key-one", "B": "key-one-and-more", "C": "a-key-one"}})
	if got := redact("key-one-and-more, a-key-one, key-one", secrets); got != "[redacted], [redacted], [redacted]" {
		t.Error(got)
	}
}

// Arguments have secrets in addresses, headers and variables, and programs print these.
func TestSecretsWithinArgumentsAreHidden(t *testing.T) {
	secrets := secretsOf(Server{
		Args: []string{
			"mcp-remote", "https://mcp.example/mcp?mode=readonly&tavilyApiKey=one-secret#top", "--header", "Authorization: Bearer two-secret",
			"--header=X-Api-Key:three-secret", "postgresql://user:four-secret@db.example/main", "-e", "API_KEY=five-secret",
			"https://six-secret-without-name@git.example/x", "postgresql://postgres@db.example/main", "--token", "seven-secret", "--auth=eight-secret", "https://auth.example:8443/readonly",
		},
		Env: map[string]string{"DATABASE_URL": "mysql://root:nine-secret@db.example"},
	})
	const printed = "one-secret two-secret three-secret four-secret five-secret six-secret-without-name seven-secret eight-secret nine-secret"
	if got, want := redact(printed, secrets), strings.TrimSpace(strings.Repeat("[redacted] ", 9)); got != want {
		t.Error(got)
	}
	if got := redact("postgres, readonly, https://auth.example:8443/readonly", secrets); strings.Contains(got, "redacted") {
		t.Error(got)
	}
}

// A program that never answers server/discover has shown its era once it answers initialize. Others do not wait for it.
func TestEraOfAProgramThatIgnoresTheQuestion(t *testing.T) {
	for _, shared := range []bool{false, true} {
		r := serve(t, &Options{Shared: shared}, testServer(t, "naive", "naive"))
		e := r.byName["naive"]
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() { // a client of 2026-07-28 that loses its patience
			defer close(left)
			_, _ = e.stateless(ctx, page)
		}()
		eventually(t, "the program is asked", func() bool {
			e.mu.Lock()
			defer e.mu.Unlock()
			for p := range e.programs {
				if p.isProbing() {
					return true
				}
			}
			return false
		})
		leave()
		<-left
		r.begin("naive")
		if e.era.Load() != eraLegacy {
			t.Errorf("shared %v: the era is not known", shared)
		}
	}
}

// A program that ended when it was asked may have lacked its network: the next client asks again.
func TestEraOfAProgramThatEndsWhenItIsAsked(t *testing.T) {
	t.Parallel()
	for _, shared := range []bool{false, true} {
		s := testServer(t, "moody", "moody")
		s.Env["LATE"] = filepath.Join(t.TempDir(), "late")
		r := serve(t, &Options{Shared: shared, Delay: time.Millisecond}, s)
		for range 2 {
			if _, f := r.byName["moody"].stateless(t.Context(), page); f == nil || f.Code != codeUnsupportedVersion {
				t.Errorf("shared %v: %v", shared, f)
			}
		}
		if failures := r.byName["moody"].failures; failures != 1 {
			t.Errorf("shared %v: %d failures, want 1: the first end says nothing", shared, failures)
		}
		if err := os.WriteFile(s.Env["LATE"], nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, f := r.byName["moody"].stateless(t.Context(), page); f != nil {
			t.Errorf("shared %v: %v", shared, f)
		}
	}
}

// An internal error says nothing of the versions: the next client asks the same process again.
func TestEraOfAProgramThatFailsToAnswer(t *testing.T) {
	for _, shared := range []bool{false, true} {
		r := serve(t, &Options{Shared: shared}, testServer(t, "unready", "unready"))
		if _, f := r.byName["unready"].stateless(t.Context(), page); f == nil || f.Code != codeUnsupportedVersion {
			t.Errorf("shared %v: %v", shared, f)
		}
		if _, f := r.byName["unready"].stateless(t.Context(), page); f != nil {
			t.Errorf("shared %v: %v", shared, f)
		}
	}
}

// TestEraOfASharedProgram sends a request of 2026-07-28 to a shared program that has an older session.
func TestEraOfASharedProgram(t *testing.T) {
	r := serve(t, &Options{Shared: true}, testServer(t, "raw", "raw"))
	r.begin("raw")
	res, text := r.do("POST", "/s/raw/mcp", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		"Mcp-Protocol-Version", modern, "Mcp-Method", "server/discover")
	if res.StatusCode != 400 || !strings.Contains(text, `"code":-32022`) {
		t.Errorf("%d %s", res.StatusCode, text)
	}
}

// TestEraIsFoundOnce lets programs of older versions meet a client of 2026-07-28.
func TestEraIsFoundOnce(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"raw", "strict", "older"} {
		t.Run(program, func(t *testing.T) {
			r := serve(t, nil, testServer(t, "p", program))
			for range 3 {
				res, text := r.do("POST", "/s/p/mcp", `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
					"Mcp-Protocol-Version", modern, "Mcp-Method", "server/discover")
				if res.StatusCode != 400 || !strings.Contains(text, `"code":-32022`) || !strings.Contains(text, `"supported":["2025-11-25"`) {
					t.Errorf("%d %s", res.StatusCode, text)
				}
			}
			before := r.Servers()[0].Processes
			if text := r.initialize("p"); !strings.Contains(text, `"result"`) {
				t.Error(text)
			}
			if after := r.Servers()[0].Processes; after != 1 || program != "strict" && before != 1 {
				t.Errorf("%d processes, then %d: the first was not used", before, after)
			}
		})
	}
}

// The error of a program says how it ended, and not what its runtime prints behind it.
func TestTheErrorAtTheEndIsKept(t *testing.T) {
	stack := strings.Repeat("    at run (main.js:1:2)\n", 8)
	for text, want := range map[string]string{
		"starting\nTypeError: no key\n" + stack + "\nNode.js v22.0.0\n":               "TypeError: no key",
		"Error: a cache is missing\n" + strings.Repeat("works\n", 30) + "disk full\n": "disk full",
		"one\ntwo": "two", "": "",
	} {
		p := &process{note: func(string) {}}
		if p.readErrors(strings.NewReader(text)); p.last != want {
			t.Errorf("%.40q: %q", text, p.last)
		}
	}
}
