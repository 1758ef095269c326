package bridge

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/loopback"
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
	dir, err := loopback.ConfigDir(dir)
	if err != nil {
		return nil, err
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
	stat, err := os.Stat(s.path)
	if err == nil {
		err = loopback.CheckFile(s.path, stat)
	}
	if err != nil {
		return nil, fmt.Errorf("read pairings: %w", err)
	}
	f, err := os.Open(s.path)
	if err != nil {
		return nil, fmt.Errorf("read pairings: %w", err)
	}
	defer f.Close()
	var out secrets
	// The decoder's errors could quote the file.
	if json.NewDecoder(f).Decode(&out) != nil || out.Version != 1 || len(out.Token) < 32 ||
		len(out.Local) != handshake.Size {
		return nil, fmt.Errorf("%s is not a file of this version of the bridge: move it away and pair again", s.path)
	}
	return &out, nil
}

// change lets fn change the secrets in the file.
func (s *store) change(fn func(*secrets) error) error {
	if s.memory != nil {
		return errors.New("an ephemeral bridge keeps no pairings")
	}
	return loopback.ChangeFile(s.path, "pairings", func() (any, error) {
		now, err := s.load()
		if errors.Is(err, fs.ErrNotExist) {
			fresh := newSecrets()
			now, err = &fresh, nil
		}
		if err != nil {
			return nil, err
		}
		return now, fn(now)
	})
}

// ephemeralKey returns the key that an extension proves to an ephemeral bridge:
// SHA-256("portolan-ephemeral-1" ‖ 0 ‖ token).
func ephemeralKey(token string) []byte {
	sum := sha256.Sum256([]byte("portolan-ephemeral-1\x00" + token))
	return sum[:]
}
