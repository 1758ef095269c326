package api

import (
	"context"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// waitTask answers with the result of a task. It needs the API for its progress.
func waitTask(ctx context.Context, a *API, name string, params []byte) (*registry.Result, error) {
	text, err := stringFields(params, "tool", "taskId")
	if err != nil {
		return nil, err
	}
	id := registry.CallID(ctx)
	return a.reg.WaitTask(ctx, name, text[0], text[1], func(p registry.Progress) { a.host.Progress(id, encodeProgress(p)) })
}

func cancelTask(ctx context.Context, a *API, params []byte) ([]byte, error) {
	text, err := stringFields(params, "name", "taskId")
	if err != nil {
		return nil, err
	}
	return null, a.reg.CancelTask(ctx, text[0], text[1])
}

// offers lists what a function of the registry lists. The error counts if all servers failed.
func (a *API) offers(ctx context.Context, params []byte, list func(*registry.Registry, context.Context, ...string) ([]registry.Offer, error)) ([]byte, error) {
	names, none, err := listIn(params, "servers")
	if none || err != nil {
		return []byte("[]"), err
	}
	all, err := list(a.reg, ctx, names...)
	if err != nil && (all == nil || ctx.Err() != nil) {
		return nil, err
	}
	return encodeOffers(all), nil
}

// instructions returns those that are approved: a list of ServerInstructions.
func instructions(ctx context.Context, a *API, params []byte) ([]byte, error) {
	names, none, err := listIn(params, "servers")
	if none || err != nil {
		return []byte("[]"), err
	}
	all, err := a.reg.Instructions(ctx, names...)
	if err != nil && (all == nil || ctx.Err() != nil) {
		return nil, err
	}
	var out array
	for _, i := range all {
		if i.Text != "" {
			out.raw(new(object).str("server", i.Server).str("text", i.Text).end())
		}
	}
	return out.end(), nil
}

// listIn reads a member that is a list of names. none says that it names nothing.
func listIn(params []byte, key string) (names []string, none bool, err error) {
	raw := rawjson.Get(params, key)
	if raw != nil {
		names, err = stringList(raw, key)
	}
	return names, raw != nil && len(names) == 0, err
}

// known checks that the registry has all these servers.
func (a *API) known(op string, names []string) error {
	for _, name := range names {
		if _, ok := a.reg.Config(name); !ok {
			return &registry.ServerError{Server: name, Op: op, Err: registry.ErrUnknownServer}
		}
	}
	return nil
}

// encodeOffers writes a list of OfferReplies.
func encodeOffers(all []registry.Offer) []byte {
	size := 2
	for i := range all {
		size += len(all[i].Def) + len(all[i].Name) + len(all[i].Server) + 48
	}
	out := make(array, 0, size)
	for i := range all {
		o := new(object).str("server", all[i].Server).opt("name", all[i].Name).raw("definition", all[i].Def)
		if hold := all[i].Hold; hold != nil {
			o.str("reason", hold.Reason).str("pin", all[i].Pin())
			if hold.Before != nil {
				o.raw("before", hold.Before)
			}
		}
		out.raw(o.end())
	}
	return out.end()
}

// subscribeResource reports updates as progress until the request is cancelled. The first
// report says that the server has agreed.
func subscribeResource(ctx context.Context, a *API, params []byte) ([]byte, error) {
	text, err := stringFields(params, "name", "uri")
	if err != nil {
		return nil, err
	}
	tell := func() { a.host.Progress(registry.CallID(ctx), []byte(`{"progress":1}`)) }
	cancel, err := a.reg.SubscribeResource(ctx, text[0], text[1], tell)
	if err != nil {
		return nil, err
	}
	defer cancel()
	tell()
	<-ctx.Done()
	return nil, ctx.Err()
}

// logs returns the kept entries of servers' logs.
func logs(_ context.Context, a *API, params []byte) ([]byte, error) {
	names, none, err := listIn(params, "servers")
	if none || err != nil {
		return []byte("[]"), err
	}
	if err := a.known("read logs", names); err != nil {
		return nil, err
	}
	var out array
	for _, e := range a.reg.Logs(rawjson.Text(params, "level"), names...) {
		out.raw(encodeLog(e))
	}
	return out.end(), nil
}

// followLogs reports each entry as progress until the request is cancelled.
func followLogs(ctx context.Context, a *API, _ []byte) ([]byte, error) {
	id := registry.CallID(ctx)
	defer a.reg.SubscribeLogs(func(e registry.LogEntry) {
		a.host.Progress(id, new(object).num("progress", 1).raw("log", encodeLog(e)).end())
	})()
	<-ctx.Done()
	return nil, ctx.Err()
}

// encodeLog writes a LogEntry.
func encodeLog(e registry.LogEntry) []byte {
	o := new(object).str("server", e.Server).time("at", e.At).str("level", e.Level).opt("logger", e.Logger).str("text", e.Text)
	if e.Dropped > 0 {
		o.num("dropped", int64(e.Dropped))
	}
	return o.end()
}
