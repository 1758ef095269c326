package main

import (
	"fmt"
	"os"
	"sync"
)

// Bounds on log files: the current one, and those before it.
const (
	maxLogFile  = 10 << 20
	maxLogFiles = 5
)

// A logFile is a file that is renamed to NAME.1, NAME.2 … when it is full. Only the user
// can read it.
type logFile struct {
	path string
	most int64 // bytes of one file

	mu   sync.Mutex
	file *os.File
	size int64
	bare bool // a device or a pipe, which is neither renamed nor given another mode
}

func openLog(path string) (*logFile, error) {
	l := &logFile{path: path, most: maxLogFile}
	return l, l.open()
}

func (l *logFile) open() error {
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = file.Chmod(0o600) // it may be an older file
	}
	if err != nil {
		_ = file.Close()
		return err
	}
	l.file, l.size, l.bare = file, info.Size(), !info.Mode().IsRegular()
	return nil
}

// Write implements [io.Writer]. An entry is never split over two files.
func (l *logFile) Write(entry []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(entry)) > l.most && l.size > 0 && !l.bare {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(entry)
	l.size += int64(n)
	return n, err
}

func (l *logFile) rotate() error {
	_ = l.file.Close()
	for i := maxLogFiles - 1; i > 0; i-- {
		older := l.path
		if i > 1 {
			older = fmt.Sprintf("%s.%d", l.path, i-1)
		}
		if err := os.Rename(older, fmt.Sprintf("%s.%d", l.path, i)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return l.open()
}

// Close closes the current file.
func (l *logFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
