package bridge

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

var capabilities = &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{ListChanged: true}, Logging: &mcp.LoggingCapabilities{}}

// requestLogs asks the extension for all log messages. go-sdk applies each client's
// own level when it sends them on.
func requestLogs(ctx context.Context, session *mcp.ClientSession) {
	if r := session.InitializeResult(); r != nil && r.Capabilities != nil && r.Capabilities.Logging != nil {
		_ = session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"})
	}
}

func (c *client) log(ctx context.Context, raw json.RawMessage) {
	var p mcp.LoggingMessageParams
	var data struct {
		Data json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &p) != nil || json.Unmarshal(raw, &data) != nil {
		return
	}
	p.Data = data.Data // with its digits
	delete(p.Meta, rawmsg.MetaCall)
	_ = c.session.Log(ctx, &p)
}
