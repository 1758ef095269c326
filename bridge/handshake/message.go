package handshake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// MaxMessage is the size in bytes of the longest message.
const MaxMessage = 4 << 10

// Version is the version of both exchanges.
const Version = 1

// A Message is a message of either exchange. The package comment says which fields each
// type sets.
type Message struct {
	Type       string `json:"type"`
	Version    int    `json:"version,omitempty"`
	Role       string `json:"role,omitempty"`
	InstallID  string `json:"installId,omitempty"`
	Label      string `json:"label,omitempty"`
	Address    string `json:"address,omitempty"`
	PublicKey  Bytes  `json:"publicKey,omitempty"`
	Commitment Bytes  `json:"commitment,omitempty"`
	Nonce      Bytes  `json:"nonce,omitempty"`
	MAC        Bytes  `json:"mac,omitempty"`
	Code       string `json:"code,omitempty"`
	Message    string `json:"message,omitempty"`
}

// A Pipe carries one exchange. Receive returns the next message unchanged.
type Pipe interface {
	Send(ctx context.Context, message []byte) error
	Receive(ctx context.Context) ([]byte, error)
}

// Codes of refusals.
const (
	CodeNotPaired   = "NOT_PAIRED"   // the install id is unknown, or was revoked
	CodeNotPairing  = "NOT_PAIRING"  // no pairing window is open
	CodeBadProof    = "BAD_PROOF"    // a MAC or a commitment is wrong
	CodeBadMessage  = "BAD_MESSAGE"  // malformed, or not expected now
	CodeDeclined    = "DECLINED"     // a person said no, or did not answer
	CodeTooMany     = "TOO_MANY"     // try again later
	CodeWrongTarget = "WRONG_TARGET" // the dialled address is not this bridge's
	CodeNotKept     = "NOT_KEPT"     // the bridge could not store the key
)

// A Refusal is the error of an exchange that failed. Its text is for people and holds
// no secret.
type Refusal struct {
	Code    string
	Message string
	Remote  bool // the other side refused
}

func (r *Refusal) Error() string {
	if r.Remote {
		return "the other side refused: " + r.Message + " (" + r.Code + ")"
	}
	return r.Message + " (" + r.Code + ")"
}

func refuse(code, message string) error { return &Refusal{Code: code, Message: message} }

// Refuse tells the other side about a refusal, if err is one of this side's.
func Refuse(ctx context.Context, p Pipe, err error) {
	var r *Refusal
	if errors.As(err, &r) && !r.Remote {
		_ = send(ctx, p, Message{Type: "refused", Code: r.Code, Message: r.Message})
	}
}

func send(ctx context.Context, p Pipe, m Message) error {
	text, _ := json.Marshal(m) // it has a JSON text
	return p.Send(ctx, text)
}

// Parse decodes a message. It checks the size, the version and the form of names, which
// do not depend on the state of an exchange.
func Parse(text []byte) (Message, error) {
	var m Message
	if len(text) > MaxMessage {
		return m, refuse(CodeBadMessage, "the message is too long")
	}
	// The decoder's errors quote their input, so they are dropped.
	if json.Unmarshal(text, &m) != nil || m.Type == "" {
		return Message{}, refuse(CodeBadMessage, "the message does not belong to the handshake")
	}
	if (m.Type == "hello" || m.Type == "pair") && m.Version != Version {
		return m, refuse(CodeBadMessage, fmt.Sprintf("handshake version %d is wanted; update the older side", Version))
	}
	if len(m.InstallID) > 64 || strings.ContainsFunc(m.InstallID, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-' || r == '_')
	}) {
		return m, refuse(CodeBadMessage, "the install id is malformed")
	}
	m.Label = Label(m.Label)
	m.Code, m.Message = printable(m.Code, 32), printable(m.Message, 300)
	return m, nil
}

// Label returns the name of a profile in a form that may be shown and kept.
func Label(text string) string { return printable(text, 64) }

// printable removes characters that could control a terminal, and cuts the text.
func printable(text string, limit int) string {
	var b strings.Builder
	for _, r := range text {
		if !unicode.IsPrint(r) || b.Len() >= limit {
			continue
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// firstTime limits the time for a client's first message.
const firstTime = 5 * time.Second

// First returns the first message of a client.
func First(ctx context.Context, p Pipe) (Message, error) {
	ctx, cancel := context.WithTimeout(ctx, firstTime)
	defer cancel()
	return next(ctx, p)
}

func next(ctx context.Context, p Pipe) (Message, error) {
	text, err := p.Receive(ctx)
	if err != nil {
		return Message{}, err
	}
	return Parse(text)
}

func receive(ctx context.Context, p Pipe, want string) (Message, error) {
	m, err := next(ctx, p)
	switch {
	case err != nil:
		return m, err
	case m.Type == "refused":
		return m, &Refusal{Code: m.Code, Message: m.Message, Remote: true}
	case m.Type != want:
		return m, refuse(CodeBadMessage, "want "+want)
	}
	return m, nil
}
