package sdksession

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// maxRounds bounds how often one call may ask for input (MCP 2026-07-28,
// multi round-trip requests).
const maxRounds = 10

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
	if method != "elicitation/create" || s.elicit == nil {
		return nil, registry.Because(registry.ErrProtocol, "the tool asks for input that this client did not offer to give")
	}
	params, _ := rawjson.Get(request, "params")
	answer, err := s.elicit(ctx, s.name, params)
	if err != nil {
		return nil, err
	}
	if rawjson.Kind(answer) != 'o' || rawjson.Valid(answer, s.limits.Depth) != nil {
		return nil, registry.Because(registry.ErrInvalidArguments, "the answer to an elicitation is not a JSON object")
	}
	return answer, nil
}

// answerElicitation serves elicitation/create of the versions before 2026-07-28,
// where it is a request of the server's own.
func (s *session) answerElicitation(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	params, err := json.Marshal(req.Params)
	if err != nil {
		return nil, err
	}
	text, err := s.elicit(ctx, s.name, params)
	if err != nil {
		// The host's error is for its own eyes; the server learns that there is no answer.
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client could not ask the user"}
	}
	result := new(mcp.ElicitResult)
	if err := json.Unmarshal(text, result); err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client has no valid answer"}
	}
	return result, nil
}
