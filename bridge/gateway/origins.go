package gateway

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// validOrigin reports whether text is the origin of a page or an extension.
func validOrigin(text string) bool {
	return len(text) <= 300 && (loopback.PageOrigin(text) || loopback.ExtensionOrigin.MatchString(text))
}

// An Origin is one that may use the gateway.
type Origin struct {
	Origin string    `json:"origin"`
	At     time.Time `json:"at"` // of the last pairing
	// Hashes are SHA-256 of its tokens. Each pairing makes one, so that an older page of
	// the origin goes on.
	Hashes []string `json:"hashes"`
}

// grants are the origins that may use the gateway.
type grants struct {
	Version int      `json:"version"`
	Origins []Origin `json:"origins"`
}

const (
	maxTokens  = 10  // of one origin; the oldest goes
	maxOrigins = 100 // the one that was paired first goes
)

// owner returns the origin that a token admits, or "".
func (g *grants) owner(token string) (owner string) {
	hash := hashOf(token)
	for _, o := range g.Origins {
		for _, known := range o.Hashes {
			if loopback.EqualSecrets(hash, known) { // all are compared, so that the time tells nothing
				owner = o.Origin
			}
		}
	}
	return owner
}

func (g *grants) knows(origin string) bool {
	return slices.ContainsFunc(g.Origins, func(o Origin) bool { return o.Origin == origin })
}

func (g *grants) add(origin, token string) {
	i := slices.IndexFunc(g.Origins, func(o Origin) bool { return o.Origin == origin })
	if i < 0 {
		if len(g.Origins) >= maxOrigins {
			g.Origins = g.Origins[1:]
		}
		i = len(g.Origins)
		g.Origins = append(g.Origins, Origin{Origin: origin})
	}
	o := &g.Origins[i]
	o.At = time.Now().UTC().Truncate(time.Second)
	if o.Hashes = append(o.Hashes, hashOf(token)); len(o.Hashes) > maxTokens {
		o.Hashes = o.Hashes[1:]
	}
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte("portolan-gateway-1 token\x00" + token))
	return hex.EncodeToString(sum[:])
}

// tokenOf writes the key of a pairing as a bearer token.
func tokenOf(key []byte) string { return base64.RawURLEncoding.EncodeToString(key) }

// origins is the file of grants, and those of this run. Other processes may change the
// file at any time.
type origins struct {
	path string

	mu     sync.Mutex
	run    grants // allowed until the gateway ends
	read   *grants
	readAt os.FileInfo // of the file when it was read
}

// openOrigins opens the file in dir. It may be missing until the first pairing.
func openOrigins(dir string) (*origins, error) {
	dir, err := loopback.ConfigDir(dir)
	if err != nil {
		return nil, err
	}
	o := &origins{path: filepath.Join(dir, "gateway.json")}
	_, err = o.load()
	return o, err
}

func (o *origins) allow(origin string) (token string) {
	token = tokenOf(handshake.Random())
	o.mu.Lock()
	defer o.mu.Unlock()
	o.run.add(origin, token)
	return token
}

// load returns all grants. It reads the file if that has changed.
func (o *origins) load() (*grants, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept, err := o.file()
	if err != nil {
		return nil, err
	}
	return &grants{Origins: slices.Concat(kept.Origins, o.run.Origins)}, nil
}

// file returns the grants of the file. o.mu is held.
func (o *origins) file() (*grants, error) {
	stat, err := os.Stat(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		o.read, o.readAt = nil, nil
		return &grants{Version: 1}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the admitted origins: %w", err)
	}
	if o.read != nil && os.SameFile(stat, o.readAt) && stat.ModTime().Equal(o.readAt.ModTime()) && stat.Size() == o.readAt.Size() {
		return o.read, nil
	}
	if err := loopback.CheckFile(o.path, stat); err != nil {
		return nil, fmt.Errorf("read the admitted origins: %w", err)
	}
	text, err := os.ReadFile(o.path)
	if err != nil {
		return nil, fmt.Errorf("read the admitted origins: %w", err)
	}
	var out grants
	if json.Unmarshal(text, &out) != nil || out.Version != 1 {
		return nil, fmt.Errorf("%s is not a file of this version of the gateway: move it away and pair again", o.path)
	}
	o.read, o.readAt = &out, stat
	return &out, nil
}

// change lets fn change the grants in the file.
func (o *origins) change(fn func(*grants) error) error {
	if err := os.MkdirAll(filepath.Dir(o.path), 0o700); err != nil {
		return fmt.Errorf("make the configuration folder: %w", err)
	}
	return loopback.ChangeFile(o.path, "the admitted origins", func() (any, error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		now, err := o.file()
		if err != nil {
			return nil, err
		}
		fresh := grants{Version: 1}
		for _, one := range now.Origins {
			one.Hashes = slices.Clone(one.Hashes)
			fresh.Origins = append(fresh.Origins, one)
		}
		o.read, o.readAt = nil, nil
		return &fresh, fn(&fresh)
	})
}

// Origins returns the origins that were paired; dir is as Options.Dir.
func Origins(dir string) ([]Origin, error) {
	o, err := openOrigins(dir)
	if err != nil {
		return nil, err
	}
	all, err := o.load()
	if err != nil {
		return nil, err
	}
	return all.Origins, nil
}

// Revoke takes all tokens of a paired origin away. A running gateway ends its sessions
// within a second.
func Revoke(dir, origin string) error {
	o, err := openOrigins(dir)
	if err != nil {
		return err
	}
	return o.change(func(g *grants) error {
		i := slices.IndexFunc(g.Origins, func(o Origin) bool { return o.Origin == origin })
		if i < 0 {
			return fmt.Errorf("%s was not paired", origin)
		}
		g.Origins = slices.Delete(g.Origins, i, i+1)
		return nil
	})
}
