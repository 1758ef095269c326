package registry

import (
	"context"
	"strings"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// Prompts lists the prompts, as [Registry.Resources] does. It leaves out those that are held.
func (r *Registry) Prompts(ctx context.Context, servers ...string) ([]Offer, error) {
	return r.prompts(ctx, servers, false)
}

// HeldPrompts lists the prompts that wait for [Registry.ApprovePrompts]: their title,
// description or arguments differ from the approved ones, or the configuration has new ones held.
func (r *Registry) HeldPrompts(ctx context.Context, servers ...string) ([]Offer, error) {
	return r.prompts(ctx, servers, true)
}

func (r *Registry) prompts(ctx context.Context, servers []string, held bool) (prompts []Offer, err error) {
	all, err := r.allOffers(ctx, promptList, servers)
	prompts = all[:0:0] // nil if all is nil
	for i := range all {
		if (all[i].Hold != nil) == held {
			prompts = append(prompts, all[i])
		}
	}
	return prompts, err
}

// Pin tells this version of a prompt from its other versions.
func (o *Offer) Pin() string { return o.Name + o.text }

// ApprovePrompts approves held prompts as they are now, by the server's own names. If all names are "pin:" with an
// [Offer.Pin], it approves those versions only, and fails with [ErrHeld] if a prompt has another one by now. Without
// names it approves all that are held.
func (r *Registry) ApprovePrompts(name string, prompts ...string) error {
	return r.changeServer(name, "approve", func(s *server) error {
		l := &s.offers[promptList]
		offers := append([]Offer(nil), l.offers...) // others may read the old ones
		var held []*Offer
		for i := range offers {
			if o := &offers[i]; o.Hold != nil && isNamed(prompts, o.Key, o.Pin()) {
				held = append(held, o)
			}
		}
		if len(held) < len(prompts) {
			return notHeld(prompts, ErrUnknownPrompt)
		}
		a, fresh := r.approvedFor(s), FreshPins{ByUser: true}
		for _, o := range held {
			a.ApprovePrompt(o.Key, o.text)
			fresh.Tools = append(fresh.Tools, approvals.PromptLine(o.Key))
			o.Hold = nil
		}
		l.offers = offers
		r.savePins(s, a, fresh)
		r.changed(Event{Server: name})
		return nil
	})
}

// reviewPrompts holds the prompts of the server's list that need an approval, and approves
// the others. The caller holds r.mu.
func (r *Registry) reviewPrompts(s *server) {
	l := &s.offers[promptList]
	if len(l.offers) == 0 {
		return
	}
	a, fresh := r.approvedFor(s), FreshPins{}
	first := !a.HasPrompts(false)
	l.offers = append([]Offer(nil), l.offers...) // others may read the old ones
	for i := range l.offers {
		o, isFresh := &l.offers[i], false
		if o.Hold = nil; s.cfg.Trust != TrustAll {
			o.Hold, isFresh = a.ReviewPrompt(o.Key, o.text, r.policy(s), first)
		}
		if isFresh {
			fresh.Tools = append(fresh.Tools, approvals.PromptLine(o.Key))
		}
	}
	if fresh.Tools != nil {
		r.savePins(s, a, fresh)
	}
}

// promptText returns what a person sees of a prompt, as one line of JSON.
func promptText(def []byte) string {
	all, err := rawjson.Parse(def, 0, 0)
	if err != nil {
		return "{}"
	}
	var members []string
	for _, key := range []string{"title", "description", "arguments"} {
		if v := all.Get(key); v != nil {
			members = append(members, `"`+key+`":`+v.Stringify())
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

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
	if p.Hold != nil {
		return nil, onServer(p.Server, op, Because(ErrHeld, p.Hold.Reason))
	}
	if err := checkPrompt(p.Def, arguments); err != nil {
		return nil, onServer(p.Server, op, err)
	}
	params := rawjson.AppendString([]byte(`{"name":`), p.Key)
	params = append(params, `,"arguments":`+string(arguments)+"}"...)
	result, err := r.ask(ctx, p.Server, op, Request{Method: "prompts/get", Params: params, About: p.Key}, "prompts")
	if isRPC(err, codeInvalidParams) {
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
	offers, err := r.allOffers(ctx, promptList, servers)
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
	list := rawjson.Get(def, "arguments")
	if rawjson.Kind(list) != 'a' {
		return nil
	}
	return rawjson.Elements(list, func(argument []byte) error {
		name := rawjson.Text(argument, "name")
		if rawjson.IsTrue(argument, "required") && !given[name] {
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
