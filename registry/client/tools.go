package client

import (
	"context"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// maxTTL bounds how long a server can make its list count as fresh.
const maxTTL = 24 * time.Hour

// ListTools fetches one page.
func (s *Session) ListTools(ctx context.Context, cursor *string) (*registry.ToolPage, error) {
	r := &rpc{op: OpList, method: "tools/list"}
	if cursor != nil {
		r.params = member(nil, "cursor", *cursor)
	}
	// Some servers register tools while they handle notifications/initialized. A server that
	// never answers it has half of the deadline.
	if !isDone(s.initialized) {
		if err := await(ctx, probeTime(ctx), s.initialized); err != nil {
			return nil, err
		}
	}
	e, err := s.send(ctx, r)
	if err != nil {
		return nil, s.doubt(err, OpList)
	}
	if e.Kind != Tools {
		if kind := rawjson.Text(rawjson.Get([]byte(e.Text), "result"), "resultType"); kind != "" && kind != "complete" {
			return nil, s.unknownResult(kind)
		}
		return nil, registry.Because(registry.ErrProtocol, "the answer to tools/list has no list of tools")
	}
	s.settle()
	return s.page(e), nil
}

func isDone(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// readyTime bounds how long a call waits for what some servers never answer.
const readyTime = 500 * time.Millisecond

// ready waits until the server has taken notifications/initialized, because some refuse
// requests that overtake it. It also waits for the optional stream where the server may ask
// on it: a question that finds no stream is lost.
func (s *Session) ready(ctx context.Context) error {
	err := await(ctx, readyTime, s.initialized, s.listening)
	if err == nil {
		s.listens()
	}
	return err
}

// await returns when all channels are closed or the limit has passed. The error is ctx's.
func await(ctx context.Context, limit time.Duration, channels ...<-chan struct{}) error {
	over, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, done := range channels {
		select {
		case <-done:
		case <-over.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// A flagger is a platform that tells Go which hidden text it took out of a definition.
// The browser's tells its host instead.
type flagger interface {
	Flags(table, index uint32) []text.Flag
}

// page makes a ToolPage of a Tools event, which has a name a line.
func (s *Session) page(e *Event) *registry.ToolPage {
	platform, table := s.d.c.platform, e.Table
	page := &registry.ToolPage{
		Bytes:       e.Bytes,
		Fingerprint: func(ctx context.Context) string { return fingerprint(ctx, platform, table) },
		Release:     func() { platform.Free(table) },
	}
	var headers, tasks, apps map[int]bool
	if e.Extra != "" {
		headers, tasks, apps = s.extra(page, []byte(e.Extra))
	}
	if e.Text == "" {
		return page
	}
	count := strings.Count(e.Text, "\n") + 1
	flagged, _ := platform.(flagger)
	values := make([]Value, count)
	page.Tools = make([]registry.ToolDef, 0, count)
	rest := e.Text
	for i := range values {
		var name string
		name, rest, _ = strings.Cut(rest, "\n")
		v := &values[i]
		*v = Value{p: platform, table: table, index: uint32(i), size: e.Bytes / count, asTask: tasks[i]}
		dropped := ""
		switch {
		case v.asTask && !s.modern && !s.tasks:
			dropped = "the tool runs as a task only, and the server offers no tasks"
		case apps[i] && !s.d.c.opts.Apps:
			dropped = "the tool is for apps only (_meta.ui.visibility)"
		case headers[i] && s.modern:
			if err := v.readBindings(); err != nil {
				dropped = err.Error()
			} else {
				s.bind(name, v.bind)
			}
		}
		if dropped != "" {
			page.Dropped = append(page.Dropped, registry.Drop{Name: name, Reason: dropped})
			continue
		}
		def := registry.ToolDef{Name: name, Def: v, AppOnly: apps[i]}
		if flagged != nil {
			def.Flags = flagged.Flags(table, v.index)
		}
		page.Tools = append(page.Tools, def)
	}
	return page
}

func fingerprint(ctx context.Context, p Platform, table uint32) string {
	done := make(chan string, 1)
	p.Fingerprint(table, func(print string) { done <- print })
	select {
	case print := <-done:
		return print
	case <-ctx.Done():
		return ""
	}
}

// maxBound bounds the tools whose bindings a session keeps for calls without a definition.
const maxBound = 1000

func (s *Session) bind(tool string, b []binding) {
	s.mu.Lock()
	if s.bound == nil || len(s.bound) >= maxBound {
		s.bound = map[string][]binding{}
	}
	s.bound[tool] = b
	s.mu.Unlock()
}

func (v *Value) readBindings() error {
	def, err := v.JSON()
	if err == nil {
		v.bind, err = bindings(def)
	}
	return err
}

// extra reads what is not the same for every page.
func (s *Session) extra(page *registry.ToolPage, extra []byte) (headers, tasks, apps map[int]bool) {
	page.Private = rawjson.IsTrue(extra, "private")
	_ = rawjson.Elements(rawjson.Get(extra, "drops"), func(drop []byte) error {
		if words := rawjson.Strings(drop); len(words) == 2 {
			name, reason := s.d.plain(words[0], maxServerText), s.d.plain(words[1], maxServerText)
			page.Dropped = append(page.Dropped, registry.Drop{Name: name, Reason: reason})
		}
		return nil
	})
	if next, ok := rawjson.String(rawjson.Get(extra, "next")); ok {
		page.NextCursor = &next
	}
	ttl, _ := rawjson.Milliseconds(rawjson.Get(extra, "ttl"))
	page.TTL = min(max(ttl, 0), maxTTL)
	return indices(rawjson.Get(extra, "headers")), indices(rawjson.Get(extra, "tasks")), indices(rawjson.Get(extra, "apps"))
}

// indices returns the numbers of a list.
func indices(list []byte) map[int]bool {
	if list == nil {
		return nil
	}
	found := map[int]bool{}
	_ = rawjson.Elements(list, func(index []byte) error {
		if i, ok := rawjson.Int(index); ok {
			found[int(i)] = true
		}
		return nil
	})
	return found
}

// callHeaders are the Mcp-Param-* headers that the tool's definition asks for.
func (s *Session) callHeaders(call registry.ToolCall) []string {
	if v, ok := call.Def.(*Value); ok {
		return paramHeaders(v.bind, call.Arguments)
	}
	if call.Def == nil {
		s.mu.Lock()
		bound := s.bound[call.Tool]
		s.mu.Unlock()
		return paramHeaders(bound, call.Arguments)
	}
	def, err := call.Def.JSON()
	if err != nil || !strings.Contains(string(def), "x-mcp-header") {
		return nil
	}
	bound, err := bindings(def)
	if err != nil {
		return nil
	}
	return paramHeaders(bound, call.Arguments)
}
