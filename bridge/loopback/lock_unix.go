//go:build !windows

package loopback

import (
	"errors"
	"os"
	"syscall"
)

// openLocked opens a file and takes its lock.
func openLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil && isAt(f, path) {
		return f, nil
	}
	_ = f.Close()
	if err == nil || errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, &os.PathError{Op: "lock", Path: path, Err: err}
}

// release removes the file before others can have its lock.
func release(f *os.File, path string) {
	_ = os.Remove(path)
	_ = f.Close()
}

// isAt reports whether a path leads to an open file. Another process may have removed the file meanwhile.
func isAt(f *os.File, path string) bool {
	own, err := f.Stat()
	there, lost := os.Stat(path)
	return err == nil && lost == nil && os.SameFile(own, there)
}
