package sdksession

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

const (
	elicitation = "elicitation/create"
	// maxQuestions bounds how many questions of one server wait for the user.
	maxQuestions = 4
)

// elicited serves a server's request elicitation/create and answers it when the
// host has. It does not wait. The SDK is kept out of it: a schema such as
// {"$ref":"#"} overflows the stack of its validator, which nothing can recover.
func (s *session) elicited(req *jsonrpc.Request) {
	if s.questions.Add(1) > maxQuestions {
		s.questions.Add(-1)
		go s.respond(req.ID, nil, errors.New("too many questions at once"))
		return
	}
	go func() {
		defer s.questions.Add(-1)
		answer, err := s.ask(s.calls, req.Params)
		s.respond(req.ID, answer, err)
	}()
}

func (s *session) respond(id jsonrpc.ID, result []byte, err error) {
	response := &jsonrpc.Response{ID: id, Result: result}
	if err != nil {
		// The host's own words are not for the server.
		response.Result, response.Error = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the user could not be asked"}
	}
	if s.calls.Err() == nil {
		s.tap.Write(s.calls, response)
	}
}

// ask puts one question to the host and completes its answer.
func (s *session) ask(ctx context.Context, params []byte) (answer []byte, err error) {
	defer func() {
		if recover() != nil {
			answer, err = nil, errors.New("the host failed to ask the user")
		}
	}()
	mode, _ := rawjson.Get(params, "mode")
	if text, ok := rawjson.String(mode); ok && text != "form" || rawjson.Kind(params) != 'o' {
		return nil, errNotOffered
	}
	if answer, err = s.elicit(ctx, s.name, params); err != nil {
		return nil, err
	}
	if rawjson.Kind(answer) != 'o' || rawjson.Valid(answer, s.limits.Depth) != nil {
		return nil, registry.Because(registry.ErrInvalidArguments, "the answer to an elicitation is not a JSON object")
	}
	return withDefaults(params, answer), nil
}

// withDefaults adds to an accepted form the defaults of the fields that the user
// left out (SEP-1034).
func withDefaults(params, answer []byte) []byte {
	raw, _ := rawjson.Get(answer, "action")
	if action, _ := rawjson.String(raw); action != "accept" {
		return answer
	}
	schema, _ := rawjson.Get(params, "requestedSchema")
	fields, ok := rawjson.Get(schema, "properties")
	if !ok || rawjson.Kind(fields) != 'o' {
		return answer
	}
	given := make(map[string]bool)
	content := []byte{'{'}
	add := func(name string, value []byte) {
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = append(append(rawjson.AppendString(content, name), ':'), value...)
		given[name] = true
	}
	if filled, ok := rawjson.Get(answer, "content"); ok && rawjson.Kind(filled) == 'o' {
		rawjson.Members(filled, func(name string, value []byte) error { add(name, value); return nil })
	}
	rawjson.Members(fields, func(name string, field []byte) error {
		if value, ok := rawjson.Get(field, "default"); ok && !given[name] {
			add(name, value)
		}
		return nil
	})
	return append(append([]byte(`{"action":"accept","content":`), content...), "}}"...)
}
