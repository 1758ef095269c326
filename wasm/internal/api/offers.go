package api

import (
	"context"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// asks are the methods that answer with the result of a server: a CalledReply.
var asks = map[string]func(context.Context, *API, []byte) (*registry.Result, error){
	"readResource": func(ctx context.Context, a *API, params []byte) (*registry.Result, error) {
		text, err := stringFields(params, "name", "uri")
		if err != nil {
			return nil, err
		}
		return a.reg.ReadResource(ctx, text[0], text[1])
	},
	"getPrompt": func(ctx context.Context, a *API, params []byte) (*registry.Result, error) {
		name, err := stringField(params, "name")
		if err != nil {
			return nil, err
		}
		args, _ := rawjson.Get(params, "args")
		return a.reg.GetPrompt(ctx, name, args)
	},
	"askSkill": func(ctx context.Context, a *API, params []byte) (*registry.Result, error) {
		name, err := stringField(params, "name")
		if err != nil {
			return nil, err
		}
		values, _ := rawjson.Pick(params, "params", "directory")
		directory, _ := rawjson.Bool(values[1])
		return a.reg.AskSkill(ctx, name, values[0], directory)
	},
	"waitTask": waitTask,
	"complete": func(ctx context.Context, a *API, params []byte) (*registry.Result, error) {
		name, err := stringField(params, "name")
		if err != nil {
			return nil, err
		}
		about, _ := rawjson.Get(params, "params")
		return a.reg.Complete(ctx, name, about)
	},
}

// waitTask answers with the result of a task. It needs the API for its progress.
func waitTask(ctx context.Context, a *API, params []byte) (*registry.Result, error) {
	text, err := stringFields(params, "name", "tool", "taskId")
	if err != nil {
		return nil, err
	}
	id := registry.CallID(ctx)
	return a.reg.WaitTask(ctx, text[0], text[1], text[2], func(p registry.Progress) { a.host.Progress(id, encodeProgress(p)) })
}

func cancelTask(ctx context.Context, a *API, params []byte) ([]byte, error) {
	text, err := stringFields(params, "name", "taskId")
	if err != nil {
		return nil, err
	}
	return null, a.reg.CancelTask(ctx, text[0], text[1])
}

// offers is the method that lists what some function of the registry lists. The error
// counts if all servers failed.
func offers(list func(*registry.Registry, context.Context, ...string) ([]registry.Offer, error)) func(context.Context, *API, []byte) ([]byte, error) {
	return func(ctx context.Context, a *API, params []byte) ([]byte, error) {
		names, none, err := serversOf(params)
		if none || err != nil {
			return []byte("[]"), err
		}
		all, err := list(a.reg, ctx, names...)
		if err != nil && (all == nil || ctx.Err() != nil) {
			return nil, err
		}
		return encodeOffers(all), nil
	}
}

// instructions returns those that are approved: a list of ServerInstructions.
func instructions(ctx context.Context, a *API, params []byte) ([]byte, error) {
	names, none, err := serversOf(params)
	if none || err != nil {
		return []byte("[]"), err
	}
	all, err := a.reg.Instructions(ctx, names...)
	if err != nil && (all == nil || ctx.Err() != nil) {
		return nil, err
	}
	out := []byte{'['}
	for _, i := range all {
		if i.Text == "" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, object(nil).str("server", i.Server).str("text", i.Text).end()...)
	}
	return append(out, ']'), nil
}

// serversOf reads the member servers. none says that it names no server.
func serversOf(params []byte) (names []string, none bool, err error) {
	raw, ok := rawjson.Get(params, "servers")
	if ok {
		names, err = stringList(raw, "servers")
	}
	return names, ok && len(names) == 0, err
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
	out := append(make([]byte, 0, size), '[')
	for i := range all {
		if i > 0 {
			out = append(out, ',')
		}
		o := object(nil).str("server", all[i].Server).opt("name", all[i].Name).raw("definition", all[i].Def)
		if hold := all[i].Hold; hold != nil {
			if o = o.str("reason", hold.Reason).str("pin", all[i].Pin()); hold.Before != nil {
				o = o.raw("before", hold.Before)
			}
		}
		out = append(out, o.end()...)
	}
	return append(out, ']')
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
	names, none, err := serversOf(params)
	if none || err != nil {
		return []byte("[]"), err
	}
	if err := a.known("read logs", names); err != nil {
		return nil, err
	}
	level, _ := rawjson.Get(params, "level")
	least, _ := rawjson.String(level)
	out := []byte{'['}
	for i, e := range a.reg.Logs(least, names...) {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, encodeLog(e)...)
	}
	return append(out, ']'), nil
}

// followLogs reports each entry as progress until the request is cancelled.
func followLogs(ctx context.Context, a *API, _ []byte) ([]byte, error) {
	id := registry.CallID(ctx)
	defer a.reg.SubscribeLogs(func(e registry.LogEntry) {
		a.host.Progress(id, object(nil).num("progress", 1).raw("log", encodeLog(e)).end())
	})()
	<-ctx.Done()
	return nil, ctx.Err()
}

// encodeLog writes a LogEntry.
func encodeLog(e registry.LogEntry) []byte {
	o := object(nil).str("server", e.Server).time("at", e.At).str("level", e.Level).opt("logger", e.Logger).str("text", e.Text)
	if e.Dropped > 0 {
		o = o.num("dropped", int64(e.Dropped))
	}
	return o.end()
}
