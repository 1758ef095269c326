package bridge

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

const (
	windowTime     = 3 * time.Minute
	windowAttempts = 3 // each is one guess of six digits
)

// An askFunc shows the digits to the person. It returns nil once the person says that the
// extension accepted them. confirmed is closed when the extension has confirmed.
type askFunc = func(ctx context.Context, who Pairing, code string, confirmed <-chan struct{}) error

// A window is one pairing window: the time in which a browser may be paired.
type window struct {
	ask askFunc
	ctx context.Context // of the window
	end context.CancelCauseFunc

	busy     sync.Mutex // held by the attempt under way
	failures int        // of attempts; guarded by busy
	paired   Pairing    // read after the window ended with errPaired
}

var (
	errPaired       = errors.New("a browser was paired")
	errWindowClosed = errors.New("three attempts failed; something else may be trying to be paired")
)

func (w *window) open() bool { return w.ctx.Err() == nil }

// Pair opens the pairing window and waits until a browser was paired. It gives up when
// ctx ends, after three minutes, or after three failed attempts.
func (b *Bridge) Pair(ctx context.Context, ask askFunc) (Pairing, error) {
	return b.openWindow(ctx, func() {}, ask)
}

// openWindow is [Bridge.Pair] that calls opened when browsers can pair.
func (b *Bridge) openWindow(ctx context.Context, opened func(), ask askFunc) (Pairing, error) {
	if b.opts.Ephemeral {
		return Pairing{}, errors.New("an ephemeral bridge is given its token, and not paired")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, windowTime, errors.New("nobody paired within three minutes"))
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w := &window{ask: ask, ctx: ctx, end: end}
	b.mu.Lock()
	if b.window != nil {
		b.mu.Unlock()
		return Pairing{}, errors.New("another pairing is under way")
	}
	b.window = w
	b.mu.Unlock()
	opened()
	<-ctx.Done()
	b.mu.Lock()
	b.window = nil
	b.mu.Unlock()
	if err := context.Cause(ctx); err != errPaired {
		return Pairing{}, err
	}
	return w.paired, nil
}

func (b *Bridge) currentWindow() *window {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.window
}

func (b *Bridge) pairing() bool {
	w := b.currentWindow()
	return w != nil && w.open()
}

// pair runs one attempt of an extension to be paired.
func (b *Bridge) pair(ctx context.Context, c *socket.Conn, first handshake.Message, origin string) error {
	closed := refuse(handshake.CodeNotPairing, "run portolan bridge pair first")
	w := b.currentWindow()
	if w == nil {
		return closed
	}
	if !w.busy.TryLock() {
		return refuse(handshake.CodeTooMany, "another browser is being paired")
	}
	defer w.busy.Unlock()
	if !w.open() {
		return closed
	}
	ctx, cancel := context.WithTimeout(ctx, windowTime)
	defer cancel()
	now := time.Now().UTC().Truncate(time.Second)
	who := Pairing{InstallID: first.InstallID, Origin: origin, Label: cmp.Or(first.Label, "browser"), PairedAt: now}
	profile := handshake.Profile{InstallID: who.InstallID, Label: who.Label, Origin: origin, Address: first.Address}
	var unkept error
	err := handshake.AcceptPair(ctx, c, first, profile,
		func(ctx context.Context, code string, confirmed <-chan struct{}) error {
			return w.ask(ctx, who, code, confirmed)
		},
		func(key []byte) error {
			if !w.open() { // the command or the time ended
				return refuse(handshake.CodeNotPairing, "the pairing was ended")
			}
			unkept = b.keep(who, key)
			return unkept
		})
	if unkept != nil { // another attempt would end like this one
		w.end(unkept)
	}
	if err != nil {
		if w.failures++; w.failures >= windowAttempts {
			w.end(errWindowClosed)
		}
		return err
	}
	w.paired = who
	w.end(errPaired)
	c.CloseWith(1000, "paired")
	return nil
}

// keep stores a pairing. It replaces an older one of the same profile.
func (b *Bridge) keep(who Pairing, key []byte) error {
	return b.store.change(func(s *secrets) error {
		fresh := pairedClient{who, key}
		if i := s.client(who.InstallID); i >= 0 {
			s.Clients[i] = fresh
		} else {
			s.Clients = append(s.Clients, fresh)
		}
		return nil
	})
}

// renamed keeps the name that the person has given a connected profile.
func (b *Bridge) renamed(l *link) {
	b.notify() // a client may have chosen the name
	if b.opts.Ephemeral {
		return
	}
	err := b.store.change(func(s *secrets) error {
		if i := s.client(l.InstallID); i >= 0 {
			s.Clients[i].Label = l.name()
		}
		return nil
	})
	if err != nil {
		b.opts.Logger.Warn("the name of a browser profile was not kept", "error", err)
	}
}

// Clients returns the paired browser profiles, in the order of their pairing. A profile that is connected has the name
// that its person has given it, which the file may get later.
func (b *Bridge) Clients() ([]Pairing, error) {
	s, err := b.store.load()
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []Pairing
	for _, c := range s.Clients {
		if l := b.links[c.InstallID]; l != nil {
			c.Label = l.name()
		}
		all = append(all, c.Pairing)
	}
	return all, nil
}

func (b *Bridge) connected(installID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.links[installID] != nil
}

// Revoke forgets a pairing and ends its connection.
func (b *Bridge) Revoke(installID string) error {
	err := b.store.change(func(s *secrets) error {
		i := s.client(installID)
		if i < 0 {
			return errors.New("no such browser profile is paired")
		}
		s.Clients = slices.Delete(s.Clients, i, i+1)
		return nil
	})
	if err != nil {
		return err
	}
	b.mu.Lock()
	l := b.links[installID]
	b.mu.Unlock()
	if l != nil {
		l.conn.CloseWith(1008, "revoked")
	}
	return nil
}
