package gateway

import (
	"strings"
	"sync"
)

// A ring keeps the last lines of a server's stderr, within a number of bytes. Its methods
// may be called from several goroutines.
type ring struct {
	mu    sync.Mutex
	limit int
	size  int
	lines []string
}

// maxLogLine bounds a line of the log, in bytes. More is read, so that a secret at the cut is whole when it is hidden.
const (
	maxLogLine  = 4 << 10
	longestRead = 2 * maxLogLine
)

func (r *ring) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
	r.size += len(line) + 1
	for r.size > r.limit && len(r.lines) > 0 {
		r.size -= len(r.lines[0]) + 1
		r.lines = r.lines[1:]
	}
}

func (r *ring) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, "\n")
}
