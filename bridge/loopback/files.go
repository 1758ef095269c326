package loopback

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// ConfigDir returns the folder of Portolan's files: dir, or portolan in [os.UserConfigDir] if it is empty.
func ConfigDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the configuration folder: %w", err)
	}
	return filepath.Join(config, "portolan"), nil
}

// CheckFile refuses a file of secrets that others may read, and what is no file: to read a pipe might never end.
func CheckFile(path string, stat fs.FileInfo) error {
	switch {
	case !stat.Mode().IsRegular():
		return fmt.Errorf("%s is not a file: move it away and pair again", path)
	case runtime.GOOS != "windows" && stat.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s may be read by others (mode %04o): remove it and pair again, or chmod 600 it",
			path, stat.Mode().Perm())
	}
	return nil
}

// ReplaceFile replaces the file at path in one step. Only its owner may read it. The caller holds the lock of the file.
// So its next version has one name, and what a killed process left there goes.
func ReplaceFile(path string, text []byte) error {
	if behind, err := filepath.EvalSymlinks(path); err == nil { // else what was revoked would stay behind a link
		path = behind
	}
	next := path + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(next)
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// lockAge is the age at which a lock file counts as left behind. One from the future is, too: the clock was set back.
const lockAge = 10 * time.Second

// Lock creates a lock file. Only one process at a time can create it. unlock leaves the lock of another process, which
// has taken over one that was held for too long.
func Lock(path string) (unlock func(), err error) {
	for range 200 {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			own, err := f.Stat()
			return func() {
				takeAway(path, func(held fs.FileInfo) bool {
					return own == nil || os.SameFile(own, held) && own.ModTime().Equal(held.ModTime())
				})
			}, errors.Join(err, f.Close())
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		takeAway(path, wasLeft)
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is held by another process: try again in %d seconds", path, int(lockAge.Seconds()))
}

func wasLeft(lock fs.FileInfo) bool { return time.Since(lock.ModTime()).Abs() > lockAge }

// takeAway removes a lock file if it is such a one. Another process may replace it at any time. So it gets another name
// first, under which nobody else has it. A wrong one gets its name back.
func takeAway(path string, isSuch func(fs.FileInfo) bool) {
	if lock, err := os.Stat(path); err != nil || !isSuch(lock) {
		return
	}
	aside := path + "." + rand.Text()
	if os.Rename(path, aside) != nil {
		return
	}
	if lock, err := os.Stat(aside); err == nil && !isSuch(lock) {
		_ = os.Link(aside, path)
	}
	_ = os.Remove(aside)
}
