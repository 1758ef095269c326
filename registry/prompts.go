package registry

import (
	"context"
	"errors"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// GetPrompt makes the messages of a prompt. name is that of [Registry.Prompts]. arguments
// is the JSON text of an object with texts. The payload is the GetPromptResult object of
// the spec. The error is [ErrInvalidArguments] if a required argument is missing or the
// server refuses the arguments.
func (r *Registry) GetPrompt(ctx context.Context, name string, arguments []byte) (*Result, error) {
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	p, err := r.prompt(ctx, name)
	if err != nil {
		return nil, err
	}
	op := "get prompt " + p.Key
	if err := checkPrompt(p.Def, arguments); err != nil {
		return nil, &ServerError{p.Server, op, err}
	}
	params := rawjson.AppendString([]byte(`{"name":`), p.Key)
	params = append(append(append(params, `,"arguments":`...), arguments...), '}')
	result, err := r.ask(ctx, p.Server, op, Request{Method: "prompts/get", Params: params, About: p.Key}, "prompts")
	if rpc := (*RPCError)(nil); errors.As(err, &rpc) && rpc.Code == codeInvalidParams {
		err = &kindError{ErrInvalidArguments, err}
	}
	if err != nil {
		return nil, err
	}
	result.Tool = p.Key
	return result, nil
}

// prompt looks a prompt up. It lists those that are not known.
func (r *Registry) prompt(ctx context.Context, name string) (*Offer, error) {
	r.mu.Lock()
	var server string
	for _, s := range r.servers {
		if strings.HasPrefix(name, s.name+"__") && len(s.name) > len(server) {
			server = s.name
		}
		for _, o := range s.offers[promptList].offers {
			if o.Name == name {
				r.mu.Unlock()
				return &o, nil
			}
		}
	}
	r.mu.Unlock()
	var servers []string
	if server != "" {
		servers = []string{server}
	}
	offers, err := r.Prompts(ctx, servers...)
	for _, o := range offers {
		if o.Name == name {
			return &o, nil
		}
	}
	if err == nil {
		err = Because(ErrUnknownPrompt, text.Plain(name, 200))
	}
	return nil, err
}

// checkPrompt checks that all arguments are texts and that no required one is missing.
func checkPrompt(def, arguments []byte) error {
	given := map[string]bool{}
	if rawjson.Kind(arguments) != 'o' || rawjson.Valid(arguments, 2) != nil {
		return Because(ErrInvalidArguments, "the arguments are not an object of texts")
	}
	err := rawjson.Members(arguments, func(key string, value []byte) error {
		given[key] = true
		if rawjson.Kind(value) != 's' {
			return Because(ErrInvalidArguments, "the argument "+text.Plain(key, 100)+" is not a text")
		}
		return nil
	})
	if err != nil {
		return err
	}
	list, _ := rawjson.Get(def, "arguments")
	if rawjson.Kind(list) != 'a' {
		return nil
	}
	return rawjson.Elements(list, func(argument []byte) error {
		values, _ := rawjson.Pick(argument, "name", "required")
		name, _ := rawjson.String(values[0])
		if required, _ := rawjson.Bool(values[1]); required && !given[name] {
			return Because(ErrInvalidArguments, "the argument "+text.Plain(name, 100)+" is missing")
		}
		return nil
	})
}

// Complete asks a server for values of an argument. params is the JSON text of the params
// of completion/complete: ref, argument and context. The payload is the CompleteResult
// object of the spec. The error is [ErrUnsupported] if the server completes nothing.
func (r *Registry) Complete(ctx context.Context, server string, params []byte) (*Result, error) {
	return r.ask(ctx, server, "complete", Request{Method: "completion/complete", Params: params}, "completions")
}
