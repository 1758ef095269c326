package bridge

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// metaTask carries what go-sdk's types lack: the param "task" of tools/call, and the ids of tasks in
// subscriptions/listen.
const metaTask = "portolan/task"

// withTask moves what metaTask carries into _meta, where it passes go-sdk. The methods about tasks get params, because
// go-sdk's custom methods fail without them. Any other request comes back unchanged.
func withTask(method string, params json.RawMessage) json.RawMessage {
	if strings.HasPrefix(method, "tasks/") && (len(params) == 0 || string(params) == "null") {
		return json.RawMessage(`{}`)
	}
	var all map[string]json.RawMessage
	if !bytes.Contains(params, []byte(`"task`)) || json.Unmarshal(params, &all) != nil {
		return params
	}
	var moved json.RawMessage
	switch method {
	case "tools/call":
		moved = all["task"]
		delete(all, "task")
	case "subscriptions/listen":
		var wanted map[string]json.RawMessage
		if json.Unmarshal(all["notifications"], &wanted) == nil {
			moved = wanted["taskIds"]
		}
	}
	if moved == nil {
		return params
	}
	var meta map[string]json.RawMessage
	if json.Unmarshal(all["_meta"], &meta) != nil || meta == nil {
		meta = make(map[string]json.RawMessage)
	}
	meta[metaTask] = moved
	all["_meta"] = encoded(meta)
	return encoded(all)
}

// withTaskBody does the same with the body of a request over HTTP.
func withTaskBody(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"task`)) {
		return body
	}
	var message map[string]json.RawMessage
	var method string
	if json.Unmarshal(body, &message) != nil || json.Unmarshal(message["method"], &method) != nil {
		return body
	}
	params := withTask(method, message["params"])
	if params == nil || bytes.Equal(params, message["params"]) {
		return body
	}
	message["params"] = params
	return encoded(message)
}

// misnamedTask returns the response to a request about a task whose header Mcp-Name is not the task's id (SEP-2663,
// routing headers), or nil.
func misnamedTask(header http.Header, body []byte) []byte {
	if !bytes.Contains(body, []byte(`"tasks/`)) {
		return nil
	}
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			ID string `json:"taskId"`
		} `json:"params"`
	}
	if json.Unmarshal(body, &message) != nil || message.ID == nil || header.Get("Mcp-Name") == message.Params.ID {
		return nil
	}
	switch message.Method {
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return nil
	}
	return encoded(map[string]any{"jsonrpc": "2.0", "id": message.ID, "error": map[string]any{
		"code": mcp.CodeHeaderMismatch, "message": "the header Mcp-Name is not the params' taskId",
	}})
}
