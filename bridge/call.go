package bridge

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A caller is the desktop client that waits for a call. Its methods are called
// from several goroutines.
type caller interface {
	progress(ctx context.Context, p progress)
	log(ctx context.Context, raw json.RawMessage)
	ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

type progress struct {
	Token    string  `json:"progressToken"`
	Progress float64 `json:"progress"`
	Total    float64 `json:"total"`
	Message  string  `json:"message"`
}

// eventQueue limits the events of a call that wait for its client. Further progress
// and log messages are dropped.
const eventQueue = 64

// maxQuestions limits the open questions of a browser profile, for each call that it
// may have under way.
const maxQuestions = 4

// A pendingRequest is a request to the extension that has no response yet.
type pendingRequest struct {
	id     string
	events chan func(context.Context, caller) // in the extension's order
	done   chan *jsonrpc.Response             // receives once
	client string                             // the client that holds the turn; "" if none is needed
}

// offer sends a value, if there is room for it.
func offer[T any](to chan<- T, value T) bool {
	select {
	case to <- value:
		return true
	default:
		return false
	}
}

// wait passes the call's events to its client until the response arrives. It returns
// nil if ctx ends or gone is closed before that.
func (f *pendingRequest) wait(ctx context.Context, gone <-chan struct{}, to caller) *jsonrpc.Response {
	for {
		select {
		case e := <-f.events:
			e(ctx, to)
		case r := <-f.done:
			for len(f.events) > 0 { // events that arrived before the response go first
				(<-f.events)(ctx, to)
			}
			return r
		case <-gone:
			select {
			case r := <-f.done:
				return r
			default:
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}
