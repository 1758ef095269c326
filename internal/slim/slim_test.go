package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// node finds PORTOLAN_NODE, which must be there if it is set, the repository's or any.
func node(t *testing.T) string {
	name, asked := os.LookupEnv("PORTOLAN_NODE")
	if !asked {
		name, _ = filepath.Abs("../../node_modules/.bin/node")
	}
	path, err := exec.LookPath(name)
	if err != nil && !asked {
		path, err = exec.LookPath("node")
	}
	if err != nil {
		t.Fatal("the test runs modules: put node into PATH, or its path into PORTOLAN_NODE: ", err)
	}
	return path
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

func TestSlimModuleRunsTheSame(t *testing.T) {
	node := node(t)
	module := filepath.Join(t.TempDir(), "trace.wasm")
	run(t, "go", "build", "-o", module, "-ldflags=-s -w", "./testdata/trace")
	goroot := strings.TrimSpace(run(t, "go", "env", "GOROOT"))
	whole := run(t, node, "--stack-size=8192", goroot+"/lib/wasm/wasm_exec_node.js", module)
	was, _ := os.Stat(module)
	if err := rewrite(module); err != nil {
		t.Fatal(err)
	}
	slim := run(t, node, "--stack-size=8192", goroot+"/lib/wasm/wasm_exec_node.js", module)
	is, _ := os.Stat(module)
	t.Logf("%d bytes, and then %d", was.Size(), is.Size())

	said, trace, _ := strings.Cut(whole, "goroutine ")
	slimSaid, slimTrace, _ := strings.Cut(slim, "goroutine ")
	if said != slimSaid || !strings.Contains(said, "recovered out of order\n") {
		t.Errorf("it says\n%s\nand said\n%s", slimSaid, said)
	}
	if !strings.Contains(trace, "main.go:") {
		t.Errorf("a trace without lines before: %s", trace)
	}
	if strings.Contains(slimTrace, ".go") || !strings.Contains(slimTrace, "main.main(") {
		t.Errorf("the trace is: %s", slimTrace)
	}
}

func TestForeignModuleIsLeftAlone(t *testing.T) {
	const header = "\x00asm\x01\x00\x00\x00"
	for name, module := range map[string]string{
		"empty":              "",
		"no data":            header,
		"cut off":            header + "\x0b\xff",
		"a passive segment":  header + "\x0b\x04\x01\x01\x01x",
		"no functions":       header + "\x0b\x07\x01\x00\x41\x08\x0b\x01x",
		"a table that lies":  header + "\x0b\x0e\x01\x00\x41\x08\x0b\x08" + magic,
		"a length that lies": header + "\x0b\x07\x01\x00\x41\x08\x0b\x70x",
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.wasm")
			if err := os.WriteFile(file, []byte(module), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := rewrite(file); err == nil {
				t.Error("no error")
			}
			if after, _ := os.ReadFile(file); string(after) != module {
				t.Errorf("it became %q", after)
			}
		})
	}
}
