package archtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDependenciesHaveReasons compares the files that name direct dependencies with
// docs/dependencies.md, which has the reason for each.
func TestDependenciesHaveReasons(t *testing.T) {
	text, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	var words []*regexp.Regexp
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\n  ", " ")) {
		names, _, isRow := strings.Cut(line, ": ")
		if !isRow || !strings.HasPrefix(line, "- ") {
			continue
		}
		for _, word := range regexp.MustCompile("`[^`]+`").FindAllString(names, -1) {
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.Trim(word, "`")), `\*`, ".*")
			words = append(words, regexp.MustCompile("^"+pattern+"$"))
		}
	}
	known := func(name string) bool {
		for _, w := range words {
			if w.MatchString(name) {
				return true
			}
		}
		return false
	}
	seen := 0
	for file, names := range directDependencies(t) {
		for _, name := range names {
			seen++
			if !known(name) {
				t.Errorf("%s: %s is not in docs/dependencies.md", file, name)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d dependencies were looked at", seen)
	}
}

// directDependencies returns their names by the file that asks for them.
func directDependencies(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	cmd := exec.Command("go", "mod", "edit", "-json")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
		Tool []struct{ Path string }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			all["go.mod"] = append(all["go.mod"], r.Path)
		}
	}
	for _, tool := range mod.Tool {
		all["go.mod"] = append(all["go.mod"], tool.Path)
	}
	cmd = exec.Command("git", "ls-files", "package.json", "*/package.json")
	cmd.Dir = "../.."
	out, err = cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		if strings.HasPrefix(file, "web/examples/") {
			continue // peer dependencies of apps
		}
		text, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Fatal(err)
		}
		var p struct{ Dependencies, DevDependencies, PeerDependencies map[string]string }
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, names := range []map[string]string{p.Dependencies, p.DevDependencies, p.PeerDependencies} {
			for name := range names {
				all[file] = append(all[file], name)
			}
		}
	}
	return all
}
