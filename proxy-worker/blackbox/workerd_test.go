//go:build !js

package blackbox

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func workerd(t *testing.T) running { return workerdWith(t, nil) }

// ours has the modules of the Worker and their files. The first one is the entry.
var ours = []string{"worker.mjs", "policy.mjs", "wasm_exec.js", "proxy.wasm"}

// workerdWith serves all configurations from one process. instead has files that replace
// modules of the Worker. They import the replaced policy.mjs as real.mjs.
func workerdWith(t *testing.T, instead map[string]string) running {
	return workerdOf(t, nil, modulesWith(t, instead))
}

func modulesWith(t *testing.T, instead map[string]string) []string {
	t.Helper()
	modules := make([]string, 0, len(ours)+1)
	for _, name := range append(ours, "real.mjs") {
		file := cmp.Or(instead[name], filepath.Join("../../dist/worker", strings.Replace(name, "real", "policy", 1)))
		modules = append(modules, module(t, name, file))
	}
	return modules
}

// module returns a module of a Worker in workerd's configuration.
func module(t *testing.T, name, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	kind := "esModule"
	if strings.HasSuffix(name, ".wasm") {
		kind = "wasm"
	}
	return fmt.Sprintf("(name = %q, %s = embed %q)", name, kind, path)
}

// workerdOf serves modules in all configurations. out, if not nil, gets the console.
func workerdOf(t *testing.T, out io.WriteCloser, modules []string) running {
	built(t, "../dist/worker/proxy.wasm")
	binary := built(t, "node_modules/@cloudflare/workerd-linux-64/bin/workerd")
	var services, sockets, workers strings.Builder
	names := slices.Sorted(maps.Keys(configs))
	for _, name := range names {
		fmt.Fprintf(&services, "(name = %q, worker = .%s), ", name, name)
		fmt.Fprintf(&sockets, "(name = %q, address = \"127.0.0.1:0\", http = (), service = %q), ", name, name)
		fmt.Fprintf(&workers,
			"const %s :Workerd.Worker = (modules = .modules, compatibilityDate = %q, compatibilityFlags = %s, bindings = [",
			name, setting(t, "compatibility_date"), setting(t, "compatibility_flags"))
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
  `+strings.Join(modules, ",\n  ")+`,
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
	cmd := exec.Command(binary, "serve", "-I", "/", "--control-fd=3", config)
	cmd.ExtraFiles = []*os.File{report}
	start(t, cmd, out)
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

// setting returns a value of wrangler.jsonc, or the strings of a list, as text.
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
