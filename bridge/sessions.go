package bridge

import (
	"context"
	"sync"

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

// end cancels the calls of a session.
func (s *sessions) end(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for cancel := range s.calls[session] {
		(*cancel)()
	}
}

// A sessionTransport calls ended when reading from its client fails. It lets tasks pass
// go-sdk.
type sessionTransport struct {
	mcp.Transport
	ended func()
}

func (w sessionTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := w.Transport.Connect(ctx)
	return sessionConn{c, w.ended}, err
}

type sessionConn struct {
	mcp.Connection
	ended func()
}

func (c sessionConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	m, err := c.Connection.Read(ctx)
	if err != nil {
		c.ended()
	}
	if req, ok := m.(*jsonrpc.Request); ok {
		req.Params = withTask(req.Method, req.Params)
	}
	return m, err
}
