package bridge

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// proofTimeout limits the proof of a client.
const proofTimeout = 5 * time.Second

// accept upgrades an admitted request to a WebSocket and calls serve. It refuses when
// too many sockets are open. Until the peer has proved itself, the limits on its
// messages are low. A socket for which serve has called free is not counted any more.
func (b *Bridge) accept(w http.ResponseWriter, req *http.Request, serve func(ctx context.Context, c *socket.Conn, free func())) {
	b.sockets.Add(1)
	defer b.sockets.Done()
	ws, below, err := loopback.Upgrade(w, req)
	if err != nil {
		return
	}
	c := socket.New(ws, below, socket.Limits{Frame: handshake.MaxMessage, Depth: 4, PerSecond: 10})
	defer c.Close()
	select {
	case b.slots <- struct{}{}:
	default:
		c.CloseWith(websocket.StatusTryAgainLater, "too many connections")
		return
	}
	free := sync.OnceFunc(func() { <-b.slots })
	defer free()
	serve(req.Context(), c, free)
}

// serveExtension is the endpoint of extensions. It refuses all other clients.
func (b *Bridge) serveExtension(w http.ResponseWriter, req *http.Request) {
	origin, d := extensionOnly(req)
	if d != nil {
		d.Write(w)
		return
	}
	s, d := b.secrets()
	if d != nil {
		d.Write(w)
		return
	}
	// While no profile is paired, any extension may connect to read how to pair.
	if !b.opts.Ephemeral && len(s.Clients) > 0 && !s.knowsOrigin(origin) && !b.pairing() {
		loopback.Deny(http.StatusForbidden, "this extension is not the paired one").Write(w)
		return
	}
	b.accept(w, req, func(ctx context.Context, c *socket.Conn, _ func()) {
		err := b.authenticate(ctx, req, c, origin)
		if r, ok := errors.AsType[*handshake.Refusal](err); ok {
			b.opts.Logger.Info("a connection was refused", "origin", origin, "reason", r.Error())
			handshake.Refuse(ctx, c, err)
			c.CloseWith(websocket.StatusPolicyViolation, r.Code)
		} else if errors.Is(err, context.DeadlineExceeded) {
			c.CloseWith(websocket.StatusPolicyViolation, "Authentication timeout")
		}
	})
}

// secrets returns the pairings and the token. It logs why they cannot be read.
func (b *Bridge) secrets() (*secrets, *loopback.Denial) {
	s, err := b.store.load()
	if err != nil {
		b.opts.Logger.Error("the pairings cannot be read", "error", err)
		return nil, loopback.Deny(http.StatusInternalServerError, unreadable)
	}
	return s, nil
}

const unreadable = "the bridge cannot read its pairings"

// authenticate pairs or connects an extension, as its first message asks.
func (b *Bridge) authenticate(ctx context.Context, req *http.Request, c *socket.Conn, origin string) error {
	first, err := handshake.First(ctx, c)
	if err != nil {
		return err
	}
	if !loopback.IsDialled(first.Address, req) {
		return refuse(handshake.CodeWrongTarget, "the address that was dialled is not this bridge's")
	}
	if first.Type == "pair" {
		return b.pair(ctx, c, first, origin)
	}
	who := Pairing{InstallID: first.InstallID, Origin: origin}
	if first.Type != "hello" || first.Role != handshake.RoleExtension || who.InstallID == "" {
		return refuse(handshake.CodeBadMessage, "Authentication required")
	}
	if wait := b.attempts.Wait(origin+" "+who.InstallID, time.Now()); wait > 0 {
		return refuse(handshake.CodeTooMany, "too many wrong proofs; try again in "+wait.Round(time.Second).String())
	}
	key, err := b.key(&who)
	if err != nil { // NOT_PAIRED would tell the person to pair again
		c.CloseWith(websocket.StatusInternalError, unreadable)
		return err
	}
	err = b.prove(ctx, c, first, handshake.Client{
		Role: handshake.RoleExtension, InstallID: who.InstallID, Origin: origin, Address: first.Address, Key: key,
	})
	if err != nil {
		return err
	}
	b.attempts.Reset(origin + " " + who.InstallID)
	b.serveLink(ctx, c, who)
	return nil
}

func refuse(code, message string) error { return &handshake.Refusal{Code: code, Message: message} }

// prove runs the bridge's side of the proof. It counts wrong proofs of a client.
func (b *Bridge) prove(ctx context.Context, c *socket.Conn, first handshake.Message, who handshake.Client) error {
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	err := handshake.Accept(ctx, c, first, who)
	if r, ok := errors.AsType[*handshake.Refusal](err); ok && r.Code == handshake.CodeBadProof && !r.Remote {
		b.attempts.Fail(who.Origin+" "+who.InstallID, time.Now())
	}
	return err
}

// key returns the key of a paired profile, and fills in its label and pairing time. It
// returns nil if the profile is not paired, or was paired by another extension. The error
// says why that is not known.
func (b *Bridge) key(who *Pairing) ([]byte, error) {
	s, err := b.store.load()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if b.opts.Ephemeral {
		who.Label = "browser"
		return ephemeralKey(s.Token), nil
	}
	i := s.client(who.InstallID)
	if i < 0 || s.Clients[i].Origin != who.Origin {
		return nil, nil
	}
	*who = s.Clients[i].Pairing
	return s.Clients[i].Key, nil
}

// serveLink relays to an extension that proved itself, until its connection ends.
func (b *Bridge) serveLink(ctx context.Context, c *socket.Conn, who Pairing) {
	c.Widen(b.opts.Limits)
	l := newLink(b, who, c)
	b.addLink(l)
	b.opts.Logger.Info("a browser connected", "profile", who.Label, "installId", who.InstallID)
	err := l.run(ctx)
	b.removeLink(l)
	b.opts.Logger.Info("a browser disconnected", "profile", who.Label, "reason", err)
}
