package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

// Multi round-trip requests of 2026-07-28: a server that has a question answers the request with it. The client repeats
// the request with the answers. For the extension both requests are one call, which stays under way.

// Bounds on paused calls. Questions beyond them are refused, and the extension's side panel asks them.
const (
	maxPausedOfClient = 16
	maxPaused         = 256
	pauseTime         = 10 * time.Minute // for the client to repeat its request; then the call is cancelled
)

// rounds keeps the calls that may ask their clients. The zero value is ready.
type rounds struct {
	pause time.Duration // pauseTime if 0; only tests set it
	work  sync.WaitGroup

	mu     sync.Mutex
	live   map[*roundCall]bool
	paused map[string]*roundCall // by requestState
	ended  bool
}

// A roundCall is a call that may take several requests of its client, its rounds. It is a caller.
type roundCall struct {
	*questions
	client string // the key of the sender
	what   string // method and target
	cancel context.CancelFunc
	done   chan struct{} // closed when the next two are set
	result mcp.Result
	err    error
	expiry *time.Timer           // while the call is paused; guarded by rounds.mu
	round  atomic.Pointer[round] // nil while the call is paused: its progress and log messages are dropped
}

// A round is one request of a call's client.
type round struct {
	ctx context.Context
	to  *client
}

// roundParams returns what the client of a call repeats its request with. target is the call's tool, prompt or resource.
func roundParams(params mcp.Params) (target string, answers mcp.InputResponseMap, state string, ok bool) {
	switch p := params.(type) {
	case *mcp.CallToolParamsRaw:
		return p.Name, p.InputResponses, p.RequestState, true
	case *mcp.GetPromptParams:
		return p.Name, p.InputResponses, p.RequestState, true
	case *mcp.ReadResourceParams:
		return p.URI, p.InputResponses, p.RequestState, true
	}
	return "", nil, "", false
}

// serve answers one request of a client: it begins a call, or resumes the one that waits for the request. The result is
// the call's, or the questions that the client is to answer.
func (rs *rounds) serve(ctx context.Context, s *sender, method string, params mcp.Params,
	begin func(context.Context, caller) (mcp.Result, error)) (mcp.Result, error) {
	target, answers, state, _ := roundParams(params)
	what := method + " " + target
	var c *roundCall
	if state == "" {
		c = &roundCall{questions: newQuestions(s.can.Elicitation), client: s.key, what: what, done: make(chan struct{})}
	} else if c = rs.resume(s.key, what, state); c == nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState names no call that waits for " +
			"this client; it may have waited too long. Call again without requestState and inputResponses"}
	}
	c.round.Store(&round{ctx, &client{s.session, params.GetMeta()["progressToken"]}})
	c.give(s.can.Elicitation, answers)
	defer c.round.Store(nil)
	if state == "" && !rs.start(ctx, c, begin) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the bridge ends"}
	}
	for {
		select {
		case <-c.done:
			return c.result, c.err
		case <-c.came:
			if result := rs.ask(c); result != nil {
				return result, nil
			}
		case <-ctx.Done():
			c.cancel()
			return nil, ctx.Err()
		}
	}
}

// start runs a call until it ends. It outlives the client's request.
func (rs *rounds) start(ctx context.Context, c *roundCall, begin func(context.Context, caller) (mcp.Result, error)) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.ended {
		return false
	}
	ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if rs.live == nil {
		rs.live, rs.paused = make(map[*roundCall]bool), make(map[string]*roundCall)
	}
	rs.live[c] = true
	rs.work.Go(func() {
		defer func() {
			if recover() != nil {
				c.result, c.err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "a fault of the bridge"}
			}
			close(c.done)
			c.cancel()
			rs.mu.Lock()
			defer rs.mu.Unlock()
			delete(rs.live, c)
		}()
		c.result, c.err = begin(ctx, c)
	})
	return true
}

// ask pauses a call that has questions, and returns them for the client. It returns nil if there are none any more, or
// if too many calls are paused.
func (rs *rounds) ask(c *roundCall) mcp.Result {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	select {
	case <-c.done:
		return nil
	default:
	}
	requests := c.requests()
	if len(requests) == 0 {
		return nil
	}
	own := 0
	for _, other := range rs.paused {
		if other.client == c.client {
			own++
		}
	}
	if own >= maxPausedOfClient || len(rs.paused) >= maxPaused || rs.ended {
		c.refuse(errors.New("too many calls of the client wait for answers"))
		return nil
	}
	state := rand.Text()
	text, err := json.Marshal(map[string]any{
		"resultType": "input_required", "inputRequests": requests, "requestState": state,
	})
	if err != nil {
		c.refuse(err)
		return nil
	}
	rs.paused[state] = c
	c.round.Store(nil)
	c.expiry = time.AfterFunc(rs.limit(), func() { rs.expire(state) })
	return &rawmsg.Result{Text: text}
}

// limit is how long a call waits for its client.
func (rs *rounds) limit() time.Duration { return cmp.Or(rs.pause, pauseTime) }

// resume takes the call that waits for a request with this state, or nil.
func (rs *rounds) resume(client, what, state string) *roundCall {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	c := rs.paused[state]
	if c == nil || c.client != client || c.what != what {
		return nil
	}
	delete(rs.paused, state)
	c.expiry.Stop()
	return c
}

// expire cancels a call whose client did not come back.
func (rs *rounds) expire(state string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if c := rs.paused[state]; c != nil {
		delete(rs.paused, state)
		c.cancel()
	}
}

// end cancels the paused calls of a client that has left.
func (rs *rounds) end(client string) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for state, c := range rs.paused {
		if c.client == client {
			delete(rs.paused, state)
			c.expiry.Stop()
			c.cancel()
		}
	}
}

// close cancels all calls, and waits for them.
func (rs *rounds) close() {
	rs.mu.Lock()
	rs.ended = true
	for _, c := range rs.paused {
		c.expiry.Stop()
	}
	clear(rs.paused)
	for c := range rs.live {
		c.cancel()
	}
	rs.mu.Unlock()
	rs.work.Wait()
}

func (c *roundCall) progress(_ context.Context, p progress) {
	if r := c.round.Load(); r != nil {
		r.to.progress(r.ctx, p)
	}
}

func (c *roundCall) log(_ context.Context, raw json.RawMessage) {
	if r := c.round.Load(); r != nil {
		r.to.log(r.ctx, raw)
	}
}
