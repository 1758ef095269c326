package bridge

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

const (
	maxTroubles    = 20
	maxTroubleSize = 256 << 10
)

var troubleName = regexp.MustCompile(`^[a-z]{2,20}-[0-9TZ-]{10,40}$`)

// A troubles writes the bundles that extensions make about failed and suspicious chats. The
// last 20 files are kept. Its method may be called from any goroutine.
type troubles struct {
	dir string // nothing is written if empty
	mu  sync.Mutex
}

// keep writes a bundle: {"name", "file"}, where the file is a text. The name begins with the
// chat, and a time follows. It ignores anything else.
func (t *troubles) keep(params json.RawMessage) error {
	var p struct{ Name, File string }
	if t.dir == "" || json.Unmarshal(params, &p) != nil || !troubleName.MatchString(p.Name) || len(p.File) > maxTroubleSize {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := os.MkdirAll(t.dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(t.dir, p.Name+".json"), []byte(p.File), 0o600); err != nil {
		return err
	}
	return t.dropOldest()
}

func (t *troubles) dropOldest() error {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	for _, e := range entries {
		name, isJSON := strings.CutSuffix(e.Name(), ".json")
		info, err := e.Info()
		if isJSON && err == nil && info.Mode().IsRegular() && troubleName.MatchString(name) {
			files = append(files, info)
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files[:max(0, len(files)-maxTroubles)] {
		if err := os.Remove(filepath.Join(t.dir, f.Name())); err != nil {
			return err
		}
	}
	return nil
}
