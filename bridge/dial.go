package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"

	"github.com/portolan-mcp/portolan/bridge/handshake"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// ErrForeign is the error of Dial if the program at the address is not a bridge of this
// user.
var ErrForeign = errors.New("another program has the port")

// ErrNoBridge is the error of Dial if no program listens at the address.
var ErrNoBridge = errors.New("no bridge is running")

// A Local is a connection to a running bridge of the same user.
type Local struct {
	conn *socket.Conn
}

// Dial connects to the bridge that runs at opts.Address. It proves the key of the file
// in opts.Dir, and sends no secret.
func Dial(ctx context.Context, opts *Options) (*Local, error) {
	o := opts.withDefaults()
	store, err := openStore(o.Dir)
	if err != nil {
		return nil, err
	}
	s, err := store.load()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, proofTimeout)
	defer cancel()
	// The connection is direct: without a proxy, and without redirects.
	direct := &http.Client{
		Transport:     &http.Transport{Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	ws, res, err := websocket.Dial(ctx, "ws://"+o.Address+"/local",
		&websocket.DialOptions{HTTPClient: direct, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		if res == nil && ctx.Err() == nil {
			return nil, fmt.Errorf("%w at %s", ErrNoBridge, o.Address)
		}
		return nil, fmt.Errorf("%w %s: it is not a bridge", ErrForeign, o.Address)
	}
	c := socket.New(ws, nil, socket.Limits{Frame: handshake.MaxMessage, Depth: 4, PerSecond: 10})
	err = handshake.Connect(ctx, c, handshake.Client{Role: handshake.RoleLocal, Address: o.Address, Key: s.Local})
	if err != nil {
		c.CloseWith(websocket.StatusPolicyViolation, "not proved")
		return nil, fmt.Errorf("%w %s: %w", ErrForeign, o.Address, err)
	}
	c.Widen(localLimits)
	return &Local{c}, nil
}

// Close ends the connection.
func (l *Local) Close() { l.conn.Close() }

func (l *Local) ask(ctx context.Context, m localMessage) (localMessage, error) {
	if err := sendLocal(ctx, l.conn, m); err != nil {
		return localMessage{}, err
	}
	return receiveLocal(ctx, l.conn)
}

// Clients returns the paired profiles, and which are connected, by install id.
func (l *Local) Clients(ctx context.Context) ([]Pairing, map[string]bool, error) {
	m, err := l.ask(ctx, localMessage{Type: "clients"})
	var all []Pairing
	connected := make(map[string]bool)
	for _, c := range m.Clients {
		all = append(all, c.Pairing)
		connected[c.InstallID] = c.Connected
	}
	return all, connected, err
}

// Revoke forgets a pairing.
func (l *Local) Revoke(ctx context.Context, installID string) error {
	_, err := l.ask(ctx, localMessage{Type: "revoke", InstallID: installID})
	return err
}

// A Terminal is where a person confirms a pairing.
type Terminal interface {
	Ready()                         // the window is open
	Code(who Pairing, code string)  // show the digits of this attempt
	Left()                          // the attempt ended
	Accepted(who Pairing) (ok bool) // the extension accepted the digits; ok if the person confirms it
}

// Pair opens the bridge's pairing window and pairs one browser.
func (l *Local) Pair(ctx context.Context, t Terminal) (Pairing, error) {
	if err := sendLocal(ctx, l.conn, localMessage{Type: "pair"}); err != nil {
		return Pairing{}, err
	}
	var who Pairing
	for {
		m, err := receiveLocal(ctx, l.conn)
		if err != nil {
			return Pairing{}, err
		}
		switch m.Type {
		case "open":
			t.Ready()
		case "code":
			if m.Who != nil {
				who = *m.Who
			}
			t.Code(who, m.Code)
		case "left":
			t.Left()
		case "accepted":
			if err := sendLocal(ctx, l.conn, localMessage{Type: "answer", OK: t.Accepted(who)}); err != nil {
				return Pairing{}, err
			}
		case "paired":
			if m.Who == nil {
				return who, nil
			}
			return *m.Who, nil
		}
	}
}

// ErrEnded is the error of Attach if the bridge has ended.
var ErrEnded = errors.New("the bridge that this one was attached to has ended")

// Attach passes a desktop client's messages to the bridge unchanged, until either side
// ends. The error is nil if the client or ctx ended.
func (l *Local) Attach(ctx context.Context, profile, project string, in io.ReadCloser, out io.Writer) error {
	if _, err := l.ask(ctx, localMessage{Type: "attach", Profile: profile, Project: project}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &lineWriter{w: out}
	input := make(chan error, 1)
	go func() { input <- l.forward(ctx, in, w) }()
	output := make(chan error, 1)
	go func() {
		for {
			text, err := l.conn.Receive(ctx)
			if err == nil {
				err = w.line(text)
			}
			if err != nil {
				output <- err
				return
			}
		}
	}()
	select {
	case err := <-input:
		// Calls under way get no answer, because the client is gone.
		cancel()
		<-output
		if err != nil {
			return ErrEnded
		}
		return nil
	case <-output:
		if ctx.Err() != nil {
			return nil
		}
		_ = in.Close()
		return ErrEnded
	}
}

// forward sends each message as a frame.
func (l *Local) forward(ctx context.Context, in io.ReadCloser, w *lineWriter) error {
	lines := newLineReader(in, w)
	for {
		messages, err := lines.next()
		if err != nil {
			return nil
		}
		for _, m := range messages {
			if err := l.conn.Send(ctx, m); err != nil {
				return err
			}
		}
	}
}
