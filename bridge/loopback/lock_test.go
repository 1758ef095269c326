package loopback_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// A process that is killed leaves a file behind, and no lock. Of several processes that find the file, one has the
// lock at a time.
func TestOneOfSeveralTakesALockThatWasLeftBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, age := range []time.Duration{0, time.Minute, -time.Hour} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		var held atomic.Int32
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				unlock, err := loopback.Lock(path)
				if err != nil {
					t.Errorf("a file that is %v old: %v", age, err)
					return
				}
				if n := held.Add(1); n != 1 {
					t.Errorf("%d have the lock", n)
				}
				held.Add(-1)
				unlock()
			})
		}
		all.Wait()
	}
}

// A computer may sleep while a process has a lock. The process has it still, and goes on.
func TestALockIsHeldUntilItIsReleased(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := loopback.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	if _, err := loopback.Lock(path); err == nil || !strings.Contains(err.Error(), "held by another process") {
		t.Errorf("%v: two have the lock", err)
	}
	unlock()
	if unlock, err = loopback.Lock(path); err != nil {
		t.Fatal(err)
	}
	unlock()
}

const pathForChild = "PORTOLAN_TEST_LOCK"

// A process that is killed has no lock any more, and the next one needs not wait until the file is old.
func TestAKilledProcessHoldsNoLock(t *testing.T) {
	if path := os.Getenv(pathForChild); path != "" {
		if _, err := loopback.Lock(path); err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
		return
	}
	path := filepath.Join(t.TempDir(), "lock")
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), pathForChild+"="+path)
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said, err := bufio.NewReader(out).ReadString('\n')
	_ = child.Process.Kill()
	_ = child.Wait()
	if said != "locked\n" {
		t.Fatalf("%q, %v", said, err)
	}
	unlock, err := loopback.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
