package loopback

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Two processes find a lock that was left behind. The second one comes when the first one has made its own lock of it.
func TestTheLockOfAFasterProcessStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	var unlock func()
	takeAway(path, func(lock fs.FileInfo) bool {
		left := wasLeft(lock)
		if unlock == nil {
			var err error
			if unlock, err = Lock(path); err != nil {
				t.Fatal(err)
			}
		}
		return left
	})
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	unlock()
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) > 0 {
		t.Errorf("%v is left", files)
	}
}

// A computer that sleeps with a lock has lost it to another process.
func TestUnlockLeavesTheLockOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	slept, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	slept()
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	unlock()
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) > 0 {
		t.Errorf("%v is left", files)
	}
}
