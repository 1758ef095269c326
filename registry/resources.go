package registry

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// JSON-RPC errors of resources/read: until 2025-11-25 and from 2026-07-28 on.
const (
	codeNoResource    = -32002
	codeInvalidParams = -32602
)

// ReadResource reads a resource of a server. The payload is the ReadResourceResult object
// of the spec. The server fetches what the URI names: the registry never does. The error
// is [ErrUnknownResource] if the server does not know the URI.
func (r *Registry) ReadResource(ctx context.Context, server, uri string) (*Result, error) {
	if uri == "" || len(uri) > maxOfferKey {
		return nil, onServer(server, "read resource", Because(ErrInvalidArguments, "the URI is empty or too long"))
	}
	params := append(rawjson.AppendString([]byte(`{"uri":`), uri), '}')
	result, err := r.ask(ctx, server, "read resource", Request{Method: "resources/read", Params: params, About: uri}, "resources")
	if isRPC(err, codeNoResource) || isRPC(err, codeInvalidParams) {
		err = &kindError{ErrUnknownResource, err}
	}
	return result, err
}

// A kindError gives an error a sentinel and keeps its text.
type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

// A watched resource has functions that its updates call.
type watched struct {
	fns   map[int]func()
	last  time.Time   // when the functions were called
	timer *time.Timer // runs until their next call
}

// SubscribeResource calls fn after each update of a resource that its server reports, at
// most once a second, with no lock held. It returns once the server has agreed. The
// subscription lasts until cancel is called or the server is removed. The registry opens a new session if one ends, and
// then calls fn: an update may be lost. It also calls fn if the server has agreed before its first stream was open.
// The error is [ErrUnsupported] if the server does not report updates.
func (r *Registry) SubscribeResource(ctx context.Context, server, uri string, fn func()) (cancel func(), err error) {
	const op = "subscribe resource"
	r.mu.Lock()
	s, err := r.usable(server)
	switch {
	case err != nil:
	case uri == "" || len(uri) > maxOfferKey:
		err = Because(ErrInvalidArguments, "the URI is empty or too long")
	case len(s.watched) >= maxWatched && s.watched[uri] == nil:
		err = Because(ErrInvalidArguments, "too many resources of the server are watched")
	}
	if err != nil {
		r.mu.Unlock()
		return nil, onServer(server, op, err)
	}
	if s.watched == nil {
		s.watched = map[string]*watched{}
	}
	w := s.watched[uri]
	if w == nil {
		w = &watched{fns: map[int]func(){}}
		s.watched[uri] = w
	}
	r.lastSubscriber++
	id := r.lastSubscriber
	w.fns[id] = fn
	timeout := r.timeout(s)
	r.mu.Unlock()
	stop := func(tell bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(w.fns, id)
		if len(w.fns) > 0 || s.watched[uri] != w {
			return
		}
		delete(s.watched, uri)
		if tell && s.conn != nil && !r.closed {
			r.followLater(s)
		}
	}
	err = r.use(ctx, s, timeout, func(ctx context.Context, c *conn, _ func(bool)) error {
		if _, err := offerer(ctx, c, "resources"); err != nil {
			return err
		}
		reported, err := r.follow(ctx, s, c)
		if err == nil && !slices.Contains(reported, uri) {
			err = Because(ErrUnsupported, "the server does not report updates of "+uri)
		}
		return err
	})
	if err != nil {
		stop(false)
		return nil, onServer(server, op, err)
	}
	return func() { stop(true) }, nil
}

// maxWatched bounds the watched resources of one server.
const maxWatched = 200

// watchAgain connects to a server whose resources are watched, if its session has ended. The caller holds r.mu.
func (r *Registry) watchAgain(s *server) {
	if s.conn == nil && len(s.watched) > 0 {
		r.refreshSoon(s)
	}
}

// updated calls the functions of a resource, and of what contains it. The caller holds r.mu.
func (r *Registry) updated(s *server, uri string) {
	for watchedURI, w := range s.watched {
		if w.timer != nil || !strings.HasPrefix(uri, watchedURI) {
			continue
		}
		w.timer = time.AfterFunc(max(w.last.Add(refreshInterval).Sub(r.opts.Clock()), 0), func() {
			r.mu.Lock()
			w.timer, w.last = nil, r.opts.Clock()
			fns := make([]func(), 0, len(w.fns))
			for _, fn := range w.fns {
				if r.reachable(s) == nil {
					fns = append(fns, fn)
				}
			}
			r.mu.Unlock()
			for _, fn := range fns {
				_ = safely(fn)
			}
		})
	}
}

// followLists has the server report changes of its prompts, or of its resources.
func (r *Registry) followLists(s *server, prompts bool) {
	r.mu.Lock()
	follows := &s.following.Resources
	if prompts {
		follows = &s.following.Prompts
	}
	if !*follows {
		*follows = true
		r.followLater(s)
	}
	r.mu.Unlock()
}

// followLater tells the session in the background what to report. The caller holds r.mu.
func (r *Registry) followLater(s *server) {
	if r.closed {
		return
	}
	r.background(s, func(ctx context.Context) {
		_ = r.withSession(ctx, s, func(c *conn) error {
			_, err := r.follow(ctx, s, c)
			return err
		})
	})
}

// follow tells a session what to report, one call at a time. It returns the reported URIs.
func (r *Registry) follow(ctx context.Context, s *server, c *conn) ([]string, error) {
	o, ok := c.session.(Offerer)
	if !ok {
		return nil, Because(ErrUnsupported, "the session knows tools only")
	}
	select {
	case s.followLock <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.followLock }()
	r.mu.Lock()
	what, again := r.follows(s), s.followAgain
	s.followAgain = false
	r.mu.Unlock()
	if what.Logs {
		has, err := o.Capabilities(ctx)
		what.Logs = err == nil && has.Has("logging")
	}
	last := &s.followed
	if last.of != c {
		missed := last.missed
		if missed == nil {
			missed = last.reported
		}
		*last = followed{of: c, missed: missed}
	}
	if again || last.err != nil || !what.equal(last.what) {
		last.what = what
		last.reported, last.err = o.Follow(ctx, what)
	}
	if last.err == nil && last.missed != nil {
		r.mu.Lock()
		for _, uri := range last.missed {
			if slices.Contains(last.reported, uri) {
				r.updated(s, uri)
			}
		}
		r.mu.Unlock()
		last.missed = nil
	}
	return last.reported, last.err
}

func (f Following) equal(g Following) bool {
	return f.Prompts == g.Prompts && f.Resources == g.Resources && f.Logs == g.Logs && slices.Equal(f.URIs, g.URIs)
}

// A followed is what a session was last asked to report, and how that went.
type followed struct {
	of       *conn
	what     Following
	reported []string
	missed   []string // what an earlier session has reported, until this one reports it
	err      error
}

// follows is what the server's session reports. The caller holds r.mu.
func (r *Registry) follows(s *server) Following {
	what := s.following
	what.Logs = len(r.logListeners) > 0 || s.cfg.LogLevel != ""
	what.URIs = text.Keys(s.watched)
	return what
}

// skillsPath is where a server announces the extension (SEP-2640).
var skillsPath = []string{"extensions", "io.modelcontextprotocol/skills"}

// Skills lists the skills of servers that announce the extension io.modelcontextprotocol/skills, as [Registry.Resources]
// does. An [Offer.Def] is a Skill of SEP-2640. A host that loads
// one checks it, and reads its files by [Registry.ReadResource]. In a browser the page does that, because the module
// has no SHA-256.
func (r *Registry) Skills(ctx context.Context, servers ...string) ([]Offer, error) {
	return r.allOffers(ctx, skillList, servers)
}

// AskSkill asks a server for the entry of one skill (skills/get), or for a page of a directory if it announces
// directoryRead (resources/directory/read). params is the JSON text of the request's params. The payload is a
// GetSkillResult or a ReadResourceDirectoryResult of SEP-2640. The error is [ErrUnknownSkill] if there is none.
func (r *Registry) AskSkill(ctx context.Context, server string, params []byte, directory bool) (*Result, error) {
	method, path := "skills/get", skillsPath
	if directory {
		method, path = "resources/directory/read", append(path, "directoryRead")
	}
	result, err := r.ask(ctx, server, method, Request{Method: method, Params: params}, path...)
	if isRPC(err, codeInvalidParams) {
		err = &kindError{ErrUnknownSkill, err}
	}
	return result, err
}

// ReviewSkills returns for each skill why it waits for an approval, under the same trust as prompts: "changed", "new", or
// "" if it does not. skills are a URI and a digest in turn. The digest is over what an approval is bound to: the URIs and
// the digests of all files. With approve a person has approved these versions; "new" is then one without room to keep it.
func (r *Registry) ReviewSkills(name string, approve bool, skills ...string) (reasons []string, err error) {
	err = r.changeServer(name, "review", func(s *server) error {
		a, fresh := r.approvedFor(s), FreshPins{ByUser: approve}
		first := !a.HasPrompts(true)
		for ; len(skills) > 1; skills = skills[2:] {
			uri, reason, isFresh := approvals.SkillName(skills[0]), "", false
			text := string(append(rawjson.AppendString([]byte(`{"sha256":`), skills[1]), '}'))
			if approve {
				if isFresh = a.ApprovePrompt(uri, text); !isFresh {
					reason = approvals.New
				}
			} else if s.cfg.Trust != TrustAll {
				var hold *approvals.Hold
				if hold, isFresh = a.ReviewPrompt(uri, text, r.policy(s), first); hold != nil {
					reason = hold.Reason
				}
			}
			reasons = append(reasons, reason)
			if isFresh {
				fresh.Tools = append(fresh.Tools, approvals.PromptLine(uri))
			}
		}
		if fresh.Tools != nil {
			r.savePins(s, a, fresh)
		}
		if approve {
			r.changed(Event{Server: name})
		}
		return nil
	})
	return reasons, err
}
