package sdksession

import (
	"context"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A tap sits between the SDK and its transport. It gives private methods their
// real names, takes out the notifications that the session wants in the order in
// which they came, and turns a failed write into the failure of that request: the
// SDK would give up the connection.
type tap struct {
	transport    mcp.Transport
	toolsChanged func()
	elicited     func(*jsonrpc.Request) // nil if the host does not ask its user
	cancelled    owed                   // by the SDK to the server, for calls that were given up
	// answersElsewhere says that answers come on another connection than requests go (HTTP+SSE).
	answersElsewhere bool

	conn     mcp.Connection
	incoming chan jsonrpc.Message
	broken   chan struct{} // closed when reading has ended, after readErr is set
	readErr  error
	closed   chan struct{}
	close    sync.Once

	mu       sync.Mutex
	version  string // as the server answered initialize or the SDK negotiated
	token    int64
	progress map[string]*progressSink // by JSON text of the token
}

func newTap(transport mcp.Transport, toolsChanged func()) *tap {
	return &tap{
		transport: transport, toolsChanged: toolsChanged,
		incoming: make(chan jsonrpc.Message), broken: make(chan struct{}), closed: make(chan struct{}),
		progress: make(map[string]*progressSink),
	}
}

// Connect implements [mcp.Transport].
func (t *tap) Connect(ctx context.Context) (mcp.Connection, error) {
	conn, err := t.transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	t.conn = conn
	go t.pump()
	return t, nil
}

// pump reads until the connection ends, which Close brings about.
func (t *tap) pump() {
	defer close(t.broken)
	for {
		var msg jsonrpc.Message
		if t.readErr = survived(func() (err error) {
			msg, err = t.conn.Read(context.Background())
			return err
		}); t.readErr != nil {
			return
		}
		if !t.inject(msg) {
			t.readErr = io.EOF
			return
		}
	}
}

// inject hands msg to the SDK as if the server had sent it on the connection.
// It waits until the SDK takes it and is false if the connection was closed.
func (t *tap) inject(msg jsonrpc.Message) bool {
	taken := false
	if survived(func() error { taken = t.consume(msg); return nil }) != nil || taken {
		return true
	}
	select {
	case t.incoming <- msg:
		return true
	case <-t.closed:
		return false
	}
}

// Read implements [mcp.Connection].
func (t *tap) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg := <-t.incoming:
		return msg, nil
	case <-t.broken:
		return nil, t.readErr
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// consume takes messages that the SDK need not see and is true if it did.
func (t *tap) consume(msg jsonrpc.Message) bool {
	switch msg := msg.(type) {
	case *jsonrpc.Response:
		if t.protocolVersion() == "" {
			t.learnVersion(msg.Result)
		}
	case *jsonrpc.Request:
		switch {
		case msg.IsCall():
			if msg.Method == elicitation && t.elicited != nil {
				t.elicited(msg)
				return true
			}
		case msg.Method == "notifications/progress":
			t.deliverProgress(msg.Params)
			return true
		case msg.Method == "notifications/tools/list_changed":
			t.toolsChanged()
			return true
		}
	}
	return false
}

// Write implements [mcp.Connection].
func (t *tap) Write(ctx context.Context, msg jsonrpc.Message) error {
	x := new(exchange)
	if req, ok := msg.(*jsonrpc.Request); ok {
		renamed := *req
		renamed.Method = strings.TrimPrefix(req.Method, private)
		x.method, msg = renamed.Method, &renamed
		if req.IsCall() {
			x.id, x.out = idText(req.ID), outcomeOf(ctx)
			if x.out != nil {
				x.out.begin(x.id)
			}
		}
	}
	ctx = withExchange(ctx, x)
	req, ok := msg.(*jsonrpc.Request)
	if t.answersElsewhere && ok && req.IsCall() {
		// The answer may be there before the server has taken the request.
		go t.deliver(ctx, req, x)
		return nil
	}
	if !ok || !req.IsCall() {
		if x.method == methodCancelled {
			defer t.cancelled.done()
		}
		if err := t.write(ctx, msg, x.method); ctx.Err() != nil {
			return err
		}
		return nil
	}
	return t.deliver(ctx, req, x)
}

// deliver sends a request. Its failure is the answer.
func (t *tap) deliver(ctx context.Context, req *jsonrpc.Request, x *exchange) error {
	err := t.write(ctx, req, x.method)
	if err == nil || ctx.Err() != nil {
		return err
	}
	x.fail(err)
	go t.inject(&jsonrpc.Response{ID: req.ID, Error: err})
	return nil
}

// initializedTime is how long the handshake waits until the server has taken
// notifications/initialized. Some servers refuse requests that overtake it; none
// that never acknowledges it may hold up the session.
const initializedTime = 500 * time.Millisecond

func (t *tap) write(ctx context.Context, msg jsonrpc.Message, method string) error {
	if method != "notifications/initialized" {
		return survived(func() error { return t.conn.Write(ctx, msg) })
	}
	written := make(chan error, 1)
	go func() { written <- survived(func() error { return t.conn.Write(ctx, msg) }) }()
	timer := time.NewTimer(initializedTime)
	defer timer.Stop()
	select {
	case err := <-written:
		return err
	case <-timer.C:
		return nil
	}
}

// Close implements [mcp.Connection].
func (t *tap) Close() error {
	t.close.Do(func() { close(t.closed) })
	return t.conn.Close()
}

// SessionID implements [mcp.Connection].
func (t *tap) SessionID() string { return t.conn.SessionID() }

// learnVersion reads the answer to initialize: notifications/initialized has to
// name the version in a header before the SDK says what it is.
func (t *tap) learnVersion(result []byte) {
	raw, _ := rawjson.Get(result, "protocolVersion")
	if v, ok := rawjson.String(raw); ok && validVersion(v) {
		t.setVersion(v)
	}
}

// protocolVersion is what the server answered to initialize, or "".
func (t *tap) protocolVersion() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version
}

// setVersion fixes the version once the handshake is over.
func (t *tap) setVersion(v string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version = v
}

func validVersion(v string) bool {
	return len(v) == len("2025-11-25") && v >= "2" && v < "3" && isASCII(v)
}

func idText(id jsonrpc.ID) string {
	switch v := id.Raw().(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case string:
		return string(rawjson.AppendString(nil, v))
	default:
		return ""
	}
}
