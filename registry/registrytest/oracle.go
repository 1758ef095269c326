package registrytest

//lint:file-ignore SA1019 logs, sampling and roots belong to the versions until 2025-11-25

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
)

// Oracle is the official Go client as a [Dial]: what it makes of a server is what the
// protocol means. It has none of our bounds, and does not look for the transport: paths
// that begin with /sse are HTTP+SSE.
func Oracle(rt http.RoundTripper, opts Options) registry.Connect {
	return func(ctx context.Context, name string, cfg registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
		if notify == nil {
			notify = func(registry.Notice) {}
		}
		o := &oracle{sse: strings.Contains(cfg.URL, "/sse"), progress: make(map[int64]func(registry.Progress))}
		client := mcp.NewClient(&mcp.Implementation{Name: "oracle", Version: "1"}, o.options(name, opts, notify))
		for _, uri := range opts.Roots {
			client.AddRoots(&mcp.Root{URI: uri})
		}
		// The session outlives ctx, as that of the client under test does.
		session, err := client.Connect(context.WithoutCancel(ctx), o.transport(rt, cfg), nil)
		if err != nil {
			return nil, err
		}
		o.session = session
		return o, nil
	}
}

// An oracle is a [registry.Session] on the official client.
type oracle struct {
	session *mcp.ClientSession
	sse     bool
	follows []string
	token   atomic.Int64

	mu       sync.Mutex
	progress map[int64]func(registry.Progress) // by token
}

func (o *oracle) options(name string, opts Options, notify registry.Notify) *mcp.ClientOptions {
	options := &mcp.ClientOptions{
		Capabilities:           &mcp.ClientCapabilities{}, // nil would announce roots
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { notify(registry.Notice{ToolsChanged: true}) },
		PromptListChangedHandler: func(context.Context, *mcp.PromptListChangedRequest) {
			notify(registry.Notice{PromptsChanged: true})
		},
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) {
			notify(registry.Notice{ResourcesChanged: true})
		},
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) {
			notify(registry.Notice{Updated: req.Params.URI})
		},
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			token, _ := req.Params.ProgressToken.(float64)
			o.mu.Lock() // while it reports: a call that has ended reports no more
			defer o.mu.Unlock()
			if report := o.progress[int64(token)]; report != nil {
				report(registry.Progress{Progress: req.Params.Progress, Total: req.Params.Total, Message: req.Params.Message})
			}
		},
	}
	if opts.Roots != nil {
		options.Capabilities.RootsV2 = &mcp.RootCapabilities{ListChanged: true}
	}
	if sample := opts.Sample; sample != nil {
		options.CreateMessageHandler = func(ctx context.Context, req *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			params, err := json.Marshal(req.Params)
			if err != nil {
				return nil, err
			}
			answer, err := sample(ctx, name, params)
			if err != nil {
				return nil, err
			}
			result := new(mcp.CreateMessageResult)
			return result, json.Unmarshal(answer, result)
		}
	}
	if elicit := opts.Elicit; elicit != nil {
		options.ElicitationHandler = func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			params, err := json.Marshal(req.Params)
			if err != nil {
				return nil, err
			}
			answer, err := elicit(ctx, name, params)
			if err != nil {
				return nil, err
			}
			result := new(mcp.ElicitResult)
			return result, json.Unmarshal(answer, result)
		}
	}
	return options
}

func (o *oracle) transport(rt http.RoundTripper, cfg registry.ServerConfig) mcp.Transport {
	client := &http.Client{Transport: withHeaders{rt, cfg.Headers}}
	if o.sse {
		return &mcp.SSEClientTransport{Endpoint: cfg.URL, HTTPClient: client}
	}
	return &mcp.StreamableClientTransport{Endpoint: cfg.URL, HTTPClient: client}
}

// withHeaders adds configured headers to each request.
type withHeaders struct {
	rt      http.RoundTripper
	headers map[string]string
}

// RoundTrip implements [http.RoundTripper].
func (w withHeaders) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, value := range w.headers {
		req.Header.Set(name, value)
	}
	return w.rt.RoundTrip(req)
}

// Info implements [registry.Session].
func (o *oracle) Info() registry.SessionInfo {
	result := o.session.InitializeResult()
	info := registry.SessionInfo{Transport: "streamable-http", ProtocolVersion: result.ProtocolVersion, Instructions: result.Instructions}
	if o.sse {
		info.Transport = "sse"
	}
	if result.ServerInfo != nil {
		info.Server = registry.Implementation{Name: result.ServerInfo.Name, Version: result.ServerInfo.Version}
	}
	info.Capabilities, _ = json.Marshal(result.Capabilities)
	if c := result.Capabilities; c != nil && c.Tools != nil {
		info.ListChanged = c.Tools.ListChanged
	}
	return info
}

// ListTools implements [registry.Session].
func (o *oracle) ListTools(ctx context.Context, cursor *string) (*registry.ToolPage, error) {
	params := new(mcp.ListToolsParams)
	if cursor != nil {
		params.Cursor = *cursor
	}
	result, err := o.session.ListTools(ctx, params)
	if err != nil {
		return nil, typed(err)
	}
	page := new(registry.ToolPage)
	for _, tool := range result.Tools {
		def, err := json.Marshal(tool)
		if err != nil {
			return nil, err
		}
		page.Tools = append(page.Tools, registry.ToolDef{Name: tool.Name, Def: registry.Raw(def)})
	}
	if result.NextCursor != "" {
		page.NextCursor = &result.NextCursor
	}
	return page, nil
}

// CallTool implements [registry.Session].
func (o *oracle) CallTool(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	params := &mcp.CallToolParams{Name: call.Tool, Arguments: json.RawMessage("{}")}
	if len(call.Arguments) > 0 {
		params.Arguments = json.RawMessage(call.Arguments)
	}
	if call.OnProgress != nil {
		token := o.token.Add(1)
		params.SetProgressToken(token)
		o.mu.Lock()
		o.progress[token] = call.OnProgress
		o.mu.Unlock()
		defer func() {
			o.mu.Lock()
			delete(o.progress, token)
			o.mu.Unlock()
		}()
	}
	result, err := o.session.CallTool(ctx, params)
	if err != nil {
		return nil, typed(err)
	}
	text, err := json.Marshal(result)
	return &registry.ToolOutput{Result: registry.Raw(text), IsError: result.IsError}, err
}

// Capabilities implements [registry.Offerer].
func (o *oracle) Capabilities(context.Context) (registry.Capabilities, error) {
	return json.Marshal(o.session.InitializeResult().Capabilities)
}

// Ask implements [registry.Offerer].
func (o *oracle) Ask(ctx context.Context, req registry.Request) (registry.Payload, error) {
	switch req.Method {
	case "resources/list":
		return answer(ctx, req, o.session.ListResources)
	case "resources/templates/list":
		return answer(ctx, req, o.session.ListResourceTemplates)
	case "resources/read":
		return answer(ctx, req, o.session.ReadResource)
	case "prompts/list":
		return answer(ctx, req, o.session.ListPrompts)
	case "prompts/get":
		return answer(ctx, req, o.session.GetPrompt)
	case "completion/complete":
		return answer(ctx, req, o.session.Complete)
	}
	return nil, errors.New("the oracle has no " + req.Method)
}

func answer[P, R any](ctx context.Context, req registry.Request, ask func(context.Context, *P) (R, error)) (registry.Payload, error) {
	params := new(P)
	if len(req.Params) > 0 {
		if err := json.Unmarshal(req.Params, params); err != nil {
			return nil, err
		}
	}
	result, err := ask(ctx, params)
	if err != nil {
		return nil, typed(err)
	}
	text, err := json.Marshal(result)
	return registry.Raw(text), err
}

// Follow implements [registry.Offerer]. The official client reports changes of lists always.
func (o *oracle) Follow(ctx context.Context, what registry.Following) (reported []string, err error) {
	for _, uri := range o.follows {
		if !slices.Contains(what.URIs, uri) {
			_ = o.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: uri})
		}
	}
	for _, uri := range what.URIs {
		if err := o.session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}); err == nil {
			reported = append(reported, uri)
		}
	}
	o.follows = what.URIs
	return reported, nil
}

// Close implements [registry.Session].
func (o *oracle) Close(context.Context) error { return o.session.Close() }

// typed gives an error of the server the type that it has here.
func typed(err error) error {
	if rpc := (*jsonrpc.Error)(nil); errors.As(err, &rpc) {
		return &registry.RPCError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
	}
	return err
}
