package sdksession

import (
	"context"
	"errors"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

const (
	streamable = "streamable-http"
	legacySSE  = "sse"
)

// negotiate opens a session by the transport that is configured, remembered or
// found out, in this order. Legacy SSE is tried on one sign only: the first POST
// was refused with a 4xx about what was sent, and no JSON-RPC error (MCP
// 2025-11-25, basic/transports, backwards compatibility). Silence, a broken
// connection or a fault of the server say nothing about its transport.
func (c *Connector) negotiate(ctx context.Context, d *dialing, configured string) (registry.Session, error) {
	known := c.recall(d.endpoint)
	transport := known.transport
	if configured == streamable || configured == legacySSE {
		transport = configured
	}
	if transport == legacySSE {
		d.sse = true
		s, err := c.dial(ctx, d)
		return c.settle(ctx, d, s, err)
	}
	d.legacy = known.legacy
	s, err := c.dial(ctx, d)
	if d.legacy && ctx.Err() == nil && isRefusal(err) {
		// The server may have moved to a later protocol since it was last seen.
		d.legacy = false
		s, err = c.dial(ctx, d)
	}
	if err != nil && transport == "" && ctx.Err() == nil && d.refused {
		d.sse = true
		if s, sseErr := c.dial(ctx, d); sseErr == nil {
			return c.settle(ctx, d, s, nil)
		} else if ctx.Err() != nil {
			err = sseErr
		}
	}
	return c.settle(ctx, d, s, err)
}

func (c *Connector) settle(ctx context.Context, d *dialing, s *session, err error) (registry.Session, error) {
	if err != nil {
		if ctx.Err() == nil {
			c.remember(d.endpoint, knowledge{})
		}
		return nil, err
	}
	k := knowledge{transport: streamable, legacy: d.legacy || d.undiscovered}
	if d.sse {
		k.transport = legacySSE
	}
	c.remember(d.endpoint, k)
	return s, nil
}

// isRefusal reports whether a server that is well and reachable did not take what
// it was sent.
func isRefusal(err error) bool {
	var status *registry.StatusError
	var rpc *registry.RPCError
	if errors.As(err, &status) {
		return status.Code >= 400 && status.Code < 500 && !isElsewhere(status.Code)
	}
	return errors.As(err, &rpc) || errors.Is(err, registry.ErrProtocol)
}

func isStatus(err error, codes ...int) bool {
	var status *registry.StatusError
	if !errors.As(err, &status) {
		return false
	}
	for _, code := range codes {
		if status.Code == code {
			return true
		}
	}
	return false
}

// probeTime is how much of the time left for connecting the server/discover
// probe may use: a server that swallows methods it does not know still has to
// have time for initialize.
func probeTime(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 10 * time.Second
	}
	return time.Until(deadline) / 2
}
