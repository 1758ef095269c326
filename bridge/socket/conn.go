// Package socket carries MCP over a WebSocket: one JSON-RPC message in each text
// frame, with limits on a peer's messages. [Conn] is an [mcp.Transport] for either end,
// in both builds of coder/websocket. The handshake before MCP uses it as its pipe.
package socket

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"
)

// writeTimeout limits the time to write a frame.
const writeTimeout = 10 * time.Second

// A Conn is an [mcp.Connection] on a WebSocket. Read is for one goroutine; Write
// and Close may be called at any time from any.
type Conn struct {
	ws     *websocket.Conn
	raw    io.Closer // the network connection below ws, or nil
	limits Limits
	rate   *rate.Limiter
	own    *rate.Limiter // of progress and log messages to the peer

	once sync.Once
	mu   sync.Mutex
	why  error // the first reason for which the connection ended
}

// closeTimeout is how long a peer has to answer a closing frame.
const closeTimeout = time.Second

// New returns the connection on a new WebSocket. raw may be nil. It is closed if the
// peer does not answer a closing frame.
func New(ws *websocket.Conn, raw io.Closer, limits Limits) *Conn {
	c := &Conn{ws: ws, raw: raw}
	c.Widen(limits)
	return c
}

// Widen replaces the limits, once the peer has proved itself. Only the goroutine that
// reads may call it.
func (c *Conn) Widen(limits Limits) {
	c.limits = limits.withDefaults()
	c.ws.SetReadLimit(int64(c.limits.Frame))
	c.rate = newLimiter(c.limits.PerSecond)
	c.own = newLimiter(c.limits.PerSecond / 2) // the other half is for what cannot be dropped
}

// Connect implements [mcp.Transport]. The connection is open already.
func (c *Conn) Connect(context.Context) (mcp.Connection, error) { return c, nil }

// SessionID implements [mcp.Connection].
func (c *Conn) SessionID() string { return "" }

// Receive returns the text of the next message. It closes the connection if the message
// is beyond a limit.
func (c *Conn) Receive(ctx context.Context) ([]byte, error) {
	kind, text, err := c.ws.Read(ctx)
	switch {
	case errors.Is(err, websocket.ErrMessageTooBig):
		return nil, c.end(websocket.StatusMessageTooBig, ErrTooLarge)
	case err != nil:
		return nil, c.gone(ctx, err)
	case kind != websocket.MessageText:
		return nil, c.end(websocket.StatusUnsupportedData, ErrNotText)
	case !c.rate.Allow():
		return nil, c.end(websocket.StatusPolicyViolation, ErrTooFast)
	case TooDeep(text, c.limits.Depth):
		return nil, c.end(websocket.StatusPolicyViolation, ErrTooDeep)
	}
	return text, nil
}

// gone returns the reason why a read failed, and keeps the first such reason.
func (c *Conn) gone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var closed websocket.CloseError
	if errors.As(err, &closed) && closed.Reason == stopped {
		err = ErrStopped
	} else if errors.As(err, &closed) || errors.Is(err, io.EOF) {
		err = io.EOF
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.why == nil {
		c.why = err
	}
	return c.why
}

// Send writes one message as a frame. A message beyond the limit is not sent.
func (c *Conn) Send(ctx context.Context, text []byte) error {
	if len(text) > c.limits.Frame {
		return ErrTooLarge
	}
	if TooDeep(text, c.limits.Depth) {
		return ErrTooDeep
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return c.ws.Write(ctx, websocket.MessageText, text)
}

// Read implements [mcp.Connection].
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	text, err := c.Receive(ctx)
	if err != nil {
		return nil, err
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, c.end(websocket.StatusInvalidFramePayloadData, ErrNotText)
	}
	return m, nil
}

// Write implements [mcp.Connection]. Once begun, it does not end with ctx: half a frame
// would end the connection for all calls that share it. A result beyond a limit becomes
// an error, so that its request ends. Progress and log messages that come too fast for
// the peer are dropped.
func (c *Conn) Write(ctx context.Context, m jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r, ok := m.(*jsonrpc.Request); ok && (r.Method == "notifications/progress" || r.Method == "notifications/message") &&
		!c.own.Allow() {
		return nil
	}
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	err = c.Send(context.WithoutCancel(ctx), text)
	if r, ok := m.(*jsonrpc.Response); ok && r.Error == nil && (err == ErrTooLarge || err == ErrTooDeep) {
		refusal := &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
		return c.Write(ctx, &jsonrpc.Response{ID: r.ID, Error: refusal})
	}
	return err
}

// end closes the connection because of err, and returns the first such reason.
func (c *Conn) end(code websocket.StatusCode, err error) error {
	c.mu.Lock()
	if c.why == nil {
		c.why = err
	}
	why := c.why
	c.mu.Unlock()
	c.CloseWith(code, err.Error())
	return why
}

// Why returns the reason for which the connection ended, or nil.
func (c *Conn) Why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.why
}

// CloseWith closes the connection and tells the peer why, in at most 120 bytes.
func (c *Conn) CloseWith(code websocket.StatusCode, reason string) {
	c.once.Do(func() {
		if c.raw != nil {
			defer time.AfterFunc(closeTimeout, func() { _ = c.raw.Close() }).Stop()
		}
		_ = c.ws.Close(code, reason[:min(len(reason), 120)])
	})
}

// Close implements [mcp.Connection].
func (c *Conn) Close() error {
	c.CloseWith(websocket.StatusNormalClosure, "")
	return nil
}
