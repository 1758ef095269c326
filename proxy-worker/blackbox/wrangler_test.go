//go:build !js

package blackbox

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

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

// wrangler returns a command of wrangler that ignores the user's settings.
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
