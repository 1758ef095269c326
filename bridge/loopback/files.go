package loopback

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// ReplaceFile replaces the file at path in one step. Only its owner may read it.
func ReplaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".portolan-*") // made with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// lockAge is the age at which a lock file counts as left behind. One from the future is, too: the clock was set back.
const lockAge = 10 * time.Second

// Lock creates a lock file. Only one process at a time can create it.
func Lock(path string) (unlock func(), err error) {
	for range 200 {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return func() { _ = os.Remove(path) }, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if stat, err := os.Stat(path); err == nil && time.Since(stat.ModTime()).Abs() > lockAge {
			_ = os.Remove(path)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is held by another process", path)
}
