package loopback

import (
	"errors"
	"fmt"
	"time"
)

// errHeld is the error of openLocked if another process has the lock.
var errHeld = errors.New("held by another process")

// Lock takes the lock of a file, which it creates. Only one process at a time has it. The system releases it when that
// process ends, so none is left behind.
func Lock(path string) (unlock func(), err error) {
	for range 200 {
		f, err := openLocked(path)
		switch {
		case err == nil:
			return func() { release(f, path) }, nil
		case !errors.Is(err, errHeld):
			return nil, err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is held by another process, which may be stopped: try again once it goes on or has ended", path)
}
