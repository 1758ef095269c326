package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/socket"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

// Errors of requests to an extension.
var (
	errBusy = errors.New("too many calls wait for this browser")
	errGone = errors.New("the browser extension disconnected")
)

const (
	pingEvery   = 20 * time.Second // also keeps a service worker awake
	pingTimeout = 10 * time.Second
)

// A link is the MCP session with one connected extension. A go-sdk client opens the
// session and handles its other messages. The link's own requests and their responses
// pass as raw JSON.
type link struct {
	Pairing
	bridge  *Bridge
	conn    *socket.Conn
	turns   *turns        // held by calls under way
	gone    chan struct{} // closed when the connection has ended
	events  chan event    // events and logs of the browser, to be sent to clients
	waiting chan struct{} // holds one value while updates wait

	work sync.WaitGroup // goroutines of questions, pings and lists

	mu        sync.Mutex
	next      int
	pending   map[string]*pendingRequest
	questions map[jsonrpc.ID]context.CancelFunc
	tools     json.RawMessage // the result of tools/list; nil until it is there
	older     json.RawMessage // likewise, for the versions before 2026-07-28
	listing   bool
	stale     bool            // the list changed while it was fetched
	approved  []string        // origins of pages
	denied    []string        // clients that get no events
	updates   map[string]bool // URIs of resources that have changed
	ended     bool
}

func newLink(b *Bridge, who Pairing, conn *socket.Conn) *link {
	return &link{
		Pairing: who, bridge: b, conn: conn, turns: newTurns(b.opts.Calls), gone: make(chan struct{}),
		events: make(chan event, eventQueue), waiting: make(chan struct{}, 1),
		updates: make(map[string]bool), pending: make(map[string]*pendingRequest),
		questions: make(map[jsonrpc.ID]context.CancelFunc),
	}
}

// allowed reports whether the profile is still paired. A file that cannot be read revokes nothing.
func (l *link) allowed() bool {
	key, err := l.bridge.key(&Pairing{InstallID: l.InstallID, Origin: l.Origin})
	return key != nil || err != nil
}

// run opens the session and serves it until the connection or ctx ends. It returns the
// reason for the end.
func (l *link) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer l.work.Wait()
	defer cancel()
	client := mcp.NewClient(&mcp.Implementation{Name: "portolan-bridge", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{Sampling: &mcp.SamplingCapabilities{}, Elicitation: &mcp.ElicitationCapabilities{
			Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{},
		}},
	})
	opening, opened := context.WithTimeout(ctx, 30*time.Second)
	defer opened()
	session, err := client.Connect(opening, &linkTransport{Conn: l.conn, link: l},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		l.end()
		return fmt.Errorf("open the session: %w", errors.Join(l.conn.Why(), err))
	}
	defer context.AfterFunc(ctx, func() { l.conn.CloseWith(1001, "the bridge ends") })()
	requestLogs(opening, session)
	l.refresh(ctx)
	l.spawn(func() { l.pingLoop(ctx) })
	l.spawn(func() { l.forwardEvents(ctx) })
	_ = session.Wait()
	l.end()
	if why := l.conn.Why(); why != nil {
		return why
	}
	return errGone
}

// requestLogs asks the extension for all log messages. go-sdk applies each client's
// own level when it sends them on.
func requestLogs(ctx context.Context, session *mcp.ClientSession) {
	if r := session.InitializeResult(); r != nil && r.Capabilities != nil && r.Capabilities.Logging != nil {
		_ = session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"})
	}
}

func (l *link) spawn(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.work.Go(f)
}

// end marks the link as ended: pending requests fail, and open questions are
// cancelled. It may be called again.
func (l *link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	l.ended = true
	close(l.gone)
	for _, cancel := range l.questions {
		cancel()
	}
}

// over reports whether the connection has ended.
func (l *link) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// stopped reports whether the connection ended because the person stopped
// everything in the extension.
func (l *link) stopped() bool { return errors.Is(l.conn.Why(), socket.ErrStopped) }

// pingLoop pings the extension, and ends the connection when it does not answer.
func (l *link) pingLoop(ctx context.Context) {
	ticks := time.Tick(pingEvery)
	for {
		select {
		case <-ticks:
			if !l.allowed() { // another process revoked the pairing in the file
				l.conn.CloseWith(1008, "revoked")
				return
			}
			asking, cancel := context.WithTimeout(ctx, pingTimeout)
			_, err := l.request(asking, "ping", nil)
			timedOut := asking.Err() != nil && ctx.Err() == nil
			cancel()
			if timedOut && err != nil {
				l.conn.CloseWith(1008, "no answer to a ping")
				return
			}
		case <-l.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// begin registers a request under a new id. All but the bridge's own, whose client is "", wait for their turn.
func (l *link) begin(ctx context.Context, client, method string) (*pendingRequest, error) {
	if client != "" {
		if err := l.turns.take(ctx, l.gone, client); err != nil {
			return nil, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended { // a connection that has ended needs no turns
		return nil, errGone
	}
	l.next++
	// The method in the id lets the extension answer a ping without its module.
	f := &pendingRequest{
		id: method + "#" + strconv.Itoa(l.next), events: make(chan func(context.Context, caller), eventQueue),
		done: make(chan *jsonrpc.Response, 1), client: client,
	}
	l.pending[f.id] = f
	return f, nil
}

func (l *link) finish(f *pendingRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pending, f.id)
	if f.client != "" {
		l.turns.free(f.client)
	}
}

// pendingRequest returns the request with an id, progress token or tag, or nil.
func (l *link) pendingRequest(id string) *pendingRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pending[id]
}

// request sends a request of the bridge's own. No client gets its progress, log
// messages or questions.
func (l *link) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	f, err := l.begin(ctx, "", method)
	if err != nil {
		return nil, err
	}
	defer l.finish(f)
	return l.exchange(ctx, f, method, params, noCaller{})
}

// exchange sends a registered request and waits for its response. If ctx ends first,
// it sends notifications/cancelled to the extension.
func (l *link) exchange(ctx context.Context, f *pendingRequest, method string, params json.RawMessage,
	to caller) (json.RawMessage, error) {
	id, _ := jsonrpc.MakeID(f.id) // a text is an id
	if err := l.conn.Write(ctx, &jsonrpc.Request{ID: id, Method: method, Params: params}); err != nil {
		if !errors.Is(err, socket.ErrTooLarge) && !errors.Is(err, socket.ErrTooDeep) {
			l.awaitEnd(ctx)
		}
		return nil, err
	}
	switch r := f.wait(ctx, l.gone, to); {
	case r != nil && r.Error != nil:
		return nil, r.Error
	case r != nil:
		return r.Result, nil
	case ctx.Err() != nil:
		l.cancelled(f, ctx.Err())
		return nil, ctx.Err()
	}
	if l.stopped() {
		return nil, fmt.Errorf("%w: %w", errGone, socket.ErrStopped)
	}
	switch why := l.conn.Why(); why {
	case socket.ErrTooLarge, socket.ErrTooDeep, socket.ErrTooFast, socket.ErrNotText:
		return nil, fmt.Errorf("%w: it sent a message beyond a limit: %w", errGone, why)
	}
	return nil, errGone
}

// awaitEnd waits until the connection has ended, for a second at most. The reader
// then knows why a write failed.
func (l *link) awaitEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	select {
	case <-l.gone:
	case <-ctx.Done():
	}
}

func (l *link) cancelled(f *pendingRequest, why error) {
	params := encoded(map[string]string{"requestId": f.id, "reason": why.Error()})
	_ = l.conn.Write(context.Background(), &jsonrpc.Request{Method: "notifications/cancelled", Params: params})
}
