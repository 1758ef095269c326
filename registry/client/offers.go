package client

import (
	"context"
	"slices"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// capabilitiesOf returns the capabilities in an InitializeResult or a DiscoverResult,
// which are never nil then. Capabilities of more than 16 KiB count as none.
func capabilitiesOf(result []byte) registry.Capabilities {
	c := rawjson.Get(result, "capabilities")
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
	if err == nil {
		err = s.discovered(e)
	}
	if err != nil {
		return nil, s.doubt(err, OpList)
	}
	s.settle()
	s.d.notify(registry.Notice{Informed: true})
	return s.Info().Capabilities, nil
}

// Ask implements [registry.Offerer].
func (s *Session) Ask(ctx context.Context, req registry.Request) (registry.Payload, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	r := &rpc{op: OpCall, call: req.ID, method: req.Method, params: membersOf(req.Params, nil), asking: req.OnAsk}
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

// A follow is what the optional stream was asked to report. The session's mutex guards it.
type follow struct {
	registry.Following
	agreed chan error // receives, once, that the server has answered, or why it has not
	// The URIs, "" in place of one that the server does not report, and how many of them are asked for.
	uris   []string
	asked  int
	slow   bool // the server has refused all: one more is asked for at a time
	phases int  // how often that has begun
}

// next asks for one URI more.
func (f *follow) next() {
	for f.asked < len(f.uris) {
		if f.asked++; f.uris[f.asked-1] != "" {
			return
		}
	}
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
func (s *Session) Follow(ctx context.Context, what registry.Following) (reported []string, err error) {
	f := &follow{Following: what, agreed: make(chan error, 1), uris: slices.Clone(what.URIs), asked: len(what.URIs)}
	s.mu.Lock()
	var before []string
	if s.follow != nil {
		before = s.follow.uris
	}
	s.follow = f
	s.mu.Unlock()
	s.listenAgain()
	if !s.modern {
		return f.uris, s.subscribe(ctx, f, before)
	}
	over, cancel := context.WithTimeout(ctx, acknowledgeTime)
	defer cancel()
	select {
	case err = <-f.agreed:
		s.mu.Lock()
		reported = slices.Clone(f.uris)
		s.mu.Unlock()
		return reported, err
	case <-s.ctx.Done():
		return nil, errClosed
	case <-over.Done():
		if err = context.Cause(ctx); err == nil {
			err = registry.Because(registry.ErrUnsupported, "the server does not acknowledge subscriptions/listen")
		}
		return nil, err
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
func (s *Session) subscribe(ctx context.Context, f *follow, before []string) (err error) {
	for _, uri := range before {
		if uri != "" && !slices.Contains(f.URIs, uri) {
			_, _ = s.send(ctx, &rpc{method: "resources/unsubscribe", params: member(nil, "uri", uri)})
		}
	}
	for i, uri := range f.URIs {
		if slices.Contains(before, uri) {
			continue
		}
		if _, wrong := s.send(ctx, &rpc{method: "resources/subscribe", params: member(nil, "uri", uri)}); wrong != nil {
			s.mu.Lock() // so that the next Follow asks for it again
			f.uris[i] = ""
			s.mu.Unlock()
			if !isRefusal(wrong) {
				err = wrong
			}
		}
	}
	return err
}

// narrow is called when the server has refused all that was asked for. It is false if nothing of that can be left out.
func (s *Session) narrow() (can bool) {
	s.mu.Lock()
	if f := s.follow; f != nil && f.asked > 0 {
		last := &f.uris[f.asked-1]
		can = !f.slow || *last != ""
		if f.slow {
			*last = ""
		} else {
			f.asked, f.slow = 0, true
			f.phases++
		}
		f.next()
	}
	s.mu.Unlock()
	return can
}

// maxPhases bounds how often one subscription begins with one resource.
const maxPhases = 8

// filter is what subscriptions/listen asks for (2026-07-28).
func (s *Session) filter() (members []byte, asked *follow) {
	s.mu.Lock()
	asked = s.follow
	var uris []byte
	if asked != nil {
		uris = list(asked.uris[:asked.asked])
	}
	tasks, listChanged := text.Keys(s.woken), s.info.ListChanged
	s.mu.Unlock()
	if len(tasks) > 0 {
		members = rawjson.AppendMember(members, "taskIds", list(tasks))
	}
	if listChanged {
		members = rawjson.AppendMember(members, "toolsListChanged", []byte("true"))
	}
	if asked == nil {
		return members, nil
	}
	if asked.Prompts {
		members = rawjson.AppendMember(members, "promptsListChanged", []byte("true"))
	}
	if asked.Resources {
		members = rawjson.AppendMember(members, "resourcesListChanged", []byte("true"))
	}
	if len(uris) > len("[]") {
		members = rawjson.AppendMember(members, "resourceSubscriptions", uris)
	}
	return members, asked
}

// list returns texts as a JSON array, without empty ones.
func list(texts []string) []byte {
	array := []byte{'['}
	for _, text := range texts {
		if text == "" {
			continue
		}
		if len(array) > 1 {
			array = append(array, ',')
		}
		array = rawjson.AppendString(array, text)
	}
	return append(array, ']')
}

// opens is called when the optional stream is open. Lists and resources may have changed since one ended, unless the
// server repeats what it said meanwhile.
func (s *Session) opens(asked *follow, repeats bool) {
	s.mu.Lock()
	missed, tools := s.missed && !repeats, s.info.ListChanged
	s.missed = false
	s.mu.Unlock()
	if missed && tools {
		s.changed()
	}
	if asked == nil || repeats {
		return
	}
	if missed && asked.Prompts {
		s.d.notify(registry.Notice{PromptsChanged: true})
	}
	if missed && asked.Resources {
		s.d.notify(registry.Notice{ResourcesChanged: true})
	}
	if missed || !s.modern { // a server of the versions until 2025-11-25 has agreed before its first stream is open
		for _, uri := range asked.URIs { // also those that it does not report
			s.d.notify(registry.Notice{Updated: uri})
		}
	}
}

// acknowledged compares what the server will report with what is wanted.
func (s *Session) acknowledged(f *follow, granted []byte) {
	s.replaced()
	if f == nil {
		s.opens(nil, false)
		return
	}
	has := map[string]bool{}
	for _, uri := range rawjson.Strings(rawjson.Get(granted, "resourceSubscriptions")) {
		has[uri] = true
	}
	s.mu.Lock()
	for i, uri := range f.uris[:f.asked] {
		if !has[uri] {
			f.uris[i] = ""
		}
	}
	more := f.asked < len(f.uris)
	f.slow = more || f.phases >= maxPhases // else one that goes later is looked for as the first one was
	f.next()
	s.mu.Unlock()
	s.opens(f, false)
	if more {
		s.listenAgain()
	} else {
		f.tell(nil)
	}
}
