package registry

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/text"
)

// Discover connects to the named servers, or to all that are enabled, in
// parallel, and lists their tools. It returns when each is done or has failed,
// with one *ServerError for each that failed; the others work.
func (r *Registry) Discover(ctx context.Context, names ...string) error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return ErrClosed
	}
	r.discovered = true
	r.discovering++
	r.changed(Event{})
	r.mu.Unlock()
	r.deliver()
	_, problems, err := r.eachServer(names, true, func(name string) error {
		r.mu.Lock()
		s, err := r.usable(name)
		r.mu.Unlock()
		if err == nil {
			err = r.refresh(ctx, s)
		}
		return onServer(name, "discover", err)
	})
	r.mu.Lock()
	r.discovering--
	few := r.takeFew()
	r.pinIfIdle()
	r.changed(Event{})
	r.mu.Unlock()
	r.deliver()
	r.pinLists(few)
	return errors.Join(append(problems, err)...)
}

// refresh lists a server's tools, connecting first if need be. All callers at the same
// time share one attempt.
func (r *Registry) refresh(ctx context.Context, s *server) error {
	r.mu.Lock()
	f, err := r.refreshing(s)
	r.mu.Unlock()
	if err != nil {
		return onServer(s.name, "discover", err)
	}
	r.deliver()
	_, err = f.wait(ctx, r)
	return onServer(s.name, "discover", err)
}

// refreshing returns the attempt under way, or begins one, with the caller counted
// as a waiter. The caller holds r.mu.
func (r *Registry) refreshing(s *server) (*flight, error) {
	if err := r.reachable(s); err != nil {
		return nil, err
	}
	f := s.refreshing
	if f == nil || f.waiters == 0 {
		generation, ok := s.breaker.begin(r.opts.Clock())
		if !ok {
			return nil, Because(ErrSuspended, s.lastError)
		}
		f = r.startRefresh(s, generation)
	}
	f.waiters++
	return f, nil
}

func (r *Registry) startRefresh(s *server, generation uint64) *flight {
	s.stopTimers() // this list is what they would begin
	s.refreshing = r.startFlight(func(ctx context.Context) (*conn, error) {
		return nil, r.connectAndList(ctx, s)
	}, func(f *flight) {
		if s.refreshing != f {
			if f.err != nil {
				f.err = s.dropCause
			}
			return
		}
		s.refreshing = nil
		s.refreshedAt = r.opts.Clock()
		o := outcomeOf(f.err)
		if o == succeeded && f.err != nil {
			o = undecided // it answers, but has no list
		}
		if retryAfter(f.err) > 0 {
			o = postponed
		}
		if o == failed && s.refreshedAt.Sub(f.began) > 5*r.timeout(s) { // two attempts take less: the page was frozen
			o, s.again = undecided, true
		}
		r.attempted(s, generation, o, f.err, s.refreshedAt)
		if s.again {
			s.again = false
			r.refreshSoon(s)
		}
	})
	return s.refreshing
}

func (r *Registry) connectAndList(ctx context.Context, s *server) error {
	return r.withSession(ctx, s, func(c *conn) error {
		l, err := r.list(ctx, s, c.session)
		if err == nil {
			err = r.publish(ctx, s, c, l)
		}
		if err != nil {
			l.free()
			err = onServer(s.name, "list tools", err)
		}
		return err
	})
}

// A listing collects the pages of one list.
type listing struct {
	tools   []ToolDef
	prints  []func(context.Context) string // of the pages, nil for one that has none
	release []func()
	warnings
	ttl     time.Duration // the least of the pages
	private bool          // a page is the user's own
	latency time.Duration
}

func (l *listing) free() {
	for _, release := range l.release {
		release()
	}
	l.release = nil
}

// fingerprint returns the fingerprints of all pages in one text, or "" if a page has none.
func (l *listing) fingerprint(ctx context.Context) string {
	all := ""
	for _, print := range l.prints {
		if print == nil {
			return ""
		}
		one := print(ctx)
		if one == "" {
			return ""
		}
		all += one
	}
	return all
}

// warnings say what a list leaves out, and why; at most 20 times.
type warnings []string

func (w *warnings) warn(words string) {
	if len(*w) < 20 {
		*w = append(*w, words)
	}
}

func (w *warnings) drop(tool, reason string) {
	w.warn("tool " + text.Quote(tool) + " dropped: " + reason)
}

func (w *warnings) cut(at int, what string) {
	w.warn("the list is cut at " + strconv.Itoa(at) + " " + what)
}

// list follows cursors under the limits on pages, tools, bytes and time. At a limit it
// keeps the pages that arrived and adds a warning. An error on a later page ends the
// list in the same way, because the first pages are still good.
func (r *Registry) list(ctx context.Context, s *server, session Session) (*listing, error) {
	r.mu.Lock()
	timeout := r.timeout(s)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, errLate)
	defer cancel()
	limits := &r.opts.Limits
	l := &listing{}
	seen := make(map[string]bool)
	bytes := 0
	var cursor *string
	restarted := false
	for page := 1; ; page++ {
		started := r.opts.Clock()
		p, err := session.ListTools(ctx, cursor)
		if err != nil {
			if page == 1 || errors.Is(err, ErrSessionExpired) || errors.Is(err, context.Canceled) {
				return l, err
			}
			if isRPC(err, codeInvalidParams) && !restarted { // the server has forgotten its cursor
				restarted = true
				l.free()
				*l, seen, bytes, cursor, page = listing{}, make(map[string]bool), 0, nil, 0
				continue
			}
			l.warn("the list ends after page " + strconv.Itoa(page-1) + ": " + err.Error())
			return l, nil
		}
		if page == 1 {
			l.latency = r.opts.Clock().Sub(started)
		}
		if p.TTL > 0 && (l.ttl == 0 || p.TTL < l.ttl) {
			l.ttl = p.TTL
		}
		l.private = l.private || p.Private
		if p.Release != nil {
			l.release = append(l.release, p.Release)
		}
		for _, d := range p.Dropped {
			l.drop(d.Name, d.Reason)
		}
		if l.tools == nil {
			l.tools = p.Tools
		} else {
			l.tools = append(l.tools, p.Tools...)
		}
		l.prints = append(l.prints, p.Fingerprint)
		bytes += p.Bytes
		switch next := p.NextCursor; {
		case next == nil:
		case len(l.tools) >= limits.ToolsPerServer:
			if len(l.tools) == limits.ToolsPerServer {
				l.cut(limits.ToolsPerServer, "tools; the server has more")
			}
		case len(*next) > maxCursor:
			l.warn("a page cursor is longer than " + strconv.Itoa(maxCursor) + " bytes; the list ends there")
		case seen[*next]:
			l.warn("the server repeats a page cursor; the list ends there")
		case page >= limits.Pages:
			l.cut(limits.Pages, "pages; the server has more")
		case bytes >= limits.ListBytes:
			l.cut(limits.ListBytes, "bytes; the server has more")
		default:
			seen[*next] = true
			cursor = next
			continue
		}
		return l, nil
	}
}

// isRPC reports whether a server answered with an error of that code.
func isRPC(err error, code int64) bool {
	rpc, ok := errors.AsType[*RPCError](err)
	return ok && rpc.Code == code
}

// maxCursor bounds the cursor that is sent back for each page, in bytes.
const maxCursor = 16 << 10

// longestTTL caps the time for which a server says that its list stays fresh.
const longestTTL = 24 * time.Hour

// publish replaces a server's tools by a new list.
func (r *Registry) publish(ctx context.Context, s *server, c *conn, l *listing) error {
	if most := r.opts.Limits.ToolsPerServer; len(l.tools) > most {
		l.cut(most, "tools; the server has more")
		l.tools = l.tools[:most]
	}
	tools := namedTools(s.name, l)
	if err := r.loadPins(s); err != nil {
		return Because(ErrInvalidConfig, "the approved tools cannot be read: "+err.Error())
	}
	print, later := r.pin(ctx, s, l, tools)

	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case c.over:
		return ErrSessionExpired
	case s.conn != c:
		return Because(ErrNetwork, "the session ended while its tools were listed")
	}
	if room := r.opts.Limits.Tools - (r.toolTotal - len(s.listed)); len(tools) > room {
		l.cut(max(room, 0), "tools, for all servers together have too many")
		tools = tools[:max(room, 0)]
	}
	old := s.release
	s.print = print
	if later {
		r.pinLater(s, l, tools)
	}
	r.review(s, tools)
	r.trim(s, tools)
	r.offer(s, tools)
	for i, w := range l.warnings {
		l.warnings[i] = r.shown(s, w)
	}
	s.release, s.warnings, s.latency, s.private = l.release, l.warnings, l.latency, l.private
	s.staleAt = time.Time{}
	if l.ttl > 0 {
		s.staleAt = r.opts.Clock().Add(min(l.ttl, longestTTL))
	}
	for _, release := range old {
		release()
	}
	r.changed(Event{Server: s.name, Tools: true})
	return nil
}

// namedTools gives the tools of a list their model names. The first of several tools
// with one name counts.
func namedTools(server string, l *listing) []Tool {
	size := 0
	for _, d := range l.tools {
		size += min(len(server)+2+len(d.Name), names.MaxLen)
	}
	// All names are pieces of one string.
	joined := make([]byte, 0, size)
	ends := make([]int, len(l.tools))
	for i, d := range l.tools {
		joined = names.Append(joined, server, d.Name)
		ends[i] = len(joined)
	}
	all := string(joined)
	tools := make([]Tool, 0, len(l.tools))
	var seen names.Table[Tool]
	seen.Reserve(len(l.tools))
	from := 0
	for i, d := range l.tools {
		tools = append(tools, Tool{Name: all[from:ends[i]], Server: server, RawName: d.Name, Def: d.Def, Pin: d.Pin, Flags: d.Flags, AppOnly: d.AppOnly})
		from = ends[i]
		if t := &tools[len(tools)-1]; !seen.Add(t.Name, t) {
			tools = tools[:len(tools)-1]
			l.drop(d.Name, "the server lists that name twice")
		}
	}
	return tools
}
