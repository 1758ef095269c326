package toolserver

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

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
			params, err := rawmsg.Question(raw)
			if err != nil {
				return nil, err
			}
			params.Meta = mcp.Meta{rawmsg.MetaCall: req.Params.Meta[rawmsg.MetaCall]} // of the server's, nothing
			answer, err := req.Session.Elicit(ctx, params)
			if err != nil {
				return nil, err
			}
			return json.Marshal(answer)
		},
	}
}
