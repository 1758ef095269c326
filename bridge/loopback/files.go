package loopback

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// ConfigDir returns the folder of Portolan's files: dir, or portolan in [os.UserConfigDir] if it is empty.
func ConfigDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the configuration folder: %w; --dir names another", err)
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

// ChangeFile replaces the file at path by the JSON of what change returns. A lock keeps other processes from changing
// it meanwhile. Errors name the content of the file.
func ChangeFile(path, content string, change func() (any, error)) error {
	unlock, err := Lock(path + ".lock")
	if err != nil {
		return fmt.Errorf("change %s: %w", content, err)
	}
	defer unlock()
	now, err := change()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	if err := ReplaceFile(path, append(text, '\n')); err != nil {
		return fmt.Errorf("write %s: %w", content, err)
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
