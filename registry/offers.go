package registry

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// An Offer is an entry of a server's list of resources, of resource templates or of prompts.
type Offer struct {
	// Server is the server's name.
	Server string
	// Name is a prompt's name in the registry, made as a tool's is; "" of resources.
	Name string
	// Key is the server's own: a URI, a URI template (RFC 6570), or a prompt's name.
	Key string
	// Def is the whole Resource, ResourceTemplate or Prompt object of the spec, as JSON
	// text. It has no hidden text. In a browser the page removes that.
	Def []byte
	// Flags tell of the hidden text.
	Flags []text.Flag
	// Hold says why a prompt waits for [Registry.ApprovePrompts].
	Hold *approvals.Hold

	text string // what an approval of a prompt is bound to; made here, because a review holds the registry's lock
}

// An offerList is one of the lists of a server that are asked for when somebody wants them.
type offerList struct {
	offers  []Offer
	of      *conn     // the session that listed it; nil: not listed
	at      time.Time // when
	staleAt time.Time // zero: no ttl was given
	private bool      // it is the user's own
	changed bool      // since the attempt under way began
	warnings
	flight *flight
}

// The kinds of lists, which are indices of server.offers.
const (
	resourceList = iota
	templateList
	promptList
	skillList
	offerLists
)

// offerKinds are the kinds of lists: the method, the member of its result, the member that
// names an entry, and the capability.
var offerKinds = [offerLists]struct{ method, member, key, capability string }{
	{"resources/list", "resources", "uri", "resources"},
	{"resources/templates/list", "resourceTemplates", "uriTemplate", "resources"},
	{"prompts/list", "prompts", "name", "prompts"},
	{"skills/list", "skills", "uri", "extensions"},
}

// maxOfferBytes bounds one list, in bytes, and maxOfferKey what names an entry.
const (
	maxOfferBytes = 4 << 20
	maxOfferKey   = 8 << 10
)

// Resources lists the resources of the named servers, or of all that are enabled. A list
// that the server has not changed is not asked for again. The error joins one *ServerError
// for each server that failed; the offers of the others are there. They are nil if all failed.
func (r *Registry) Resources(ctx context.Context, servers ...string) ([]Offer, error) {
	return r.allOffers(ctx, resourceList, servers)
}

// ResourceTemplates lists the resource templates, as [Registry.Resources] does.
func (r *Registry) ResourceTemplates(ctx context.Context, servers ...string) ([]Offer, error) {
	return r.allOffers(ctx, templateList, servers)
}

// allOffers lists in parallel. The order is that of the servers' names.
func (r *Registry) allOffers(ctx context.Context, kind int, names []string) ([]Offer, error) {
	var mu sync.Mutex
	lists := map[string]*offerList{}
	names, problems, err := r.eachServer(names, false, func(name string) error {
		l, err := r.offersOf(ctx, name, kind)
		mu.Lock()
		lists[name] = l
		mu.Unlock()
		return err
	})
	if err != nil {
		return nil, err
	}
	var all []Offer
	for _, name := range names {
		if l := lists[name]; l != nil {
			if all == nil {
				all = []Offer{}
			}
			all = append(all, l.offers...)
		}
	}
	return all, errors.Join(problems...)
}

// eachServer runs work for the named servers, or for all that are enabled, in parallel; for suspended ones only
// if that is said. It returns their names in order, each once, and their errors.
func (r *Registry) eachServer(named []string, suspended bool, work func(name string) error) ([]string, []error, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, nil, ErrClosed
	}
	chosen := map[string]*server{}
	for _, name := range named {
		chosen[name] = r.servers[name]
	}
	for name, s := range r.servers {
		if len(named) == 0 && (s.visible() || suspended && !s.cfg.Disabled) {
			chosen[name] = s
		}
	}
	names := text.Keys(chosen)
	problems := make([]error, len(names))
	left := make(chan struct{}, len(names))
	for i, name := range names {
		r.goroutine(func() {
			defer func() { left <- struct{}{} }()
			problems[i] = work(name)
		})
	}
	r.mu.Unlock()
	for range names {
		<-left
	}
	return names, problems, nil
}

// offersOf returns a list of one server. All who ask at the same time share one attempt.
func (r *Registry) offersOf(ctx context.Context, name string, kind int) (*offerList, error) {
	op := "list " + offerKinds[kind].member
	r.mu.Lock()
	s, err := r.usable(name)
	if err != nil {
		r.mu.Unlock()
		return nil, onServer(name, op, err)
	}
	l := s.offers[kind]
	if now := r.opts.Clock(); l.of != nil && l.of == s.conn && (l.staleAt.IsZero() || now.Before(l.staleAt)) {
		r.mu.Unlock()
		return &l, nil
	}
	f := l.flight
	if f == nil || f.waiters == 0 {
		f = r.startOffers(s, kind)
	}
	f.waiters++
	r.mu.Unlock()
	if _, err := f.wait(ctx, r); err != nil {
		return nil, onServer(name, op, err)
	}
	r.mu.Lock()
	l = s.offers[kind]
	r.mu.Unlock()
	return &l, nil
}

// usable returns the server of that name if it can be asked. The caller holds r.mu.
func (r *Registry) usable(name string) (*server, error) {
	s := r.servers[name]
	if s == nil {
		return nil, ErrUnknownServer
	}
	return s, r.reachable(s)
}

// startOffers begins to list. The caller holds r.mu.
func (r *Registry) startOffers(s *server, kind int) *flight {
	l, wait := &s.offers[kind], time.Duration(0)
	if l.of != nil { // it changes all the time
		wait = l.at.Add(refreshInterval).Sub(r.opts.Clock())
	}
	l.changed = false
	limit := r.timeout(s)
	l.flight = r.startFlight(func(ctx context.Context) (*conn, error) {
		pause, stop := context.WithTimeout(ctx, wait)
		<-pause.Done()
		stop()
		return nil, r.use(ctx, s, limit, func(ctx context.Context, c *conn, _ func(bool)) error {
			return r.listOffers(ctx, s, c, kind, false)
		})
	}, func(f *flight) {
		if l.flight == f {
			l.flight = nil
		}
	})
	return l.flight
}

// offerer returns the session as an Offerer whose server has announced what is at path.
func offerer(ctx context.Context, c *conn, path ...string) (Offerer, error) {
	o, ok := c.session.(Offerer)
	if !ok {
		return nil, Because(ErrUnsupported, "the session knows tools only")
	}
	has, err := o.Capabilities(ctx)
	if err != nil {
		return nil, err
	}
	if !has.Has(path...) {
		return nil, Because(ErrUnsupported, "the server does not offer "+strings.Join(path, "."))
	}
	return o, nil
}

// listOffers follows cursors under the limits, as list does, and keeps the list. again says that the list begins again,
// because the server has forgotten a cursor.
func (r *Registry) listOffers(ctx context.Context, s *server, c *conn, kind int, again bool) error {
	k := &offerKinds[kind]
	l := offerList{of: c}
	path := []string{k.capability}
	if kind == skillList {
		path = skillsPath
	}
	o, err := offerer(ctx, c, path...)
	if errors.Is(err, ErrUnsupported) {
		return r.keepOffers(s, kind, l)
	}
	if err != nil {
		return err
	}
	keys, cursors, params, size, seen := map[string]bool{}, map[string]bool{}, []byte("{}"), 0, 0
	most := r.opts.Limits.ToolsPerServer
	for page := 1; ; page++ {
		result, err := readAll(o.Ask(ctx, Request{Method: k.method, Params: params}))
		if kind == templateList && page == 1 && isRPC(err, CodeMethodNotFound) {
			break // a server of resources need not know templates
		}
		if err != nil {
			isLate := errors.Is(context.Cause(ctx), context.DeadlineExceeded)
			if page == 1 || errors.Is(err, ErrSessionExpired) || ctx.Err() != nil && !isLate {
				return err
			}
			if isRPC(err, codeInvalidParams) && !again {
				return r.listOffers(ctx, s, c, kind, true)
			}
			l.warn("the list ends after page " + strconv.Itoa(page-1) + ": " + err.Error())
			break
		}
		size += len(result)
		entries := rawjson.Get(result, k.member)
		if rawjson.Kind(entries) != 'a' {
			return Because(ErrProtocol, "the answer to "+k.method+" has no list")
		}
		_ = rawjson.Elements(entries, func(def []byte) error {
			if seen++; len(l.offers) < most && seen <= 10*most { // entries that are left out count, too
				r.addOffer(&l, s, kind, keys, def)
				return nil
			}
			l.warn("the list of " + k.member + " is cut at " + strconv.Itoa(len(l.offers)))
			return context.Canceled
		})
		l.readTTL(result, r.opts.Clock())
		next := rawjson.Get(result, "nextCursor")
		cursor, more := rawjson.String(next)
		if !more {
			break
		}
		if len(l.offers) >= most || seen > 10*most || size >= maxOfferBytes || page >= r.opts.Limits.Pages ||
			len(cursor) > maxCursor || cursors[cursor] {
			l.warn("the list of " + k.member + " ends at page " + strconv.Itoa(page) + "; the server says that it has more")
			break
		}
		cursors[cursor] = true
		params = append(rawjson.AppendString([]byte(`{"cursor":`), cursor), '}')
	}
	if kind == skillList && l.staleAt.IsZero() { // no server says that its skills have changed
		l.staleAt = r.opts.Clock().Add(refreshInterval)
	}
	if err := r.keepOffers(s, kind, l); err != nil {
		return err
	}
	if has, err := o.Capabilities(ctx); err == nil && has.Has(k.capability, "listChanged") {
		r.followLists(s, kind == promptList)
	}
	return nil
}

// readAll returns the text of a payload and frees what the platform holds for it.
func readAll(p Payload, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if held, ok := p.(interface{ Release() }); ok {
		defer held.Release()
	}
	return p.JSON()
}

// readTTL takes the least ttlMs of all pages and whether a page is the user's own (2026-07-28).
func (l *offerList) readTTL(page []byte, now time.Time) {
	l.private = l.private || rawjson.Text(page, "cacheScope") == "private"
	raw := rawjson.Get(page, "ttlMs")
	if ttl, _ := rawjson.Milliseconds(raw); ttl > 0 {
		at := now.Add(min(ttl, longestTTL))
		if l.staleAt.IsZero() || at.Before(l.staleAt) {
			l.staleAt = at
		}
	}
}

// addOffer adds an entry to the list, or says why it is left out.
func (r *Registry) addOffer(l *offerList, s *server, kind int, keys map[string]bool, def []byte) {
	k, most := &offerKinds[kind], r.opts.Limits.DefinitionBytes
	if kind == skillList { // which names up to 512 files
		most *= 4
	}
	key := rawjson.Text(def, k.key)
	drop := func(why string) {
		l.warn("an entry of " + k.member + " dropped: " + text.Quote(key) + ": " + why)
	}
	switch {
	case key == "":
		drop("it has no " + k.key)
		return
	case len(key) > maxOfferKey || len(def) > most:
		drop("it is too long")
		return
	case keys[key]:
		return
	case text.Visible(key) != key:
		drop("the " + k.key + " holds hidden characters")
		return
	}
	keys[key] = true
	offer := Offer{Server: s.name, Key: key, Def: slices.Clone(def)}
	if kind == promptList {
		offer.Name = names.Tool(s.name, key)
	}
	if runtime.GOOS != "js" {
		var err error
		if offer.Def, offer.Flags, err = text.CleanDefinition(offer.Def); err != nil {
			drop(err.Error())
			return
		}
	}
	if kind == promptList {
		offer.text = promptText(offer.Def)
	}
	l.offers = append(l.offers, offer)
}

// keepOffers replaces a list of the server. If the session ended meanwhile, the next one
// has to list again.
func (r *Registry) keepOffers(s *server, kind int, l offerList) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.conn != l.of {
		return ErrSessionExpired
	}
	for i, words := range l.warnings {
		l.warnings[i] = r.shown(s, words)
	}
	l.at, l.flight = r.opts.Clock(), s.offers[kind].flight
	if s.offers[kind].changed {
		l.staleAt = l.at
	}
	s.offers[kind] = l
	if kind == promptList {
		r.reviewPrompts(s)
	}
	r.changed(Event{Server: s.name})
	return nil
}

// forgetOffers drops the lists of a server, or those that are the user's own. The caller holds r.mu.
func (s *server) forgetOffers(onlyPrivate bool) {
	for kind := range s.offers {
		if l := &s.offers[kind]; l.private || !onlyPrivate {
			*l = offerList{flight: l.flight}
		}
	}
}

// outdate has lists asked for again when somebody wants them. The caller holds r.mu.
func (r *Registry) outdate(s *server, kinds ...int) {
	for _, kind := range kinds {
		s.offers[kind].staleAt, s.offers[kind].changed = r.opts.Clock(), true
	}
	r.changed(Event{Server: s.name})
}

// count returns the length of a list, or nil if it is not known or outdated. The caller
// holds r.mu.
func (s *server) count(kind int, now time.Time) *int {
	l := &s.offers[kind]
	if l.of == nil || !l.staleAt.IsZero() && !now.Before(l.staleAt) {
		return nil
	}
	n := 0
	for i := range l.offers {
		if l.offers[i].Hold == nil {
			n++
		}
	}
	return &n
}

// use runs work on a session of the server under a time limit, and counts how it went in
// the server's health. The clock stands still while work says that a person is asked.
func (r *Registry) use(ctx context.Context, s *server, limit time.Duration, work func(context.Context, *conn, func(asking bool)) error) error {
	began := r.opts.Clock()
	r.mu.Lock()
	generation, ok := s.breaker.begin(began)
	last, caller := s.lastError, ctx
	ctx, watch := startWatch(ctx, limit)
	defer watch.stop()
	if ok {
		if s.watches == nil {
			s.watches = map[*stopwatch]bool{}
		}
		s.watches[watch] = true
	}
	r.mu.Unlock()
	if !ok {
		return Because(ErrSuspended, last)
	}
	err := r.withSession(ctx, s, func(c *conn) error { return work(ctx, c, watch.hold) })
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.mu.Lock()
	delete(s.watches, watch)
	if r.servers[s.name] == s {
		o, blame, now := outcomeOf(err), err, r.opts.Clock()
		if o == failed && (caller.Err() != nil || now.Sub(began) > limit+frozenAfter) {
			o = undecided // the computer slept, or a person was asked
		}
		if o != failed {
			blame = nil
		}
		r.attempted(s, generation, o, blame, now)
	}
	r.mu.Unlock()
	r.deliver()
	return err
}

// A stopwatch ends a context when its time is over. It can be held.
type stopwatch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	until  time.Time
	left   time.Duration
	holds  int
	mu     sync.Mutex
}

func startWatch(ctx context.Context, limit time.Duration) (context.Context, *stopwatch) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &stopwatch{cancel: cancel, until: time.Now().Add(limit)}
	c.timer = time.AfterFunc(limit, func() { cancel(errLate) })
	return ctx, c
}

// hold stops the clock, or lets it go on.
func (c *stopwatch) hold(on bool) {
	c.mu.Lock()
	if on {
		if c.holds++; c.holds == 1 {
			c.timer.Stop()
			c.left = time.Until(c.until)
		}
	} else if c.holds--; c.holds == 0 {
		c.until = time.Now().Add(c.left)
		c.timer.Reset(max(c.left, 0))
	}
	c.mu.Unlock()
}

func (c *stopwatch) stop() {
	c.timer.Stop()
	c.cancel(nil)
}

// ask sends one request to the server and returns its result, whole.
func (r *Registry) ask(ctx context.Context, name, op string, req Request, path ...string) (*Result, error) {
	r.mu.Lock()
	s, err := r.usable(name)
	origin := ""
	if err == nil {
		origin = endpoint.Origin(s.cfg.URL)
	}
	r.mu.Unlock()
	if err != nil {
		return nil, onServer(name, op, err)
	}
	req.ID = CallID(ctx)
	started := r.opts.Clock()
	result := &Result{Server: name, Origin: origin, r: r}
	err = r.use(ctx, s, r.opts.IdleTimeout, func(ctx context.Context, c *conn, hold func(bool)) error {
		o, err := offerer(ctx, c, path...)
		if err == nil {
			req.OnAsk = hold
			result.Payload, err = o.Ask(ctx, req)
		}
		return err
	})
	if err != nil {
		return nil, onServer(name, op, err)
	}
	result.Duration = r.opts.Clock().Sub(started)
	return result, nil
}
