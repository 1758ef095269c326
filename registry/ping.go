package registry

import (
	"context"
	"time"
)

// pingLater pings a session that has been idle for [ServerConfig.Ping], again and again
// (basic/utilities/ping). Versions from 2026-07-28 on have no sessions. The caller holds r.mu.
func (r *Registry) pingLater(s *server, c *conn) {
	every := s.cfg.Ping
	if _, ok := c.session.(Offerer); !ok || every <= 0 || s.info.ProtocolVersion >= "2026" {
		return
	}
	c.pings = time.AfterFunc(every, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.closed || s.conn != c || c.pings == nil {
			return
		}
		if c.calls > 0 || r.offline {
			c.pings.Reset(every)
			return
		}
		r.background(s, func(ctx context.Context) { r.ping(ctx, s, c, every) })
	})
}

// ping asks for a sign of life, such as an error of JSON-RPC. A session that gives none is replaced by the next call.
func (r *Registry) ping(ctx context.Context, s *server, c *conn, every time.Duration) {
	_, err := readAll(c.session.(Offerer).Ask(ctx, Request{Method: "ping", Params: []byte("{}")}))
	r.mu.Lock()
	if s.conn == c && !r.closed && c.pings != nil {
		if outcomeOf(err) != succeeded && r.ctx.Err() == nil {
			r.log("no answer to a ping", "server", s.name, "error", err)
			r.retire(s, c)
		} else {
			c.pings.Reset(every)
		}
	}
	r.mu.Unlock()
	r.deliver()
}

// stopPings ends the pings of a session. The caller holds r.mu.
func (c *conn) stopPings() {
	if c.pings != nil {
		c.pings.Stop()
		c.pings = nil
	}
}
