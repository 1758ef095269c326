// Package verbatim has what the two servers on go-sdk share that pass messages on
// as they are written: the bridge's, and the extension's behind it. Decoded and
// encoded again, a message would lose the order of its members and long digits.
package verbatim

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Keys in _meta, of calls to the extension and of what it sends about them.
const (
	// MetaCall names the call that a question, log message or progress belongs to.
	// The bridge sends it with tools/call; the extension sends it back in _meta of
	// elicitation/create and notifications/message.
	MetaCall = "portolan/call"
	// MetaClient says who calls: {"id", "name", "version"}; id is the client's
	// session at the bridge.
	MetaClient = "portolan/client"
)

// A Result is a result that is JSON already.
type Result struct {
	mcp.ResultBase
	Text json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (r *Result) MarshalJSON() ([]byte, error) { return r.Text, nil }

// Question reads the spec's ElicitRequestParams, and leaves the schema in them as
// it is.
func Question(text json.RawMessage) (*mcp.ElicitParams, error) {
	var schema struct {
		RequestedSchema json.RawMessage `json:"requestedSchema"`
	}
	var p mcp.ElicitParams
	if json.Unmarshal(text, &p) != nil || json.Unmarshal(text, &schema) != nil {
		return nil, errors.New("the question cannot be read")
	}
	if schema.RequestedSchema != nil {
		p.RequestedSchema = schema.RequestedSchema
	}
	return &p, nil
}

// ToolsChanged tells the clients of a server that lists tools of its own making
// that these are others. Go-sdk says so when its own list does, which holds nothing
// else and is never shown.
func ToolsChanged(s *mcp.Server) {
	s.AddTool(&mcp.Tool{Name: "changed", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
}
