package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// node returns the path of PORTOLAN_NODE, of the repository's Node, or of any other.
func node(t *testing.T) string {
	name, asked := os.LookupEnv("PORTOLAN_NODE")
	if !asked {
		name, _ = filepath.Abs("../../../node_modules/.bin/node")
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

// stacks are the numbers of a stack trace that differ from run to run.
var stacks = regexp.MustCompile(`0x[0-9a-f]+`)

func TestRewrittenModuleRunsTheSame(t *testing.T) {
	node := node(t)
	module := filepath.Join(t.TempDir(), "trace.wasm")
	run(t, "go", "build", "-o", module, "-ldflags=-s -w", "./testdata/trace")
	goroot := strings.TrimSpace(run(t, "go", "env", "GOROOT"))
	output := func() string {
		return run(t, node, "--stack-size=8192", goroot+"/lib/wasm/wasm_exec_node.js", module)
	}
	size := func() int64 {
		info, err := os.Stat(module)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	want, before := output(), size()
	if err := rewrite(module); err != nil {
		t.Fatal(err)
	}
	got, after := output(), size()
	t.Logf("%d bytes before, %d after", before, after)
	if stacks.ReplaceAllString(got, "") != stacks.ReplaceAllString(want, "") {
		t.Errorf("rewritten, the program prints\n%s\nand before\n%s", got, want)
	}
	for _, part := range []string{"recovered out of order\n", "main.main()", "main.go:"} {
		if !strings.Contains(got, part) {
			t.Errorf("the output lacks %q:\n%s", part, got)
		}
	}
}

func TestSegmentsAreJoined(t *testing.T) {
	segments := "\x02" + "\x00\x41\x08\x0b\x01x" + "\x00\x41\x10\x0b\x01y"
	once, err := join([]byte(segments))
	if err != nil {
		t.Fatal(err)
	}
	if want := "\x01\x00\x41\x08\x0b\x09x\x00\x00\x00\x00\x00\x00\x00y"; string(once) != want {
		t.Errorf("joined: %q, want %q", once, want)
	}
	again, err := join(once)
	if err != nil || string(again) != string(once) {
		t.Errorf("again: %q, %v", again, err)
	}
}

const header = "\x00asm\x01\x00\x00\x00"

func TestForeignModuleIsLeftAlone(t *testing.T) {
	for name, module := range map[string]string{
		"empty":              "",
		"no data":            header,
		"cut off":            header + "\x0b\xff",
		"no functions":       header + "\x0b\x01\x00",
		"a cut function":     header + "\x0a\x03\x01\x05\x00\x0b\x01\x00",
		"a new instruction":  header + "\x0a\x06\x01\x04\x00\xfd\x0c\x0b\x0b\x01\x00",
		"a passive segment":  header + "\x0b\x04\x01\x01\x01x",
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
