package sdksession

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// modern is the version from which on there are no sessions, and headers repeat
// parts of each request (MCP 2026-07-28, basic/transports).
const modern = "2026-07-28"

// A session is a [registry.Session].
type session struct {
	name   string
	notify registry.Notify
	limits registry.Limits
	elicit registry.Elicit
	info   registry.SessionInfo
	sdk    *mcp.ClientSession
	tap    *tap
	wire   *wire // nil if the server is not HTTP

	ctx         context.Context // ends with the session and all its requests
	cancel      context.CancelFunc
	calls       context.Context // ends first, so that open calls do not hold up Close
	cancelCalls context.CancelFunc
	ended       chan struct{} // closed when the SDK's connection has ended
	closing     atomic.Bool
	questions   atomic.Int32   // elicitations that wait for the host
	background  sync.WaitGroup // the listener
	listening   chan struct{}  // closed when the listener's first stream is open, or will not be

	mu       sync.Mutex
	death    error                // why the session ends, if a layer below knows
	bindings map[string][]binding // by tool: what 2026-07-28 repeats in headers
}

// Info implements [registry.Session].
func (s *session) Info() registry.SessionInfo { return s.info }

func (s *session) isModern() bool { return s.info.ProtocolVersion >= modern }

// ListTools implements [registry.Session].
func (s *session) ListTools(ctx context.Context, cursor *string) (*registry.ToolPage, error) {
	var members []byte
	if cursor != nil {
		members = rawjson.AppendString([]byte(`"cursor":`), *cursor)
	}
	text, err := s.request(ctx, methodList, members, new(outcome), nil)
	if err != nil {
		return nil, err
	}
	page, bindings, err := readPage(text, s.limits, s.isModern())
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if cursor == nil {
		s.bindings = bindings
	} else {
		for tool, b := range bindings {
			s.bindings[tool] = b
		}
	}
	return page, nil
}

// CallTool implements [registry.Session].
func (s *session) CallTool(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	if rawjson.Kind(arguments) != 'o' || rawjson.Valid(arguments, s.limits.Depth) != nil {
		return nil, registry.Because(registry.ErrInvalidArguments, "arguments are not one JSON object")
	}
	s.awaitListener(ctx)
	if tell := call.OnProgress; tell != nil && s.wire != nil {
		call.OnProgress = func(p registry.Progress) {
			p.Message = s.wire.redact(p.Message)
			tell(p)
		}
	}
	out := new(outcome)
	if s.isModern() && s.wire != nil {
		out.headers = paramHeaders(s.bindingsFor(call), arguments)
	}
	members := rawjson.AppendString([]byte(`"name":`), call.Tool)
	members = append(append(members, `,"arguments":`...), arguments...)
	text, err := s.request(ctx, methodCall, members, out, call.OnProgress)
	for round := 1; err == nil && s.isModern() && wantsInput(text); round++ {
		if round > maxRounds {
			return nil, registry.Because(registry.ErrProtocol, "the tool keeps asking for input")
		}
		var answers []byte
		if answers, err = s.answerInput(ctx, text); err != nil {
			break
		}
		next := append(append([]byte(nil), members...), answers...)
		text, err = s.request(ctx, methodCall, next, out, call.OnProgress)
	}
	if err != nil {
		return nil, err
	}
	if rawjson.Kind(text) != 'o' {
		return nil, registry.Because(registry.ErrProtocol, "the result is not an object")
	}
	if err := rawjson.Valid(text, s.limits.Depth); err != nil {
		return nil, registry.Because(registry.ErrProtocol, err.Error())
	}
	raw, _ := rawjson.Get(text, "isError")
	isError, _ := rawjson.Bool(raw)
	return &registry.ToolOutput{Result: registry.Raw(text), IsError: isError}, nil
}

// bindingsFor reads them from the definition that the call is based on, or
// remembers them from the list.
func (s *session) bindingsFor(call registry.ToolCall) []binding {
	if call.Def != nil {
		if def, err := call.Def.JSON(); err == nil {
			bindings, _ := readBindings(def)
			return bindings
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bindings[call.Tool]
}

// Close implements [registry.Session].
func (s *session) Close(ctx context.Context) error {
	if s.closing.Swap(true) {
		return nil
	}
	s.cancelCalls()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.tap.cancelled.wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		stop := context.AfterFunc(ctx, s.cancel)
		defer stop()
		_ = survived(s.sdk.Close)
		s.cancel()
		s.background.Wait()
		<-s.ended
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.cancel()
		return ctx.Err()
	}
}

// end frees a session that was never handed out, without a word to the server.
func (s *session) end() {
	s.closing.Store(true)
	s.cancel()
}

func (s *session) tell(n registry.Notice) {
	if !s.closing.Load() {
		s.notify(n)
	}
}
