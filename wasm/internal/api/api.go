// Package api is what a page can ask of the registry inside the module: a table
// of methods with JSON in and out. It is pure Go; wasm/internal/bridge carries it to
// JavaScript, and the tests call it natively. The JSON forms are those of
// wasm/js/shared/protocol.ts and types.ts.
package api

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Version is the version of the module and of the package around it, which must agree.
const Version = "0.1.0"

// A Host receives what the API reports. Its methods do not block and may be
// called from any goroutine. Byte slices are not kept by the caller.
type Host interface {
	// Reply ends request id with a JSON result.
	Reply(id int, result []byte)
	// Called ends request id with the answer to a tool call.
	Called(id int, result *registry.Result)
	// Fail ends request id with a WireError.
	Fail(id int, err []byte)
	// Queued says that request id, a call, waits for other calls to end, or does not any more.
	Queued(id int, waits bool)
	// Progress reports on request id; the JSON is a ToolProgress.
	Progress(id int, progress []byte)
	// State tells the registry's status and the servers that changed: a StateEvent.
	State(event []byte)
	// Pins keeps what is approved at an endpoint: Start.Pins of a later start.
	Pins(server, key, pins string, fresh registry.FreshPins)
	// Config replaces the configuration of one server, secrets included; nil: the server was removed.
	Config(server string, config []byte)
	// Tools replaces the tools of one server, those withheld from models among them. each
	// visits them; see [registry.Registry.EachTool].
	Tools(server string, each func(visit func(*registry.Tool)))
}

// An API serves one registry to one host. Its methods return at once.
type API struct {
	reg  *registry.Registry
	host Host
	// SetRoots replaces the roots; nil: there are none.
	SetRoots func([]registry.Root) error

	changes sync.Mutex // held while a configuration changes

	mu      sync.Mutex
	cancels map[int]context.CancelFunc // of requests, except calls

	events events
}

// New returns an API that tells host of every change in reg.
func New(reg *registry.Registry, host Host) *API {
	a := &API{reg: reg, host: host, cancels: make(map[int]context.CancelFunc)}
	a.events.init(a)
	return a
}

// Call runs a method of the table and answers under id.
func (a *API) Call(id int, method string, params []byte) {
	for i := range methods {
		if m := &methods[i]; m.name == method {
			a.run(id, func(ctx context.Context) error { return a.answer(ctx, id, m, params) })
			return
		}
	}
	a.fail(id, registry.Because(errUsage, "the module has no method "+method))
}

// answer runs a method and gives the host its result.
func (a *API) answer(ctx context.Context, id int, m *method, params []byte) (err error) {
	result, server := null, ""
	if m.do == nil {
		if server, err = stringField(params, "name"); err != nil {
			return err
		}
	}
	switch {
	case m.ask != nil:
		result, err := m.ask(ctx, a, server, params)
		if err == nil {
			a.host.Called(id, result)
		}
		return err
	case m.change != nil:
		err = m.change(ctx, a, server, params)
	default:
		result, err = m.do(ctx, a, params)
	}
	a.events.flush()
	if err == nil {
		a.host.Reply(id, result)
	}
	return err
}

// run does the work of a request in a goroutine and answers if it fails.
func (a *API) run(id int, work func(context.Context) error) {
	ctx, done := a.begin(id)
	ctx = registry.WithCall(ctx, id)
	go func() {
		defer done()
		defer a.recovered(id)
		if err := work(ctx); err != nil {
			a.fail(id, err)
		}
	}()
}

// Dispatch calls a tool and answers under id. name may have a second line, the JSON text of
// a CallOptions. inline reports that no goroutine goes on
// with the call, as is the rule.
func (a *API) Dispatch(id int, name string, args []byte, timeout time.Duration, progress bool) (inline bool) {
	defer a.recovered(id)
	name, options, _ := strings.Cut(name, "\n")
	call := registry.Call{ID: id, Name: name, Arguments: args, Timeout: timeout}
	if options != "" {
		given, _ := rawjson.Pick([]byte(options), "attempts", "trace", "detach", "app")
		attempts, _ := rawjson.Int(given[0])
		call.Detach, _ = rawjson.Bool(given[2])
		call.App, _ = rawjson.Bool(given[3])
		call.Attempts, call.Meta = int(attempts), given[1]
	}
	call.OnQueue = func(waits bool) { a.host.Queued(id, waits) }
	if progress {
		call.OnProgress = func(p registry.Progress) { a.host.Progress(id, encodeProgress(p)) }
		call.OnRetry = func(attempt int, wait time.Duration, err error) {
			a.host.Progress(id, encodeRetry(attempt, wait, err))
		}
	}
	return a.reg.Start(call, func(result *registry.Result, err error) {
		defer a.recovered(id)
		switch {
		case err != nil:
			a.events.flush()
			a.fail(id, err)
		case result.Task != nil:
			a.host.Reply(id, new(object).str("server", result.Server).str("tool", result.Tool).raw("task", result.Task).end())
		default:
			a.host.Called(id, result)
		}
	}).Inline()
}

// clientBits is where a request's id names the client of the host: wasm/js/host/host.ts.
const clientBits = 32

// Cancel ends request id early, if it is still under way. An id that names no request of
// its client ends all of them.
func (a *API) Cancel(id int) {
	matches := func(request int) bool {
		return request == id || id&(1<<clientBits-1) == 0 && request>>clientBits == id>>clientBits
	}
	a.reg.CancelCalls(matches)
	a.mu.Lock()
	for request, cancel := range a.cancels {
		if matches(request) {
			cancel()
		}
	}
	a.mu.Unlock()
}

func (a *API) begin(id int) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	a.mu.Lock()
	a.cancels[id] = cancel
	a.mu.Unlock()
	return ctx, func() {
		a.mu.Lock()
		delete(a.cancels, id)
		a.mu.Unlock()
		cancel()
	}
}

// recovered answers a request whose handling panicked.
func (a *API) recovered(id int) {
	if p := recover(); p != nil {
		a.host.Fail(id, []byte(`{"code":"internal","message":"a fault of Portolan; please report it"}`))
	}
}

func (a *API) fail(id int, err error) { a.host.Fail(id, EncodeError(err)) }

// A method is one of the table, and has one function. do takes the request's own fields as JSON, and returns the result
// as JSON. change is about the server of a name, and has no result. The result of ask is a server's: a CalledReply.
type method struct {
	name   string
	do     func(ctx context.Context, a *API, params []byte) ([]byte, error)
	change func(ctx context.Context, a *API, name string, params []byte) error
	ask    func(ctx context.Context, a *API, name string, params []byte) (*registry.Result, error)
}

// methods is the table. It has functions that capture nothing, so that it is data and no code that runs at the start.
var methods = [...]method{
	{name: "addServer", change: func(_ context.Context, a *API, name string, params []byte) error {
		config := rawjson.Get(params, "config")
		var cfg registry.ServerConfig
		if err := applyConfig(&cfg, config); err != nil {
			return err
		}
		return a.changeConfig(name, func() error { return a.reg.Add(name, cfg) })
	}},
	{name: "updateServer", change: func(_ context.Context, a *API, name string, params []byte) error {
		patch := rawjson.Get(params, "config")
		return a.changeConfig(name, func() error {
			cfg, ok := a.reg.Config(name)
			if !ok {
				return &registry.ServerError{Server: name, Op: "update", Err: registry.ErrUnknownServer}
			}
			if err := applyConfig(&cfg, patch); err != nil {
				return err
			}
			return a.reg.Update(name, cfg)
		})
	}},
	{name: "removeServer", change: func(_ context.Context, a *API, name string, _ []byte) error {
		return a.changeConfig(name, func() error { return a.reg.Remove(name) })
	}},
	{name: "renameServer", change: func(ctx context.Context, a *API, name string, params []byte) error {
		to, err := stringField(params, "to")
		if err != nil {
			return err
		}
		err = a.changeConfig(to, func() error { return a.reg.Rename(ctx, name, to) })
		if err == nil {
			a.host.Config(name, nil)
		}
		return err
	}},
	{name: "approveTools", change: func(_ context.Context, a *API, name string, params []byte) error {
		return a.approve(name, params, "tools", (*registry.Registry).ApproveTools)
	}},
	{name: "approvePrompts", change: func(_ context.Context, a *API, name string, params []byte) error {
		return a.approve(name, params, "prompts", (*registry.Registry).ApprovePrompts)
	}},
	{name: "reviewSkills", do: func(_ context.Context, a *API, params []byte) ([]byte, error) {
		name, err := stringField(params, "name")
		if err != nil {
			return nil, err
		}
		skills, err := stringList(rawjson.Get(params, "skills"), "skills")
		if err != nil {
			return nil, err
		}
		reasons, err := a.reg.ReviewSkills(name, rawjson.IsTrue(params, "approve"), skills...)
		return texts(reasons), err
	}},
	{name: "takePins", do: func(_ context.Context, a *API, params []byte) ([]byte, error) {
		text, err := stringFields(params, "key", "pins")
		if err != nil {
			return nil, err
		}
		return null, a.reg.TakePins(text[0], text[1])
	}},
	{name: "approveInstructions", change: func(_ context.Context, a *API, name string, params []byte) error {
		return a.approve(name, params, "instructions", (*registry.Registry).ApproveInstructions)
	}},
	{name: "instructions", do: instructions},
	{name: "retry", change: func(ctx context.Context, a *API, name string, _ []byte) error {
		if err := a.reg.Retry(name); err != nil {
			return err
		}
		_ = a.reg.Discover(ctx, name) // how it went is in the state
		return nil
	}},
	{name: "signIn", change: func(ctx context.Context, a *API, name string, params []byte) error {
		var begun *registry.BegunSignIn
		if resume := rawjson.Get(params, "resume"); resume != nil {
			begun = new(registry.BegunSignIn)
			begun.Resume, _ = rawjson.String(resume)
			begun.URL, _ = stringField(params, "url")
		}
		return a.reg.ResumeSignIn(ctx, name, begun)
	}},
	{name: "signOut", change: func(ctx context.Context, a *API, name string, _ []byte) error { return a.reg.SignOut(ctx, name) }},
	{name: "setEnabled", change: func(_ context.Context, a *API, name string, params []byte) error {
		enabled, ok := rawjson.Bool(rawjson.Get(params, "enabled"))
		if !ok {
			return registry.Because(errUsage, "enabled is not a boolean")
		}
		return a.changeConfig(name, func() error { return a.reg.SetEnabled(name, enabled) })
	}},
	{name: "discover", do: func(ctx context.Context, a *API, params []byte) ([]byte, error) {
		names, none, err := listIn(params, "names")
		if err == nil {
			err = a.known("discover", names)
		}
		if none || err != nil {
			return null, err
		}
		_ = a.reg.Discover(ctx, names...) // each server's error is in its health
		return null, ctx.Err()
	}},
	{name: "online", do: func(_ context.Context, a *API, params []byte) ([]byte, error) {
		a.reg.SetOnline(rawjson.IsTrue(params, "online"))
		return null, nil
	}},
	{name: "resources", do: func(ctx context.Context, a *API, params []byte) ([]byte, error) {
		return a.offers(ctx, params, (*registry.Registry).Resources)
	}},
	{name: "resourceTemplates", do: func(ctx context.Context, a *API, params []byte) ([]byte, error) {
		return a.offers(ctx, params, (*registry.Registry).ResourceTemplates)
	}},
	{name: "prompts", do: func(ctx context.Context, a *API, params []byte) ([]byte, error) {
		return a.offers(ctx, params, (*registry.Registry).Prompts)
	}},
	{name: "heldPrompts", do: func(ctx context.Context, a *API, params []byte) ([]byte, error) {
		return a.offers(ctx, params, (*registry.Registry).HeldPrompts)
	}},
	{name: "skills", do: func(ctx context.Context, a *API, params []byte) ([]byte, error) {
		return a.offers(ctx, params, (*registry.Registry).Skills)
	}},
	{name: "subscribeResource", do: subscribeResource},
	{name: "logs", do: logs},
	{name: "followLogs", do: followLogs},
	{name: "setRoots", do: setRoots},
	{name: "cancelTask", do: cancelTask},
	{name: "close", do: func(_ context.Context, a *API, _ []byte) ([]byte, error) {
		a.events.end()
		return null, a.reg.Close()
	}},
	{name: "readResource", ask: func(ctx context.Context, a *API, name string, params []byte) (*registry.Result, error) {
		uri, err := stringField(params, "uri")
		if err != nil {
			return nil, err
		}
		return a.reg.ReadResource(ctx, name, uri)
	}},
	{name: "getPrompt", ask: func(ctx context.Context, a *API, name string, params []byte) (*registry.Result, error) {
		return a.reg.GetPrompt(ctx, name, rawjson.Get(params, "args"))
	}},
	{name: "askSkill", ask: func(ctx context.Context, a *API, name string, params []byte) (*registry.Result, error) {
		return a.reg.AskSkill(ctx, name, rawjson.Get(params, "params"), rawjson.IsTrue(params, "directory"))
	}},
	{name: "waitTask", ask: waitTask},
	{name: "complete", ask: func(ctx context.Context, a *API, name string, params []byte) (*registry.Result, error) {
		return a.reg.Complete(ctx, name, rawjson.Get(params, "params"))
	}},
}

var null = []byte("null")

// approve approves what a member names, or without that member all of a server. Nothing is approved by an empty list.
func (a *API) approve(server string, params []byte, key string, approve func(*registry.Registry, string, ...string) error) error {
	names, none, err := listIn(params, key)
	if none || err != nil {
		return err
	}
	return approve(a.reg, server, names...)
}

func stringField(params []byte, key string) (string, error) {
	s, ok := rawjson.String(rawjson.Get(params, key))
	if !ok {
		return "", registry.Because(errUsage, key+" is not a string")
	}
	return s, nil
}

// stringFields reads several of them, in order.
func stringFields(params []byte, keys ...string) ([]string, error) {
	values := make([]string, len(keys))
	for i, key := range keys {
		var err error
		if values[i], err = stringField(params, key); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func stringList(raw []byte, key string) ([]string, error) {
	list := []string{}
	err := rawjson.Elements(raw, func(value []byte) error {
		s, ok := rawjson.String(value)
		if !ok {
			return errUsage
		}
		list = append(list, s)
		return nil
	})
	if err != nil {
		return nil, registry.Because(errUsage, key+" is not an array of strings")
	}
	return list, nil
}
