package handshake

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// A pipe is one end of an exchange in memory. Tests can change the messages.
type pipe struct {
	in, out chan []byte
	done    chan struct{}
	change  func(Message) Message
	sent    []string
}

func pipes() (extension, bridge *pipe) {
	a, b, done := make(chan []byte, 10), make(chan []byte, 10), make(chan struct{})
	return &pipe{in: a, out: b, done: done}, &pipe{in: b, out: a, done: done}
}

func (p *pipe) Send(_ context.Context, text []byte) error {
	p.sent = append(p.sent, string(text))
	if p.change != nil {
		m, err := Parse(text)
		if err != nil {
			return err
		}
		if text, err = json.Marshal(p.change(m)); err != nil {
			return err
		}
	}
	p.out <- text
	return nil
}

func (p *pipe) Receive(ctx context.Context) ([]byte, error) {
	select {
	case text := <-p.in:
		return text, nil
	default:
	}
	select {
	case text := <-p.in:
		return text, nil
	case <-p.done:
		select {
		case text := <-p.in:
			return text, nil
		default:
			return nil, io.EOF
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var profile = Profile{InstallID: "i", Label: "Work", Origin: "chrome-extension://x", Address: "127.0.0.1:55156"}

// A meeting is a pairing with people at both ends. The fields are its deviations from a
// successful one.
type meeting struct {
	toBridge, toExtension func(Message) Message
	typed                 func(shown string) string
	declines              bool
}

func (m meeting) run(t *testing.T) (extensionKey, bridgeKey []byte, extensionErr, bridgeErr error) {
	t.Helper()
	ext, br := pipes()
	ext.change, br.change = m.toBridge, m.toExtension
	shown := make(chan string, 1)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer close(ext.done)
		first, err := receive(t.Context(), br, "pair")
		if err == nil {
			err = AcceptPair(t.Context(), br, first, profile,
				func(ctx context.Context, code string, confirmed <-chan struct{}) error {
					shown <- code
					if m.declines {
						return errors.New("no")
					}
					select {
					case <-confirmed:
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}, func(key []byte) error { bridgeKey = key; return nil })
		}
		Refuse(t.Context(), br, err)
		bridgeErr = err
	}()
	extensionKey, extensionErr = Pair(t.Context(), ext, profile, func(ctx context.Context) (string, error) {
		select {
		case code := <-shown:
			if m.typed != nil {
				return m.typed(code), nil
			}
			return code, nil
		case <-ended:
			return "", io.EOF
		}
	})
	<-ended
	return extensionKey, bridgeKey, extensionErr, bridgeErr
}

func flip(b Bytes) Bytes {
	if len(b) == 0 {
		return b
	}
	b = bytes.Clone(b)
	b[len(b)-1] ^= 1
	return b
}

func TestPairing(t *testing.T) {
	a, b, errA, errB := meeting{}.run(t)
	if errA != nil || errB != nil || len(a) != Size || !bytes.Equal(a, b) {
		t.Fatalf("keys %d %d, %v, %v", len(a), len(b), errA, errB)
	}
	again, _, _, _ := meeting{}.run(t)
	if bytes.Equal(a, again) {
		t.Error("the same key twice")
	}
	on := func(kind string, f func(*Message)) func(Message) Message {
		return func(m Message) Message {
			if m.Type == kind {
				f(&m)
			}
			return m
		}
	}
	for name, m := range map[string]meeting{
		"other digits":             {typed: func(s string) string { return string(flip(Bytes(s))) }},
		"no digits":                {typed: func(string) string { return "" }},
		"a person who declines":    {declines: true},
		"another extension key":    {toBridge: on("pair", func(m *Message) { m.PublicKey = flip(m.PublicKey) })},
		"no extension key":         {toBridge: on("pair", func(m *Message) { m.PublicKey = nil })},
		"another extension nonce":  {toBridge: on("pair-nonce", func(m *Message) { m.Nonce = flip(m.Nonce) })},
		"a short extension nonce":  {toBridge: on("pair-nonce", func(m *Message) { m.Nonce = m.Nonce[:4] })},
		"another bridge key":       {toExtension: on("pair-commit", func(m *Message) { m.PublicKey = flip(m.PublicKey) })},
		"another commitment":       {toExtension: on("pair-commit", func(m *Message) { m.Commitment = flip(m.Commitment) })},
		"no commitment":            {toExtension: on("pair-commit", func(m *Message) { m.Commitment = nil })},
		"another bridge nonce":     {toExtension: on("pair-reveal", func(m *Message) { m.Nonce = flip(m.Nonce) })},
		"a wrong confirmation":     {toBridge: on("pair-confirm", func(m *Message) { m.MAC = flip(m.MAC) })},
		"no confirmation":          {toBridge: on("pair-confirm", func(m *Message) { m.MAC = nil })},
		"steps left out":           {toBridge: on("pair-nonce", func(m *Message) { m.Type = "pair-confirm" })},
		"done before confirmation": {toExtension: on("pair-reveal", func(m *Message) { m.Type = "pair-done" })},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, errA, errB := m.run(t)
			if a != nil || errA == nil || b != nil || errB == nil {
				t.Errorf("keys %d %d, %v, %v", len(a), len(b), errA, errB)
			}
		})
	}
	t.Run("a wrong last message", func(t *testing.T) {
		a, _, errA, _ := meeting{toExtension: on("pair-done", func(m *Message) { m.MAC = flip(m.MAC) })}.run(t)
		if a != nil || errA == nil {
			t.Error("the extension keeps a key that the bridge did not confirm")
		}
	})
}

// Others cannot pair meanwhile, and the person sees nothing yet.
func TestAPairingThatStallsEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, err := ecdh.P256().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		_, br := pipes()
		first := Message{Type: "pair", InstallID: "i", PublicKey: own.PublicKey().Bytes()}
		err = AcceptPair(t.Context(), br, first, profile, nil, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}

// TestManInTheMiddle runs two honest pairings at once. An attacker between two sides has
// to do so, because he commits to one side before he knows the other side's nonce. The
// digits of the two differ, and the digits of the terminal are refused. TestPairing has
// changes within one pairing.
func TestManInTheMiddle(t *testing.T) {
	same := 0
	for range 20 {
		left, right := make(chan string, 1), make(chan string, 1)
		run := func(codes chan string) {
			meeting{typed: func(s string) string { codes <- s; return s }}.run(t)
		}
		run(left)  // extension ⇄ attacker
		run(right) // attacker ⇄ bridge
		if <-left == <-right {
			same++
		}
	}
	if same > 1 {
		t.Errorf("the digits were the same in %d of 20", same)
	}
}

// TestASquatterLearnsNothing connects an extension to a process without the key, and
// checks all bytes that the process received.
func TestASquatterLearnsNothing(t *testing.T) {
	key := Random()
	client := Client{Role: RoleExtension, InstallID: "i", Origin: "o", Address: "127.0.0.1:1", Key: key}
	for name, answer := range map[string]func(hello Message) Message{
		"a guess": func(Message) Message { return Message{Type: "challenge", Nonce: Random(), MAC: Random()} },
		"no MAC":  func(Message) Message { return Message{Type: "challenge", Nonce: Random()} },
		"a reflection": func(h Message) Message {
			return Message{Type: "challenge", Nonce: h.Nonce, MAC: client.mac("bridge", h.Nonce, h.Nonce)}
		},
		"the other MAC": func(h Message) Message {
			n := Random()
			return Message{Type: "challenge", Nonce: n, MAC: client.mac("client", h.Nonce, n)}
		},
		"ready":     func(Message) Message { return Message{Type: "ready"} },
		"a refusal": func(Message) Message { return Message{Type: "refused", Code: CodeNotPaired} },
	} {
		ext, br := pipes()
		go func() {
			hello, err := receive(t.Context(), br, "hello")
			if err == nil {
				_ = send(t.Context(), br, answer(hello))
			}
			close(ext.done)
		}()
		if err := Connect(t.Context(), ext, client); err == nil {
			t.Errorf("%s: believed", name)
		}
		for _, text := range ext.sent {
			m, _ := Parse([]byte(text))
			if m.Type != "hello" && m.Type != "refused" || m.MAC != nil {
				t.Errorf("%s: it was sent %s", name, text)
			}
		}
	}
}

// TestTheAddressIsProved checks that a squatter cannot pass an exchange on to a bridge on
// another port, because the two sides hash different addresses.
func TestTheAddressIsProved(t *testing.T) {
	key := Random()
	ext, br := pipes()
	go func() {
		hello, _ := receive(t.Context(), br, "hello")
		_ = Accept(t.Context(), br, hello, Client{Role: RoleExtension, InstallID: "i", Address: "127.0.0.1:2", Key: key})
		close(ext.done)
	}()
	if err := Connect(t.Context(), ext, Client{Role: RoleExtension, InstallID: "i", Address: "127.0.0.1:1",
		Key: key}); err == nil {
		t.Error("relayed")
	}
}

// TestVectors pins the encoding for implementations in other languages.
func TestVectors(t *testing.T) {
	seq := func(from, n int) Bytes {
		out := make(Bytes, n)
		for i := range out {
			out[i] = byte(from + i)
		}
		return out
	}
	c := Client{Role: "extension", InstallID: "i-1", Origin: extensionOrigin, Address: "127.0.0.1:55156", Key: seq(0, 32)}
	for name, row := range map[string]struct{ got, want Bytes }{
		"bridge":     {c.mac("bridge", seq(32, 32), seq(64, 32)), vector(t, "bridge")},
		"client":     {c.mac("client", seq(32, 32), seq(64, 32)), vector(t, "client")},
		"commitment": {commitment(seq(1, 65), seq(2, 65), seq(3, 32)), vector(t, "commitment")},
	} {
		if !bytes.Equal(row.got, row.want) {
			text, _ := row.got.MarshalText()
			t.Errorf("%s is %s", name, text)
		}
	}
}

const extensionOrigin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop"

func TestRefusalsAreForTerminals(t *testing.T) {
	m, err := Parse([]byte(`{"type":"refused","message":"a\u001b[2Jb\u202ec","label":"` + strings.Repeat("x", 100) + `"}`))
	if err != nil || m.Message != "a[2Jbc" || len(m.Label) != 64 {
		t.Errorf("%q %d %v", m.Message, len(m.Label), err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"hello","version":1,"installId":"a","nonce":"AAAA"}`))
	f.Add([]byte(`{"type":"pair","version":1,"publicKey":"BA"}`))
	f.Add([]byte(`{"type":`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if err != nil {
			return
		}
		if len(text) > MaxMessage || len(m.InstallID) > 64 || len(m.Label) > 64 {
			t.Errorf("%q", text)
		}
	})
}

// FuzzAccept sends the bridge two messages without the key. It must never send ready.
func FuzzAccept(f *testing.F) {
	f.Add([]byte(`{"type":"hello","version":1,"role":"extension","installId":"i",`+
		`"nonce":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}`), []byte(`{"type":"proof","mac":"AAAA"}`))
	f.Add([]byte(`{"type":"pair","version":1,"installId":"i","publicKey":"AAAA"}`), []byte(`{"type":"pair-nonce"}`))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		ext, br := pipes()
		first, err := Parse(one)
		if err != nil {
			return
		}
		ext.out <- two
		close(ext.done)
		if first.Type == "pair" {
			err = AcceptPair(context.Background(), br, first, profile,
				func(ctx context.Context, _ string, confirmed <-chan struct{}) error {
					<-ctx.Done()
					return ctx.Err()
				}, func([]byte) error { t.Error("kept"); return nil })
		} else {
			err = Accept(context.Background(), br, first, Client{Key: Random()})
		}
		if err == nil {
			t.Errorf("%q %q are believed", one, two)
		}
	})
}
