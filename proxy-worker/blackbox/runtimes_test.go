//go:build !js

// Package blackbox asks the proxy over the network, as a page would, wherever it
// runs: natively, in workerd, and in wrangler dev.
package blackbox

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

const callerKey = "a-caller-key-that-is-long-enough"

// configs are the environments that each runtime is started with.
var configs = map[string]map[string]string{
	"open":   local(nil),
	"closed": {},
	"tight": local(map[string]string{
		"CALLER_KEYS": callerKey, "MAX_REQUEST_BYTES": "1000", "MAX_RESPONSE_BYTES": "1000", "MAX_STREAMS": "2", "FIRST_BYTE_SECONDS": "1",
	}),
}

func local(more map[string]string) map[string]string {
	env := map[string]string{
		"ALLOWED_ORIGINS": "http://localhost:*, https://ide.example", "ALLOWED_HOSTS": "127.0.0.1", "ALLOWED_PORTS": "*",
		"ALLOW_HTTP": "true", "ALLOW_PRIVATE": "true",
	}
	maps.Copy(env, more)
	return env
}

// A running proxy, in its three configurations.
type running struct {
	url map[string]string // by configuration
	// pid of the process that runs "open"; 0 if that is the test's own.
	pid int
	// deaf: clients that leave are not noticed. wrangler dev has a Worker of its own
	// in front, which keeps its request to ours open.
	deaf bool
	// limited: the rate limit of wrangler.jsonc is there.
	limited bool
}

// runtimes start the proxy; what they start ends with the test.
var runtimes = []struct {
	name  string
	start func(*testing.T) running
}{
	{"native", native},
	{"workerd", workerd},
	{"wrangler", wranglerDev},
}

// TestProxy asks all of every runtime.
func TestProxy(t *testing.T) {
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			r := runtime.start(t)
			for _, part := range []struct {
				name  string
				there bool // in this runtime
				test  func(*testing.T, running, *upstream)
			}{
				{"table", true, table},
				{"binding", true, binding},
				{"diagnosis", true, diagnosis},
				{"live", true, live},
				{"abort", !r.deaf, abort},
				{"cut off", true, cutOff},
				{"streams", true, streams},
				{"bytes", true, manyBytes},
				{"session", true, session},
				{"rate limit", r.limited, rateLimit},
			} {
				if part.there {
					t.Run(part.name, func(t *testing.T) { part.test(t, r, newUpstream(t)) })
				}
			}
		})
	}
}

func native(t *testing.T) running {
	r := running{url: map[string]string{}}
	for name, env := range configs {
		cfg, err := proxy.Env(func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		policy, err := proxy.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(policy.Handler(proxy.Transport(cfg.Private)))
		t.Cleanup(server.Close)
		r.url[name] = server.URL
	}
	return r
}

// built returns a file of the Worker that build.sh makes or installs.
func built(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Fatalf("%v: ./build.sh test installs and builds it", err)
	}
	return path
}

func workerd(t *testing.T) running { return workerdWith(t, `embed "/policy.mjs"`) }

// workerdWith serves all configurations from one process. policy is the text of
// the module policy.mjs; real.mjs is what it is otherwise.
func workerdWith(t *testing.T, policy string) running {
	built(t, "dist/proxy.wasm")
	binary := built(t, "node_modules/@cloudflare/workerd-linux-64/bin/workerd")
	var services, sockets, workers strings.Builder
	names := slices.Sorted(maps.Keys(configs))
	for _, name := range names {
		fmt.Fprintf(&services, "(name = %q, worker = .%s), ", name, name)
		fmt.Fprintf(&sockets, "(name = %q, address = \"127.0.0.1:0\", http = (), service = %q), ", name, name)
		fmt.Fprintf(&workers, "const %s :Workerd.Worker = (modules = .modules, compatibilityDate = %q, compatibilityFlags = %s, bindings = [", name, setting(t, "compatibility_date"), setting(t, "compatibility_flags"))
		for _, key := range slices.Sorted(maps.Keys(configs[name])) {
			fmt.Fprintf(&workers, "(name = %q, text = %q), ", key, configs[name][key])
		}
		workers.WriteString("]);\n")
	}
	config := filepath.Join(t.TempDir(), "config.capnp")
	err := os.WriteFile(config, []byte(`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [`+services.String()+`(name = "internet", network = (allow = ["public", "private"]))],
  sockets = [`+sockets.String()+`],
);
const modules :List(Workerd.Worker.Module) = [
  (name = "worker.mjs", esModule = embed "/worker.mjs"),
  (name = "policy.mjs", esModule = `+policy+`),
  (name = "real.mjs", esModule = embed "/policy.mjs"),
  (name = "dist/wasm_exec.js", esModule = embed "/dist/wasm_exec.js"),
  (name = "dist/proxy.wasm", wasm = embed "/dist/proxy.wasm"),
];
`+workers.String()), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	control, report, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	cmd := exec.Command(binary, "serve", "-I", filepath.Dir(built(t, "worker.mjs")), "--control-fd=3", config)
	cmd.ExtraFiles = []*os.File{report}
	start(t, cmd, nil)
	report.Close()
	r := running{url: map[string]string{}, pid: cmd.Process.Pid}
	for lines := bufio.NewScanner(control); len(r.url) < len(names); {
		if !lines.Scan() {
			t.Fatal("workerd has ended")
		}
		var event struct {
			Event, Socket string
			Port          int
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err == nil && event.Event == "listen" {
			r.url[event.Socket] = "http://127.0.0.1:" + strconv.Itoa(event.Port)
		}
	}
	return r
}

var ready = regexp.MustCompile(`Ready on (http://\S+)`)

// wranglerDev runs wrangler dev for each configuration, with wrangler.jsonc as it is.
func wranglerDev(t *testing.T) running {
	r := running{url: map[string]string{}, deaf: true, limited: true}
	for name, env := range configs {
		file := filepath.Join(t.TempDir(), "vars")
		var vars strings.Builder
		for key, value := range env {
			fmt.Fprintf(&vars, "%s=%q\n", key, value)
		}
		if err := os.WriteFile(file, []byte(vars.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		out, in := io.Pipe()
		cmd := wrangler(t, "dev", "--local", "--ip", "127.0.0.1", "--port", "0", "--inspector-port", "0",
			"--env-file", file, "--persist-to", t.TempDir(), "--show-interactive-dev-session=false")
		start(t, cmd, in)
		found := make(chan string, 1)
		go func() {
			defer close(found)
			for lines := bufio.NewScanner(out); lines.Scan(); {
				if m := ready.FindStringSubmatch(lines.Text()); m != nil {
					found <- m[1]
					break
				}
			}
			_, _ = io.Copy(io.Discard, out)
		}()
		select {
		case r.url[name] = <-found:
		case <-time.After(time.Minute):
		}
		if r.url[name] == "" {
			t.Fatal("wrangler dev did not get ready")
		}
		if name == "open" {
			r.pid = descendant(cmd.Process.Pid, "workerd")
		}
	}
	return r
}

// wrangler is a command of wrangler's, cut off from the user's own settings.
func wrangler(t *testing.T, args ...string) *exec.Cmd {
	node := built(t, "../node_modules/node/bin/node")
	cmd := exec.Command(node, append([]string{built(t, "node_modules/wrangler/bin/wrangler.js")}, args...)...)
	cmd.Dir = ".."
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "CI=true", "NO_COLOR=1",
		"WRANGLER_SEND_METRICS=false", "CLOUDFLARE_CF_FETCH_ENABLED=false", "WRANGLER_LOG_PATH="+home,
		"GOPATH="+goEnv(t, "GOPATH"), "GOCACHE="+goEnv(t, "GOCACHE"), "GOMODCACHE="+goEnv(t, "GOMODCACHE"))
	return cmd
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// start runs a process and its children in a group of their own, which ends with the test.
func start(t *testing.T, cmd *exec.Cmd, out io.WriteCloser) {
	t.Helper()
	var log strings.Builder
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = &log
	if out != nil {
		cmd.Stdout = out
	} else {
		cmd.Stdout = &log
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		if out != nil {
			out.Close()
		}
		if log.Len() > 0 {
			t.Logf("%s:\n%s", filepath.Base(cmd.Path), log.String())
		}
	})
}

// descendant finds a process by name below another.
func descendant(pid int, name string) int {
	parents := map[int]int{}
	var found []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		end := strings.LastIndexByte(string(text), ')')
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parents[id], _ = strconv.Atoi(strings.Fields(string(text[end+1:]))[1])
		if strings.HasSuffix(string(text[:end]), "("+name) {
			found = append(found, id)
		}
	}
	for _, id := range found {
		for p := id; p > 1; p = parents[p] {
			if p == pid {
				return id
			}
		}
	}
	return 0
}

// setting reads a line of wrangler.jsonc, or the strings of a list, as it is written.
func setting(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../wrangler.jsonc")
	if err != nil {
		t.Fatal(err)
	}
	plain := regexp.MustCompile(`(?m)^\s*//.*$`).ReplaceAllString(string(text), "")
	m := regexp.MustCompile(`"` + name + `":\s*("[^"]*"|\[[^\]]*\])`).FindStringSubmatch(plain)
	if m == nil {
		t.Fatalf("wrangler.jsonc has no %s", name)
	}
	if value, err := strconv.Unquote(m[1]); err == nil {
		return value
	}
	return m[1]
}
