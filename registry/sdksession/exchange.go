package sdksession

import (
	"context"
	"net/http"
	"sync"
)

// An exchange is one JSON-RPC message on its way through the SDK. It travels in
// the request's context, so that the RoundTrippers know what they carry without
// parsing it again.
type exchange struct {
	method string
	id     string // JSON text of the id of a request; "" for notifications and responses
	out    *outcome
}

func (x *exchange) isCall() bool { return x.id != "" }

// fail records why the exchange has no answer. The SDK reports failures as
// text; the typed error goes past it.
func (x *exchange) fail(err error) error {
	if x.out != nil {
		x.out.set(x.id, err)
	}
	return err
}

// An outcome collects for the caller of the SDK what its latest request met
// with, and tells the exchanges what the caller wants of them.
type outcome struct {
	headers http.Header // to add to the request: Mcp-Param-*
	endless bool        // the answer is a subscription: no cap on its length
	raw     bool        // keep the result from the SDK and put it here

	mu      sync.Mutex
	id      string // of the latest request
	result  []byte
	err     error
	refused bool // that error is a 4xx without a JSON-RPC error
}

func (o *outcome) begin(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.id, o.result, o.err, o.refused = id, nil, nil, false
}

func (o *outcome) keep(id string, result []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id == id {
		o.result = result
	}
}

func (o *outcome) kept() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.result
}

// set keeps the first error of the latest request.
func (o *outcome) set(id string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.id == id && o.err == nil {
		o.err = err
	}
}

func (o *outcome) refuse() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.refused = true
}

func (o *outcome) get() (err error, refused bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err, o.refused
}

type (
	exchangeKey struct{}
	outcomeKey  struct{}
)

func withExchange(ctx context.Context, x *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

func withOutcome(ctx context.Context, o *outcome) context.Context {
	return context.WithValue(ctx, outcomeKey{}, o)
}

func outcomeOf(ctx context.Context) *outcome {
	o, _ := ctx.Value(outcomeKey{}).(*outcome)
	return o
}

// exchangeOf never returns nil: requests that the SDK makes on its own account
// (GET, DELETE) are exchanges without a message.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{out: outcomeOf(ctx)}
}
