package sdksession

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
)

// The SDK decodes the results of the methods it knows into structs, which drops
// what it does not know, rounds numbers and costs 95 µs a tool in wasm. So our
// requests go through it under private names, for which it does no more than
// carry bytes; the tap gives them their real names on the way out.
const private = "portolan:"

const (
	methodList   = "tools/list"
	methodCall   = "tools/call"
	methodListen = "subscriptions/listen"

	methodCancelled = "notifications/cancelled"
)

// register makes the private methods known to client.
func register(client *mcp.Client) {
	for _, method := range []string{methodList, methodCall, methodListen} {
		if err := mcp.AddSendingCustomMethod[*rawParams, *rawResult](client, private+method); err != nil {
			panic("sdksession: " + err.Error())
		}
	}
}

// rawParams are a request's params: JSON members as text, to which the SDK and
// the session add only _meta.
type rawParams struct {
	mcp.ParamsBase
	members []byte // `"name":"x","arguments":{}`, may be empty
}

func (p *rawParams) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, len(p.members)+256), '{')
	b = append(b, p.members...)
	if len(p.Meta) > 0 {
		meta, err := json.Marshal(map[string]any(p.Meta))
		if err != nil {
			return nil, err
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(b, `"_meta":`...), meta...)
	}
	return append(b, '}'), nil
}

// rawResult is a result as the server wrote it.
type rawResult struct {
	mcp.ResultBase
	text []byte
}

func (r *rawResult) UnmarshalJSON(b []byte) error {
	r.text = append([]byte(nil), b...)
	return nil
}

// request sends one request and returns the server's result as it stands. The
// error is classified; onProgress may be nil.
func (s *session) request(caller context.Context, method string, members []byte, out *outcome, onProgress progressFunc) ([]byte, error) {
	out.raw = true
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	stop := context.AfterFunc(s.calls, cancel)
	defer stop()

	params := &rawParams{members: members}
	if onProgress != nil {
		token := s.tap.expectProgress(onProgress)
		defer s.tap.forgetProgress(token)
		params.Meta = mcp.Meta{"progressToken": token}
	}
	result, err := mcp.CallCustomMethod[*rawParams, *rawResult](withOutcome(ctx, out), s.sdk, private+method, params)
	if err != nil {
		if ctx.Err() != nil && !errors.Is(err, mcp.ErrConnectionClosed) {
			s.tap.cancelled.add()
		}
		return nil, s.classify(caller, out, err)
	}
	if kept := out.kept(); kept != nil {
		return kept, nil
	}
	if len(result.text) == 0 {
		return nil, registry.Because(registry.ErrProtocol, "the answer has no result")
	}
	return result.text, nil
}
