package client

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// capabilitiesOf returns the capabilities in an InitializeResult or a DiscoverResult,
// which are never nil then. Capabilities of more than 16 KiB count as none.
func capabilitiesOf(result []byte) registry.Capabilities {
	c := get(result, "capabilities")
	if rawjson.Kind(c) != 'o' || len(c) > maxCapabilities {
		return registry.Capabilities("{}")
	}
	return slices.Clone(c)
}

// Capabilities implements [registry.Offerer].
func (s *Session) Capabilities(ctx context.Context) (registry.Capabilities, error) {
	if known := s.Info().Capabilities; known != nil {
		return known, nil
	}
	e, err := s.send(ctx, &rpc{method: "server/discover"})
	if err != nil {
		return nil, s.doubt(err, OpList)
	}
	s.settle()
	result := get([]byte(e.Text), "result")
	s.negotiated(modern, result, get(result, "_meta", "io.modelcontextprotocol/serverInfo"))
	s.d.notify(registry.Notice{Informed: true})
	return s.Info().Capabilities, nil
}

// Ask implements [registry.Offerer].
func (s *Session) Ask(ctx context.Context, req registry.Request) (registry.Payload, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	r := &rpc{op: OpCall, call: req.ID, method: req.Method, params: membersOf(req.Params), asking: req.OnAsk}
	if s.modern && req.About != "" {
		r.headers = []string{"Mcp-Name", headerValue(req.About)}
	}
	ctx = registry.WithCall(ctx, req.ID)
	e, err := s.converse(ctx, r, func(ctx context.Context) (*Event, error) { return s.send(ctx, r) })
	if err != nil {
		return nil, err
	}
	return s.output(e).Result, nil
}

// membersOf returns the members of an object without its braces.
func membersOf(object []byte) (members []byte) {
	_ = rawjson.Members(object, func(key string, value []byte) error {
		members = rawMember(members, key, value)
		return nil
	})
	return members
}

// A follow is what the optional stream was asked to report. agreed receives, once, whether
// the server does.
type follow struct {
	registry.Following
	agreed chan error
}

func (f *follow) tell(err error) {
	select {
	case f.agreed <- err:
	default:
	}
}

// acknowledgeTime bounds the wait for the first message of subscriptions/listen.
const acknowledgeTime = 5 * time.Second

// Follow implements [registry.Offerer].
func (s *Session) Follow(ctx context.Context, what registry.Following) error {
	f := &follow{Following: what, agreed: make(chan error, 1)}
	s.mu.Lock()
	var before []string
	if s.follow != nil {
		before = s.follow.URIs
	}
	s.follow = f
	s.mu.Unlock()
	s.listenAgain()
	if !s.modern {
		return s.subscribe(ctx, before, what.URIs)
	}
	over, cancel := context.WithTimeout(ctx, acknowledgeTime)
	defer cancel()
	select {
	case err := <-f.agreed:
		return err
	case <-s.ctx.Done():
		return errClosed
	case <-over.Done():
		if err := context.Cause(ctx); err != nil {
			return err
		}
		return registry.Because(registry.ErrUnsupported, "the server does not acknowledge subscriptions/listen")
	}
}

// listenAgain opens the optional stream, which asks for what is wanted now.
func (s *Session) listenAgain() {
	s.mu.Lock()
	again := s.relisten
	starts := !s.watching && !s.sse && s.ended == nil
	s.watching = s.watching || starts
	s.mu.Unlock()
	if starts {
		s.goroutine(s.watch)
	}
	if again != nil {
		again()
	}
}

// subscribe tells a server of the versions until 2025-11-25 which resources are new, and
// which are not wanted any more.
func (s *Session) subscribe(ctx context.Context, before, now []string) (err error) {
	for _, uri := range before {
		if !slices.Contains(now, uri) {
			_, _ = s.send(ctx, &rpc{method: "resources/unsubscribe", params: member(nil, "uri", uri)})
		}
	}
	for _, uri := range now {
		if slices.Contains(before, uri) {
			continue
		}
		if _, wrong := s.send(ctx, &rpc{method: "resources/subscribe", params: member(nil, "uri", uri)}); wrong != nil {
			s.mu.Lock() // so that the next Follow asks for it again
			s.follow.URIs = slices.DeleteFunc(slices.Clone(s.follow.URIs), func(u string) bool { return u == uri })
			s.mu.Unlock()
			err = wrong
			if isRefusal(wrong) {
				err = registry.Because(registry.ErrUnsupported, "the server refuses to report updates: "+wrong.Error())
			}
		}
	}
	return err
}

// filter is what subscriptions/listen asks for (2026-07-28).
func (s *Session) filter() (members []byte, asked *follow) {
	s.mu.Lock()
	asked = s.follow
	tasks := slices.Sorted(maps.Keys(s.woken))
	s.mu.Unlock()
	if len(tasks) > 0 {
		members = rawMember(members, "taskIds", list(tasks))
	}
	if s.info.ListChanged {
		members = rawMember(members, "toolsListChanged", []byte("true"))
	}
	if asked == nil {
		return members, nil
	}
	if asked.Prompts {
		members = rawMember(members, "promptsListChanged", []byte("true"))
	}
	if asked.Resources {
		members = rawMember(members, "resourcesListChanged", []byte("true"))
	}
	if len(asked.URIs) > 0 {
		members = rawMember(members, "resourceSubscriptions", list(asked.URIs))
	}
	return members, asked
}

// list returns texts as a JSON array.
func list(texts []string) []byte {
	array := []byte{'['}
	for i, text := range texts {
		if i > 0 {
			array = append(array, ',')
		}
		array = rawjson.AppendString(array, text)
	}
	return append(array, ']')
}

// acknowledged compares what the server will report with what it was asked for.
func (f *follow) acknowledged(granted []byte) {
	has := map[string]bool{}
	_ = rawjson.Elements(get(granted, "resourceSubscriptions"), func(uri []byte) error {
		if u, ok := rawjson.String(uri); ok {
			has[u] = true
		}
		return nil
	})
	for _, uri := range f.URIs {
		if !has[uri] {
			f.tell(registry.Because(registry.ErrUnsupported, "the server does not report updates of "+uri))
			return
		}
	}
	f.tell(nil)
}
