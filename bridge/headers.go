package bridge

import (
	"bytes"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// learnHeaders lets go-sdk compare the headers Mcp-Param-… of a call with its arguments (2026-07-28). It does so for
// tools in a list of its own, so the tools whose schemas name such headers are copied to it.
func (r *relay) learnHeaders() {
	l, err := r.bridge.choose(r.profile, "")
	if err != nil {
		return
	}
	list, ok := l.listed()
	r.mu.Lock()
	defer r.mu.Unlock()
	if !ok || len(r.learned) > 0 && &r.learned[0] == &list[0] {
		return
	}
	r.learned = list
	stale := r.named
	r.named = make(map[string]bool)
	var tools struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	if bytes.Contains(list, []byte(`"x-mcp-header"`)) && json.Unmarshal(list, &tools) == nil {
		for _, t := range tools.Tools {
			if bytes.Contains(t.InputSchema, []byte(`"x-mcp-header"`)) && addTool(r.server, t.Name, t.InputSchema) {
				r.named[t.Name] = true
				delete(stale, t.Name)
			}
		}
	}
	for name := range stale {
		r.server.RemoveTools(name)
	}
}

// addTool reports whether go-sdk takes a tool. It panics at schemas that break the spec.
func addTool(s *mcp.Server, name string, schema json.RawMessage) (ok bool) {
	defer func() { ok = recover() == nil }()
	s.AddTool(&mcp.Tool{Name: name, InputSchema: schema}, nil)
	return true
}
