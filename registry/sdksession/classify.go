package sdksession

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
)

// classify turns an error of the SDK into one of the registry's. What a layer
// below recorded is exact and goes first; the SDK's own errors are mostly text.
func (s *session) classify(ctx context.Context, out *outcome, err error) error {
	recorded, _ := out.get()
	var rpc *jsonrpc.Error
	switch {
	case s.closing.Load():
		return registry.Because(registry.ErrNetwork, "the session was closed")
	case ctx.Err() != nil:
		return ctx.Err()
	case s.ctx.Err() != nil:
		return s.cause(err)
	case recorded != nil:
		return s.wire.clean(recorded)
	case errors.As(err, &rpc):
		return s.wire.redactRPC(&registry.RPCError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data})
	case errors.Is(err, mcp.ErrConnectionClosed):
		return s.cause(err)
	default:
		return s.wire.clean(err)
	}
}

// cause says why the connection ended.
func (s *session) cause(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.death != nil:
		return s.death
	case errors.Is(err, mcp.ErrSessionMissing):
		return registry.ErrSessionExpired
	case err == nil || errors.Is(err, mcp.ErrConnectionClosed):
		return registry.Because(registry.ErrNetwork, "the connection ended")
	default:
		return s.wire.clean(err)
	}
}

// lose records why the session is about to end.
func (s *session) lose(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.death == nil {
		s.death = err
	}
}

// clean reduces err to an error of the registry's kinds. The URL that net/http
// names in its errors may hold a key, so it is left out.
func (w *wire) clean(err error) error {
	var (
		status *registry.StatusError
		rpc    *registry.RPCError
		proxy  *registry.ProxyError
		at     *url.Error
	)
	switch {
	case errors.As(err, &proxy):
		return proxy
	case errors.As(err, &status):
		return status
	case errors.As(err, &rpc):
		return w.redactRPC(rpc)
	}
	if errors.As(err, &at) {
		err = at.Err
	}
	kind, text := kindOf(err), err.Error()
	switch {
	case kind != nil && w.shown(text) == text:
		return err
	case kind != nil:
		return registry.Because(kind, w.shown(strings.TrimPrefix(text, kind.Error()+": ")))
	case at != nil:
		return registry.Because(registry.ErrNetwork, w.shown(text))
	default:
		return registry.Because(registry.ErrProtocol, w.shown(text))
	}
}

// kindOf is the registry's sentinel that says what err is, or nil.
func kindOf(err error) error {
	for _, kind := range []error{registry.ErrSessionExpired, registry.ErrNetwork, registry.ErrTooLarge, registry.ErrProtocol, registry.ErrRedirect, registry.ErrInvalidConfig, registry.ErrSignInNeeded, registry.ErrSignIn} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return nil
}
