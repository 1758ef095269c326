// Package rawmsg passes MCP messages through go-sdk as raw JSON. The bridge's server
// and the extension's server use it. Decoding and encoding again would lose the order
// of a message's members and the digits of long numbers.
package rawmsg

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Keys in _meta of calls to the extension, and of its messages about these calls.
const (
	// MetaCall names the call that a question, log message or progress belongs to.
	// The bridge sends it with tools/call; the extension sends it back in _meta of
	// elicitation/create, sampling/createMessage and notifications/message.
	MetaCall = "portolan/call"
	// MetaClient describes the desktop client of a call: {"id", "name", "version",
	// "samples", "instance", "project"}. The id stands for the client's session at the
	// bridge. "samples" says that its model can be asked. The instance tells clients of
	// the same name apart, and outlives the session.
	MetaClient = "portolan/client"
)

// A Result is a result as JSON text, which go-sdk sends unchanged.
type Result struct {
	mcp.ResultBase
	Text json.RawMessage
}

// MarshalJSON implements [json.Marshaler].
func (r *Result) MarshalJSON() ([]byte, error) { return r.Text, nil }

// Ask sends a client elicitation/create or sampling/createMessage, with meta in place of
// the _meta of params. It returns the client's result.
func Ask(ctx context.Context, to *mcp.ServerSession, method string, params json.RawMessage, meta mcp.Meta) (json.RawMessage, error) {
	var result any
	switch method {
	case "elicitation/create":
		p, err := Question(params)
		if err != nil {
			return nil, err
		}
		p.Meta = meta
		if result, err = to.Elicit(ctx, p); err != nil {
			return nil, err
		}
	case "sampling/createMessage":
		var p mcp.CreateMessageParams
		err := json.Unmarshal(params, &p)
		if err != nil {
			return nil, errors.New("the request for a sample cannot be read")
		}
		p.Meta = meta
		if result, err = to.CreateMessage(ctx, &p); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New("a client is not asked by " + method)
	}
	return json.Marshal(result)
}

// Question decodes the spec's ElicitRequestParams. The schema in them stays raw JSON.
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

// Requests are the methods, beside those of tools, that the bridge and the extension's
// server pass on: what the servers of the registry offer.
var Requests = []string{
	"resources/list", "resources/templates/list", "resources/read", "prompts/list", "prompts/get", "completion/complete",
}

// Capabilities returns those of a server that passes on the tools and Requests.
func Capabilities() *mcp.ServerCapabilities {
	return &mcp.ServerCapabilities{
		Tools: &mcp.ToolCapabilities{ListChanged: true}, Logging: &mcp.LoggingCapabilities{},
		Resources: &mcp.ResourceCapabilities{ListChanged: true, Subscribe: true}, Prompts: &mcp.PromptCapabilities{ListChanged: true},
		Completions: &mcp.CompletionCapabilities{},
	}
}

// OffersChanged sends notifications/resources/list_changed and
// notifications/prompts/list_changed to the clients of s, as [ToolsChanged] does.
func OffersChanged(s *mcp.Server) {
	s.AddResource(&mcp.Resource{Name: "changed", URI: "portolan:changed"}, nil)
	s.AddPrompt(&mcp.Prompt{Name: "changed"}, nil)
}

// ToolsChanged sends notifications/tools/list_changed to the clients of s. go-sdk only
// sends it when its own list of tools changes, so a dummy tool is added to that list.
// The servers here answer tools/list themselves, so no client sees the dummy tool.
func ToolsChanged(s *mcp.Server) {
	s.AddTool(&mcp.Tool{Name: "changed", InputSchema: json.RawMessage(`{"type":"object"}`)}, nil)
}
