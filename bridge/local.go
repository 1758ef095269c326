package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// A localMessage is a message between two processes of this user. It is sent after
// both have proved the key in their file. The first one names a command: "attach"
// (then both speak MCP), "pair", "clients" or "revoke".
type localMessage struct {
	Type      string        `json:"type"`
	Profile   string        `json:"profile,omitempty"`
	Project   string        `json:"project,omitempty"`
	InstallID string        `json:"installId,omitempty"`
	Who       *Pairing      `json:"who,omitempty"`
	Code      string        `json:"code,omitempty"`
	OK        bool          `json:"ok,omitempty"`
	Clients   []localClient `json:"clients,omitempty"`
	Message   string        `json:"message,omitempty"`
}

type localClient struct {
	Pairing
	Connected bool
}

// localLimits are the limits for this user's own processes. Their lists of tools can be
// longer than any message of an extension.
var localLimits = socket.Limits{Frame: 2 * maxListBytes, Depth: 256, PerSecond: 10_000}

func sendLocal(ctx context.Context, c *socket.Conn, m localMessage) error {
	return c.Send(ctx, encoded(m))
}

func receiveLocal(ctx context.Context, c *socket.Conn) (localMessage, error) {
	var m localMessage
	text, err := c.Receive(ctx)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, errors.New("the other process sent an unknown message")
	}
	if m.Type == "failed" {
		return m, errors.New(m.Message)
	}
	return m, nil
}

// serveLocal is the endpoint of this user's other processes. It refuses browsers.
func (b *Bridge) serveLocal(w http.ResponseWriter, req *http.Request) {
	if d := refuseBrowser(req); d != nil {
		d.Write(w)
		return
	}
	b.accept(w, req, func(ctx context.Context, c *socket.Conn, free func()) {
		if err := b.authenticateLocal(ctx, req, c); err != nil {
			handshake.Refuse(ctx, c, err)
			c.CloseWith(1008, "not admitted")
			return
		}
		free() // else many clients that attach would keep the browser out
		c.Widen(localLimits)
		m, err := receiveLocal(ctx, c)
		if err != nil {
			return
		}
		if m.Type == "attach" {
			if sendLocal(ctx, c, localMessage{Type: "attached"}) == nil {
				_ = b.serveClient(ctx, m.Profile, m.Project, func() { c.CloseWith(1001, "the bridge ends") }, c)
			}
			return
		}
		answer, err := b.command(ctx, c, m)
		if err != nil {
			answer = localMessage{Type: "failed", Message: err.Error()}
		}
		_ = sendLocal(ctx, c, answer)
	})
}

func (b *Bridge) authenticateLocal(ctx context.Context, req *http.Request, c *socket.Conn) error {
	first, err := handshake.First(ctx, c)
	if err != nil {
		return err
	}
	if first.Role != handshake.RoleLocal || !loopback.IsDialled(first.Address, req) {
		return refuse(handshake.CodeWrongTarget, "this is for local processes of the bridge's user")
	}
	s, err := b.store.load()
	if err != nil {
		return err
	}
	if b.opts.Ephemeral {
		return refuse(handshake.CodeNotPaired, "an ephemeral bridge admits no other process")
	}
	return b.prove(ctx, c, first, handshake.Client{
		Role: handshake.RoleLocal, InstallID: first.InstallID, Address: first.Address, Key: s.Local,
	})
}

func (b *Bridge) command(ctx context.Context, c *socket.Conn, m localMessage) (localMessage, error) {
	switch m.Type {
	case "clients":
		paired, err := b.Clients()
		answer := localMessage{Type: "clients"}
		for _, p := range paired {
			answer.Clients = append(answer.Clients, localClient{p, b.connected(p.InstallID)})
		}
		return answer, err
	case "revoke":
		return localMessage{Type: "revoked"}, b.Revoke(m.InstallID)
	case "pair":
		return b.pairThrough(ctx, c)
	}
	return localMessage{}, errors.New("the running bridge does not know this command; it may be older")
}

// pairThrough pairs a browser. The person confirms it in another process's terminal.
func (b *Bridge) pairThrough(ctx context.Context, c *socket.Conn) (localMessage, error) {
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan bool)
	read := make(chan struct{})
	go func() { // ends with the connection, which its owner closes
		defer close(read)
		defer cancel()
		for {
			m, err := receiveLocal(ctx, c)
			if err != nil || m.Type != "answer" {
				return
			}
			select {
			case answers <- m.OK:
			case <-ctx.Done():
				return
			}
		}
	}()
	opened := func() {
		if sendLocal(ctx, c, localMessage{Type: "open"}) != nil {
			cancel() // nobody is there to confirm
		}
	}
	who, err := b.openWindow(ctx, opened, func(ctx context.Context, who Pairing, code string, confirmed <-chan struct{}) error {
		if err := sendLocal(ctx, c, localMessage{Type: "code", Who: &who, Code: code}); err != nil {
			return err
		}
		for {
			select {
			case <-confirmed:
				confirmed = nil
				if err := sendLocal(ctx, c, localMessage{Type: "accepted"}); err != nil {
					return err
				}
			case ok := <-answers:
				if !ok || confirmed != nil {
					return errors.New("declined")
				}
				return nil
			case <-ctx.Done():
				_ = sendLocal(context.WithoutCancel(ctx), c, localMessage{Type: "left"})
				return ctx.Err()
			}
		}
	})
	answer := localMessage{Type: "paired", Who: &who}
	if err != nil {
		answer = localMessage{Type: "failed", Message: err.Error()}
	}
	_ = sendLocal(context.WithoutCancel(ctx), c, answer)
	c.Close()
	cancel()
	<-read
	return answer, nil
}
