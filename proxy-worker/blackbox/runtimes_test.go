//go:build !js

// Package blackbox tests the proxy over the network, as a page uses it: natively, in
// workerd, and in wrangler dev.
package blackbox

import (
	"io"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

const (
	callerKey  = "a-caller-key-that-is-long-enough"
	metricsKey = "a-metrics-key-that-is-long-enough"
)

// configs are the environment variables of each configuration.
var configs = map[string]map[string]string{
	"open":   local(nil),
	"closed": {},
	"tight": local(map[string]string{
		"CALLER_KEYS": callerKey, "MAX_REQUEST_BYTES": "1000", "MAX_RESPONSE_BYTES": "1000", "MAX_STREAMS": "2",
		"METRICS_KEYS": metricsKey, "LOG_REFUSALS": "yes",
	}),
	"hurried": local(map[string]string{"FIRST_BYTE_SECONDS": "1"}), // only for tests of that time
}

func local(more map[string]string) map[string]string {
	env := map[string]string{
		"ALLOWED_ORIGINS": "http://localhost:*, https://ide.example", "ALLOWED_HOSTS": "127.0.0.1", "ALLOWED_PORTS": "*",
		"ALLOW_HTTP": "true", "ALLOW_PRIVATE": "true",
	}
	maps.Copy(env, more)
	return env
}

// A running proxy, in its configurations.
type running struct {
	url map[string]string // by configuration
	// pid of the process that runs "open"; 0 if that is the test's own.
	pid int
	// deaf means that the proxy does not notice clients that leave. wrangler dev has a
	// Worker of its own in front, which keeps its request open.
	deaf bool
	// limited means that the rate limit of wrangler.jsonc is in effect.
	limited bool
}

// runtimes start the proxy. Its processes end with the test.
var runtimes = []struct {
	name  string
	start func(*testing.T) running
}{
	{"native", native},
	{"workerd", workerd},
	{"wrangler", wranglerDev},
}

// TestProxy runs all subtests in every runtime.
func TestProxy(t *testing.T) {
	for _, runtime := range runtimes {
		t.Run(runtime.name, func(t *testing.T) {
			if runtime.name == "wrangler" {
				skipWithoutSoak(t)
			}
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
				{"lasting", true, lasting},
				{"abort", !r.deaf, abort},
				{"cut off", true, cutOff},
				{"streams", true, streams},
				{"bytes", true, manyBytes},
				{"session", true, session},
				{"metrics", true, metrics},
				{"rate limit", r.limited, rateLimit},
			} {
				if part.there {
					t.Run(part.name, func(t *testing.T) { part.test(t, r, newUpstream(t)) })
				}
			}
		})
	}
}

// skipWithoutSoak skips tests with wrangler, which starts slowly. ./build.sh soak runs them.
func skipWithoutSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("with wrangler: ./build.sh soak")
	}
}

func native(t *testing.T) running {
	r := running{url: map[string]string{}, limited: true}
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

// built returns the path of a file that build.sh builds or installs.
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
