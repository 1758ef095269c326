package handshake

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
)

// The roles of clients.
const (
	RoleExtension = "extension"
	RoleLocal     = "local" // another process of the same user
)

// A Client is the side that dials the bridge and proves its key.
type Client struct {
	Role      string
	InstallID string
	Origin    string // the extension's; empty for a local process
	Address   string // the host and port that were dialled
	Key       []byte
}

func (c Client) mac(side string, client, bridge Bytes) []byte {
	h := hmac.New(sha256.New, c.Key)
	h.Write(joined("portolan-connect-1 "+side, []byte(c.Role), []byte(c.Origin), []byte(c.Address), []byte(c.InstallID),
		client, bridge))
	return h.Sum(nil)
}

// Connect is the client's side. It returns nil once both sides have proved the key. It
// sends its proof only after the bridge's proof was right.
func Connect(ctx context.Context, p Pipe, c Client) (err error) {
	defer func() { Refuse(ctx, p, err) }()
	nonce := Random()
	hello := Message{
		Type: "hello", Version: Version, Role: c.Role, InstallID: c.InstallID, Address: c.Address, Nonce: nonce,
	}
	if err := send(ctx, p, hello); err != nil {
		return err
	}
	m, err := receive(ctx, p, "challenge")
	if err != nil {
		return err
	}
	if len(m.Nonce) != Size || bytes.Equal(m.Nonce, nonce) || !hmac.Equal(m.MAC, c.mac("bridge", nonce, m.Nonce)) {
		return refuse(CodeBadProof, "the program on "+c.Address+" does not have the key: it is not the paired bridge")
	}
	if err := send(ctx, p, Message{Type: "proof", MAC: c.mac("client", nonce, m.Nonce)}); err != nil {
		return err
	}
	_, err = receive(ctx, p, "ready")
	return err
}

// Accept is the bridge's side of a connection that began with the message hello. c
// describes the client, as the message and the HTTP request did, and holds its key.
func Accept(ctx context.Context, p Pipe, hello Message, c Client) error {
	if hello.Type != "hello" || len(hello.Nonce) != Size {
		return refuse(CodeBadMessage, "want hello with a nonce")
	}
	if len(c.Key) != Size {
		return refuse(CodeNotPaired, "this browser profile is not paired with the bridge")
	}
	nonce := Random()
	err := send(ctx, p, Message{Type: "challenge", Nonce: nonce, MAC: c.mac("bridge", hello.Nonce, nonce)})
	if err != nil {
		return err
	}
	m, err := receive(ctx, p, "proof")
	if err != nil {
		return err
	}
	if !hmac.Equal(m.MAC, c.mac("client", hello.Nonce, nonce)) {
		return refuse(CodeBadProof, "the proof is wrong")
	}
	return send(ctx, p, Message{Type: "ready"})
}
