package toolserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// callTag is the bridge's mark of a call, which goes back with questions about it.
const callTag = "portolan/call"

// callerOf returns the client that waits for a call.
func callerOf(ctx context.Context, req *mcp.CallToolRequest) Caller {
	token := req.Params.GetProgressToken()
	return Caller{
		Progress: func(p Progress) {
			if token != nil {
				_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: p.Progress, Total: p.Total, Message: p.Message})
			}
		},
		Elicit: func(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
			var schema struct {
				RequestedSchema json.RawMessage `json:"requestedSchema"`
			}
			var params mcp.ElicitParams
			if err := errors.Join(json.Unmarshal(raw, &params), json.Unmarshal(raw, &schema)); err != nil {
				return nil, errors.New("the question cannot be read")
			}
			if schema.RequestedSchema != nil {
				params.RequestedSchema = schema.RequestedSchema // its members in the server's order
			}
			params.Meta = mcp.Meta{callTag: req.Params.Meta[callTag]}
			answer, err := req.Session.Elicit(ctx, &params)
			if err != nil {
				return nil, err
			}
			return json.Marshal(answer)
		},
	}
}
