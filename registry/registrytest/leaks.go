package registrytest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Main runs the tests of a package, and fails if goroutines of the registry or its client are left after them.
func Main(m *testing.M) {
	code := m.Run()
	if left := leaks(); code == 0 && left != "" {
		fmt.Fprintf(os.Stderr, "goroutines are left:\n%s", left)
		code = 1
	}
	os.Exit(code)
}

// leaks returns the stacks of goroutines of this module that do not end within 10 s.
func leaks() (left string) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		stacks := make([]byte, 8<<20)
		_, others, _ := strings.Cut(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") // the first is this one
		left = ""
		for s := range strings.SplitSeq(others, "\n\n") {
			if strings.Contains(s, "portolan-mcp/portolan/registry") {
				left += s + "\n\n"
			}
		}
		if left == "" {
			return ""
		}
	}
	return left
}
