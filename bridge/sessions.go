package bridge

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions keeps the calls of each session, to cancel them when the session ends.
// go-sdk would wait for them instead. The zero value is ready.
type sessions struct {
	mu    sync.Mutex
	calls map[string]map[*context.CancelFunc]bool // by session
}

// during returns a context that also ends when the session ends.
func (s *sessions) during(ctx context.Context, session string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = make(map[string]map[*context.CancelFunc]bool)
	}
	if s.calls[session] == nil {
		s.calls[session] = make(map[*context.CancelFunc]bool)
	}
	s.calls[session][&cancel] = true
	return ctx, func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		if delete(s.calls[session], &cancel); len(s.calls[session]) == 0 {
			delete(s.calls, session)
		}
	}
}

// names returns the sessions that have calls.
func (s *sessions) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.calls))
}

// end cancels the calls of a session.
func (s *sessions) end(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.calls[session] {
		(*cancel)()
	}
}

// stallTime is how long a notification may take before its client counts as one that does not read.
const stallTime = time.Second

// A sessionTransport calls ended when reading from its client fails. It lets tasks pass
// go-sdk. While its client does not read, notifications are dropped, and other clients get
// theirs. It calls behind when such a client reads again.
type sessionTransport struct {
	mcp.Transport
	ended, behind func()
}

func (w sessionTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	return &sessionConn{Connection: c, sessionTransport: w, turn: make(chan struct{}, 1)}, err
}

type sessionConn struct {
	mcp.Connection
	sessionTransport
	turn    chan struct{} // held while a message is written
	stalled atomic.Bool   // the message that is being written takes too long
}

// Write implements [mcp.Connection]. It does not wait long for a notification.
func (c *sessionConn) Write(ctx context.Context, m jsonrpc.Message) error {
	var soon <-chan time.Time
	if req, ok := m.(*jsonrpc.Request); ok && !req.IsCall() {
		if c.stalled.Load() {
			return nil
		}
		soon = time.After(stallTime)
	}
	select {
	case c.turn <- struct{}{}:
	case <-soon:
		c.stall()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	if soon == nil {
		defer func() { <-c.turn }()
		return c.Connection.Write(ctx, m)
	}
	written := make(chan error, 1)
	go func() {
		written <- c.Connection.Write(context.WithoutCancel(ctx), m)
		<-c.turn
	}()
	select {
	case err := <-written:
		return err
	case <-soon:
		c.stall()
		return nil
	}
}

// stall drops notifications until the message that is being written has been.
func (c *sessionConn) stall() {
	if c.stalled.Swap(true) {
		return
	}
	go func() {
		c.turn <- struct{}{}
		<-c.turn
		c.stalled.Store(false)
		c.behind()
	}()
}

func (c *sessionConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.ended()
	}
	if req, ok := m.(*jsonrpc.Request); ok {
		req.Params = withTask(req.Method, req.Params)
	}
	return m, err
}
