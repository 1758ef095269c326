package handshake

import (
	"context"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A Profile is a browser profile that asks to be paired.
type Profile struct {
	InstallID string
	Label     string // for people, such as "Chrome, Work"
	Origin    string
	Address   string // the host and port that the extension dialled
}

// An agreement is the result of both nonces: the digits, the key and the transcript.
type agreement struct {
	code       string
	key        []byte
	transcript []byte
}

// agree computes the digits and the key; own is this side's private key.
func agree(
	own *ecdh.PrivateKey, other *ecdh.PublicKey, extensionKey, bridgeKey, extensionNonce, bridgeNonce []byte, who Profile,
) (agreement, error) {
	secret, err := own.ECDH(other)
	if err != nil {
		return agreement{}, refuse(CodeBadMessage, "the public key is malformed")
	}
	fields := [][]byte{
		extensionKey, bridgeKey, extensionNonce, bridgeNonce, []byte(who.Origin), []byte(who.Address), []byte(who.InstallID),
	}
	a := agreement{transcript: joined("", fields...)[4:]} // mac writes the label first
	number := binary.BigEndian.Uint64(digest("portolan-pair-1 code", fields...)) % 1_000_000
	a.code = fmt.Sprintf("%06d", number)
	salt := append(append([]byte(nil), extensionNonce...), bridgeNonce...)
	a.key, err = hkdf.Key(sha256.New, secret, salt, string(joined("portolan-pair-1 key", fields...)), Size)
	return a, err
}

func (a agreement) mac(side string) []byte {
	h := hmac.New(sha256.New, a.key)
	h.Write(joined("portolan-pair-1 confirm " + side))
	h.Write(a.transcript)
	return h.Sum(nil)
}

func commitment(bridgeKey, extensionKey, bridgeNonce []byte) []byte {
	return digest("portolan-pair-1 commitment", bridgeKey, extensionKey, bridgeNonce)
}

// publicKey reads a point; a point off the curve is refused there.
func publicKey(raw []byte) (*ecdh.PublicKey, error) {
	key, err := ecdh.P256().NewPublicKey(raw)
	if err != nil {
		return nil, refuse(CodeBadMessage, "the public key is malformed")
	}
	return key, nil
}

// Pair is the extension's side. typed returns the digits that the person read in the
// terminal. It is called once, and wrong digits end the attempt. Pair returns the key
// after the confirmation in the terminal.
func Pair(
	ctx context.Context, p Pipe, who Profile, typed func(context.Context) (string, error),
) (key []byte, err error) {
	defer func() { Refuse(ctx, p, err) }()
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	extensionKey := own.PublicKey().Bytes()
	err = send(ctx, p, Message{
		Type: "pair", Version: Version, InstallID: who.InstallID, Label: who.Label, Address: who.Address,
		PublicKey: extensionKey,
	})
	if err != nil {
		return nil, err
	}
	commit, err := receive(ctx, p, "pair-commit")
	if err != nil {
		return nil, err
	}
	other, err := publicKey(commit.PublicKey)
	if err != nil {
		return nil, err
	}
	nonce := Random()
	if err := send(ctx, p, Message{Type: "pair-nonce", Nonce: nonce}); err != nil {
		return nil, err
	}
	reveal, err := receive(ctx, p, "pair-reveal")
	if err != nil {
		return nil, err
	}
	committed := commitment(commit.PublicKey, extensionKey, reveal.Nonce)
	if len(reveal.Nonce) != Size || !hmac.Equal(commit.Commitment, committed) {
		return nil, refuse(CodeBadProof, "the bridge's nonce is not the one it committed to")
	}
	a, err := agree(own, other, extensionKey, commit.PublicKey, nonce, reveal.Nonce, who)
	if err != nil {
		return nil, err
	}
	digits, err := typed(ctx)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal([]byte(digits), []byte(a.code)) {
		return nil, refuse(CodeDeclined, "the digits differ: this is not the bridge that shows them")
	}
	if err := send(ctx, p, Message{Type: "pair-confirm", MAC: a.mac("extension")}); err != nil {
		return nil, err
	}
	done, err := receive(ctx, p, "pair-done")
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(done.MAC, a.mac("bridge")) {
		return nil, refuse(CodeBadProof, "the bridge's confirmation is wrong")
	}
	return a.key, nil
}

// nonceTime is how long an extension may take to send its nonce. No person is asked for it.
const nonceTime = 10 * time.Second

// AcceptPair is the bridge's side of a pairing that began with the message first.
//
// confirm shows the digits to the person. It returns nil if the person says that the
// extension accepted them. confirmed is closed when the extension has confirmed. keep
// stores the key before the extension receives pair-done.
func AcceptPair(ctx context.Context, p Pipe, first Message, who Profile,
	confirm func(ctx context.Context, code string, confirmed <-chan struct{}) error, keep func(key []byte) error) error {
	if first.Type != "pair" || first.InstallID == "" {
		return refuse(CodeBadMessage, "want pair with an install id")
	}
	other, err := publicKey(first.PublicKey)
	if err != nil {
		return err
	}
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	bridgeKey, nonce := own.PublicKey().Bytes(), Random()
	committed := commitment(bridgeKey, first.PublicKey, nonce)
	err = send(ctx, p, Message{Type: "pair-commit", PublicKey: bridgeKey, Commitment: committed})
	if err != nil {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, nonceTime)
	theirs, err := receive(soon, p, "pair-nonce")
	cancel()
	if err != nil {
		return err
	}
	if len(theirs.Nonce) != Size {
		return refuse(CodeBadMessage, "the nonce is malformed")
	}
	if err := send(ctx, p, Message{Type: "pair-reveal", Nonce: nonce}); err != nil {
		return err
	}
	a, err := agree(own, other, first.PublicKey, bridgeKey, theirs.Nonce, nonce, who)
	if err != nil {
		return err
	}
	if err := bothConfirm(ctx, p, a, confirm); err != nil {
		return err
	}
	if err := keep(a.key); err != nil {
		if _, refused := errors.AsType[*Refusal](err); !refused {
			Refuse(ctx, p, refuse(CodeNotKept, "the key could not be stored, and the terminal says why"))
		}
		return err
	}
	return send(ctx, p, Message{Type: "pair-done", MAC: a.mac("bridge")})
}

// bothConfirm waits for the extension's MAC and for the person's confirmation at the
// same time, because the person reads the digits in the terminal. A wrong MAC or a
// closed connection ends the question. A person's no ends the wait for the MAC.
func bothConfirm(ctx context.Context, p Pipe, a agreement,
	confirm func(context.Context, string, <-chan struct{}) error) error {
	asking, stopAsking := context.WithCancel(ctx)
	defer stopAsking()
	receiving, stopReceiving := context.WithCancel(ctx)
	defer stopReceiving()
	confirmed, asked := make(chan struct{}), make(chan error, 1)
	go func() {
		err := confirm(asking, a.code, confirmed)
		if err != nil && asking.Err() == nil {
			err = refuse(CodeDeclined, "the pairing was not confirmed in the terminal")
			Refuse(ctx, p, err) // now: a receive that is cut off may close the pipe
		}
		if err != nil {
			stopReceiving()
		}
		asked <- err
	}()
	m, err := receive(receiving, p, "pair-confirm")
	if err == nil && !hmac.Equal(m.MAC, a.mac("extension")) {
		err = refuse(CodeBadProof, "the extension's confirmation is wrong")
	}
	if err != nil {
		stopAsking()
		if said := <-asked; receiving.Err() != nil && ctx.Err() == nil && said != nil {
			return said
		}
		return err
	}
	close(confirmed)
	return <-asked
}
