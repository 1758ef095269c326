package bridge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTroubles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "debug")
	keep := func(dir, name, file string) {
		t.Helper()
		params, err := json.Marshal(map[string]string{"name": name, "file": file})
		if err != nil {
			t.Fatal(err)
		}
		if err := (&troubles{dir: dir}).keep(params); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"../evil-2026-11-24T10-00-00-000Z", "gemini", "a/b-2026-11-24T10-00-00", "Gemini-2026-11-24T10-00-00"} {
		keep(dir, name, "{}")
	}
	keep(dir, "gemini-2026-11-24T10-00-00-000Z", strings.Repeat("x", maxTroubleSize+1))
	keep("", "gemini-2026-11-24T10-00-00-000Z", "{}")
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	start := time.Now().Add(-time.Hour)
	for n := range maxTroubles + 3 {
		name := fmt.Sprintf("gemini-2026-11-24T10-00-%02d-000Z", n)
		keep(dir, name, fmt.Sprintf(`{"n":%d}`, n))
		if err := os.Chtimes(filepath.Join(dir, name+".json"), start, start.Add(time.Duration(n)*time.Second)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	keep(dir, "claude-2026-11-24T11-00-00-000Z", "{}")
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != maxTroubles+1 {
		t.Errorf("%d files, %v; want the last %d and the one that is not ours", len(files), err, maxTroubles)
	}
	info, err := os.Stat(filepath.Join(dir, "claude-2026-11-24T11-00-00-000Z.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "gemini-2026-11-24T10-00-00-000Z.json")); !os.IsNotExist(err) {
		t.Errorf("the oldest is still there: %v", err)
	}
}
