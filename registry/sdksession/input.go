package sdksession

import (
	"context"
	"errors"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// maxRounds bounds how often one call may ask for input (MCP 2026-07-28,
// multi round-trip requests).
const maxRounds = 10

// errNotOffered is an RPCError, for it says nothing bad about the server's health:
// the tool wants a capability that was not announced (MCP 2026-07-28, error codes).
var errNotOffered = &registry.RPCError{Code: -32021, Message: "the tool asks for input that this host cannot give"}

// wantsInput reports whether a result asks for input before the call goes on.
func wantsInput(result []byte) bool {
	raw, _ := rawjson.Get(result, "resultType")
	kind, _ := rawjson.String(raw)
	return kind == "input_required"
}

// answerInput puts the questions of an input_required result to the host and
// returns the members that the repeated request has in addition: the answers, and
// the server's state untouched.
func (s *session) answerInput(ctx context.Context, result []byte) ([]byte, error) {
	requests, hasRequests := rawjson.Get(result, "inputRequests")
	state, hasState := rawjson.Get(result, "requestState")
	var b []byte
	if hasRequests {
		b = append(b, `,"inputResponses":{`...)
		first := true
		err := rawjson.Members(requests, func(id string, request []byte) error {
			answer, err := s.answerOne(ctx, request)
			if err != nil {
				return err
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			b = append(rawjson.AppendString(b, id), ':')
			b = append(b, answer...)
			return nil
		})
		if syntax := (*rawjson.SyntaxError)(nil); errors.As(err, &syntax) {
			return nil, registry.Because(registry.ErrProtocol, "the input that the tool asks for is no object: "+err.Error())
		}
		if err != nil {
			return nil, err
		}
		b = append(b, '}')
	}
	if hasState {
		b = append(append(b, `,"requestState":`...), state...)
	}
	if b == nil {
		return nil, registry.Because(registry.ErrProtocol, "the tool asks for input but names none")
	}
	return b, nil
}

func (s *session) answerOne(ctx context.Context, request []byte) ([]byte, error) {
	raw, _ := rawjson.Get(request, "method")
	method, _ := rawjson.String(raw)
	if method != elicitation || s.elicit == nil {
		return nil, errNotOffered
	}
	params, _ := rawjson.Get(request, "params")
	return s.ask(ctx, params)
}
