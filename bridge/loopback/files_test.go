package loopback_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// A process that is killed leaves its lock behind. Another one takes it, also after the clock was set back.
func TestLocksThatWereLeftBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for _, age := range []time.Duration{time.Minute, -time.Hour} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(path, then, then); err != nil {
			t.Fatal(err)
		}
		unlock, err := loopback.Lock(path)
		if err != nil {
			t.Errorf("a lock that is %v old: %v", age, err)
			continue
		}
		if _, err := loopback.Lock(path); err == nil {
			t.Error("two have the lock")
		}
		unlock()
	}
}
