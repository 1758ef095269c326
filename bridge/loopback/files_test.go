package loopback_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// A process that is killed leaves the next version of its file behind. The next change takes it away.
func TestReplaceFileTakesALeftoverAway(t *testing.T) {
	path := filepath.Join(t.TempDir(), "bridge.json")
	for name, text := range map[string]string{path: "old", path + ".new": "half a fi"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := loopback.ReplaceFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	files, _ := os.ReadDir(filepath.Dir(path))
	if err != nil || string(text) != "new" || len(files) != 1 {
		t.Errorf("%q, %v, %v", text, err, files)
	}
	if stat, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && stat.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", stat, err)
	}
	// One that cannot be finished leaves the file as it is.
	if err := os.MkdirAll(filepath.Join(path+".new", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := loopback.ReplaceFile(path, []byte("newer")); err == nil {
		t.Error("a folder was replaced")
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "new" {
		t.Errorf("%q, %v", text, err)
	}
}

// The file may lie elsewhere, behind a link. A removed entry is gone there, too.
func TestReplaceFileBehindALink(t *testing.T) {
	path, link := filepath.Join(t.TempDir(), "bridge.json"), filepath.Join(t.TempDir(), "bridge.json")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err) // only some accounts may make links there
		}
		t.Fatal(err)
	}
	if err := loopback.ReplaceFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	stat, lost := os.Lstat(link)
	if err != nil || lost != nil || string(text) != "new" || stat.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%q, %v, %v, %v", text, err, stat, lost)
	}
}

// A client that starts the bridge may give it no environment.
func TestWithoutAHomeFolder(t *testing.T) {
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData", "home"} {
		t.Setenv(name, "")
	}
	if _, err := loopback.ConfigDir(""); err == nil || !strings.HasSuffix(err.Error(), "; --dir names another") {
		t.Error(err)
	}
}
