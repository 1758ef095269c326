package bridge

import (
	"context"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sessions end the calls of clients that left: go-sdk would wait for them. The
// zero value is ready.
type sessions struct {
	mu    sync.Mutex
	calls map[string]map[*context.CancelFunc]bool // by session
}

// during returns a context that ends with the session too.
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

// end cancels the calls of a session.
func (s *sessions) end(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.calls[session] {
		(*cancel)()
	}
}

// A watched transport says when nothing more can be read from its client.
type watched struct {
	mcp.Transport
	ended func()
}

func (w watched) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	return watchedConn{c, w.ended}, err
}

type watchedConn struct {
	mcp.Connection
	ended func()
}

func (c watchedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.ended()
	}
	return m, err
}
