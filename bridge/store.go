package bridge

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/bridge/handshake"
)

// A Pairing is a browser profile that is paired with the bridge.
type Pairing struct {
	InstallID string    `json:"installId"`
	Origin    string    `json:"origin"`
	Label     string    `json:"label"`
	PairedAt  time.Time `json:"pairedAt"`
}

type pairedClient struct {
	Pairing
	Key handshake.Bytes `json:"key"`
}

// secrets is the content of the bridge's file, kept between runs.
type secrets struct {
	Version int             `json:"version"`
	Token   string          `json:"token"` // of HTTP clients
	Local   handshake.Bytes `json:"local"` // key of this user's other processes
	Clients []pairedClient  `json:"clients"`
}

func newSecrets() secrets {
	// The token is 32 letters and digits: 160 random bits.
	return secrets{Version: 1, Token: (rand.Text() + rand.Text())[:32], Local: handshake.Random()}
}

// client returns the index of a paired profile, or -1.
func (s *secrets) client(installID string) int {
	return slices.IndexFunc(s.Clients, func(c pairedClient) bool { return c.InstallID == installID })
}

func (s *secrets) knowsOrigin(origin string) bool {
	return slices.ContainsFunc(s.Clients, func(c pairedClient) bool { return c.Origin == origin })
}

// A store is the file of secrets. An ephemeral bridge has them in memory only. Other
// processes may change the file at any time, so load reads it each time.
type store struct {
	path   string   // empty if ephemeral
	memory *secrets // if ephemeral; never changed
}

// openStore opens the file of secrets in dir, and creates it if it is missing.
func openStore(dir string) (*store, error) {
	if dir == "" {
		config, err := os.UserConfigDir()
		if err != nil {
			return nil, fmt.Errorf("find the configuration folder: %w", err)
		}
		dir = filepath.Join(config, "portolan")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the configuration folder: %w", err)
	}
	s := &store{path: filepath.Join(dir, "bridge.json")}
	if _, err := s.load(); !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	return s, s.change(func(*secrets) error { return nil })
}

func (s *store) load() (*secrets, error) {
	if s.memory != nil {
		return s.memory, nil
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("read pairings: %w", err)
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read pairings: %w", err)
	}
	if runtime.GOOS != "windows" && stat.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s may be read by others (mode %04o): remove it and pair again, or chmod 600 it",
			s.path, stat.Mode().Perm())
	}
	var out secrets
	// The decoder's errors could quote the file.
	if json.NewDecoder(f).Decode(&out) != nil || out.Version != 1 || len(out.Token) < 32 ||
		len(out.Local) != handshake.Size {
		return nil, fmt.Errorf("%s is not a file of this version of the bridge", s.path)
	}
	return &out, nil
}

// change lets fn change the secrets, and replaces the file as a whole. A lock keeps
// other processes from changing it meanwhile.
func (s *store) change(fn func(*secrets) error) error {
	if s.memory != nil {
		return errors.New("an ephemeral bridge keeps no pairings")
	}
	unlock, err := lock(s.path + ".lock")
	if err != nil {
		return fmt.Errorf("change pairings: %w", err)
	}
	defer unlock()
	now, err := s.load()
	if errors.Is(err, fs.ErrNotExist) {
		fresh := newSecrets()
		now, err = &fresh, nil
	}
	if err != nil {
		return err
	}
	if err := fn(now); err != nil {
		return err
	}
	text, err := json.MarshalIndent(now, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(s.path, append(text, '\n')); err != nil {
		return fmt.Errorf("write pairings: %w", err)
	}
	return nil
}

// replaceFile replaces the file at path in one step. Only its owner may read it.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bridge-*") // made with mode 0600
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

// lockAge is the age at which a lock file counts as left behind.
const lockAge = 10 * time.Second

// lock creates a lock file. Only one process at a time can create it.
func lock(path string) (unlock func(), err error) {
	for range 200 {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err == nil {
			return func() { _ = os.Remove(path) }, f.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if stat, err := os.Stat(path); err == nil && time.Since(stat.ModTime()) > lockAge {
			_ = os.Remove(path)
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("%s is held by another process", path)
}

// ephemeralKey returns the key that an extension proves to an ephemeral bridge:
// SHA-256("portolan-ephemeral-1" ‖ 0 ‖ token).
func ephemeralKey(token string) []byte {
	sum := sha256.Sum256([]byte("portolan-ephemeral-1\x00" + token))
	return sum[:]
}

// equalSecrets compares in constant time. The lengths do not change the time.
func equalSecrets(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
