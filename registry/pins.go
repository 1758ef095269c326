package registry

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A PinStore keeps approvals between runs. LoadPins may be called from several goroutines
// at once, and SavePins from one at a time.
type PinStore interface {
	// LoadPins returns what SavePins was last given for the key, or "".
	LoadPins(key string) (string, error)
	// SavePins stores the approvals of an endpoint, for the server of that name. It
	// does not block for long.
	SavePins(server, key, pins string, fresh FreshPins) error
}

// FreshPins are the changes in approvals that are saved. Where several registries
// share a store, only these changes may replace stored approvals; each registry
// whose approvals differ then gets them by [Registry.TakePins].
type FreshPins struct {
	// Tools are the tools that were approved, or forgotten where the pins lack them.
	Tools []string
	// ByUser: the user approved them, and they replace stored pins. Otherwise pins
	// that another registry has stored count.
	ByUser bool
}

// An Approval is the user's answer about one call.
type Approval string

// Approvals. Always and Never are remembered, bound to the server's origin and
// path, the tool and its pin, except for servers with [AskAlways].
const (
	Once   Approval = "once"
	Always Approval = "always"
	Deny   Approval = "deny"
	Never  Approval = "never"
)

// An ApprovalRequest is a call that waits for its approval.
type ApprovalRequest struct {
	Server    string
	Tool      Tool   // with its definition, whose annotations are claims unless Trusted
	Arguments []byte // JSON text of an object
	Trusted   bool   // the user trusts the server
}

// approved holds the approvals of one endpoint. The registry's lock guards it.
type approved struct {
	*approvals.Endpoint
	// pinning is open until the pins of an unpinned list are made. The endpoint then counts
	// as not reviewed.
	pinning chan struct{}
}

// loadPins reads the approvals of a server's endpoint from the store, once.
func (r *Registry) loadPins(s *server) error {
	r.mu.Lock()
	key := endpoint.Key(s.cfg.URL)
	loaded := r.approved[key] != nil
	r.mu.Unlock()
	if loaded || r.opts.Pins == nil {
		return nil
	}
	text, err := r.opts.Pins.LoadPins(key)
	if err != nil {
		return err
	}
	a := &approved{Endpoint: approvals.Parse(text)}
	r.mu.Lock()
	if r.approved[key] == nil {
		r.approved[key] = a
	}
	r.mu.Unlock()
	return nil
}

// approvedFor returns the approvals of a server's endpoint. The caller holds r.mu.
func (r *Registry) approvedFor(s *server) *approved {
	key := endpoint.Key(s.cfg.URL)
	a := r.approved[key]
	if a == nil {
		a = &approved{Endpoint: approvals.Parse("")}
		r.approved[key] = a
	}
	return a
}

// savePins has the store keep approvals. The caller holds r.mu and calls deliver.
func (r *Registry) savePins(s *server, a *approved, fresh FreshPins) {
	if store := r.opts.Pins; store != nil {
		name, key, text := s.name, endpoint.Key(s.cfg.URL), a.Text()
		r.saves = append(r.saves, func() {
			if err := store.SavePins(name, key, text, fresh); err != nil {
				r.log("pins not saved", "server", name, "error", err)
			}
		})
	}
}

// review holds the tools of a list that need an approval, and approves the others.
// It reports whether it holds any. The caller holds r.mu.
func (r *Registry) review(s *server, tools []Tool) (held bool) {
	key := endpoint.Key(s.cfg.URL)
	for i := range tools {
		tools[i].Hold, tools[i].endpoint = nil, key
	}
	a := r.approvedFor(s)
	if s.cfg.Trust == TrustAll || a.pinning != nil {
		return false
	}
	list := reviewed(tools)
	policy := r.policy(s)
	policy.Day = strconv.FormatInt(r.opts.Clock().Unix()/(24*60*60), 10)
	policy.Risky = func(i int) bool { _, ok := tools[i].Def.(Risky); return ok && !tools[i].harmless }
	fresh, save := a.Review(list, policy, s.print)
	for i := range list {
		tools[i].Hold = list[i].Hold
		held = held || list[i].Hold != nil
	}
	if save {
		r.savePins(s, a, FreshPins{Tools: fresh})
	}
	return held
}

// policy is what of the configuration says which entries of a list need an approval. The
// caller holds r.mu.
func (r *Registry) policy(s *server) approvals.Policy {
	return approvals.Policy{HoldFirst: r.holdsFirst(s), HoldNew: s.cfg.HoldNewTools}
}

// holdsFirst reports whether a first list is held: servers at one endpoint share their
// approvals, so one with [AskAlways] counts for all of them. The caller holds r.mu.
func (r *Registry) holdsFirst(s *server) bool {
	key := endpoint.Key(s.cfg.URL)
	for _, o := range r.servers {
		if o.cfg.Trust == AskAlways && endpoint.Key(o.cfg.URL) == key {
			return true
		}
	}
	return false
}

func reviewed(tools []Tool) []approvals.Tool {
	list := make([]approvals.Tool, len(tools))
	for i := range tools {
		list[i] = approvals.Tool{Name: tools[i].RawName, Pin: tools[i].Pin, Def: textOf(tools[i].Def)}
	}
	return list
}

// textOf returns the text of a definition that is held as text, or nil.
func textOf(def Payload) []byte {
	raw, _ := def.(Raw)
	return raw
}

// trim forgets the approvals of tools that a list does not have any more, once there
// are too many. The caller holds r.mu.
func (r *Registry) trim(s *server, tools []Tool) {
	a := r.approvedFor(s)
	if !a.Crowded(len(tools)) {
		return
	}
	if forgotten := a.Trim(reviewed(tools)); forgotten != nil {
		r.savePins(s, a, FreshPins{Tools: forgotten})
	}
}

// ApproveTools approves held tools as they are now, by the server's own names. If all names are "pin:" with the digest
// of a pin, it approves those versions only. It fails with [ErrHeld] if a tool has another version by now. Without names
// it approves all that are held. Models see them from then on.
func (r *Registry) ApproveTools(name string, tools ...string) error {
	return r.changeServer(name, "approve", func(s *server) error {
		var held []*Tool
		for i := range s.listed {
			if t := &s.listed[i]; t.Hold != nil && isNamed(tools, t.RawName, approvals.Digest(t.Pin)) {
				held = append(held, t)
			}
		}
		if len(held) < len(tools) {
			return notHeld(tools, ErrUnknownTool)
		}
		a := r.approvedFor(s)
		fresh := FreshPins{ByUser: true}
		for _, t := range held {
			if from := t.Hold.RenamedFrom; from != "" {
				a.Forget(from)
				fresh.Tools = append(fresh.Tools, from)
			}
			a.Approve(t.RawName, t.Pin, textOf(t.Def))
			fresh.Tools = append(fresh.Tools, t.RawName)
			t.Hold = nil
		}
		r.offer(s, s.listed)
		r.savePins(s, a, fresh)
		r.changed(Event{Server: name, Tools: true})
		return nil
	})
}

// pinPrefix tells the pin of a version from a name.
const pinPrefix = "pin:"

func byPin(names []string) bool { return len(names) > 0 && strings.HasPrefix(names[0], pinPrefix) }

// isNamed reports whether something of a name and a pin is to be approved.
func isNamed(all []string, name, pin string) bool {
	if byPin(all) {
		name = pinPrefix + pin
	}
	return len(all) == 0 || slices.Contains(all, name)
}

// notHeld is the error of an approval that names something that is not held.
func notHeld(names []string, unknown error) error {
	if byPin(names) {
		return errNotShown
	}
	return Because(unknown, "not all of these are held; getSnapshot().held and prompts({held: true}) have those that are")
}

// errNotShown is the error of an approval for a version that the server does not have any more.
var errNotShown = Because(ErrHeld, "it is another version than the one that was shown")

// TakePins replaces the approvals of an endpoint by those of the [PinStore], because
// another registry has changed them. A tool that is then held here may have been
// approved from a newer list: the registry lists the server again.
func (r *Registry) TakePins(key, pins string) error {
	return r.change(func() error {
		old, a := r.approved[key], &approved{Endpoint: approvals.Parse(pins)}
		r.approved[key] = a
		if old == nil || !a.Inherit(old.Endpoint) {
			return nil
		}
		for _, s := range r.servers {
			if endpoint.Key(s.cfg.URL) != key {
				continue
			}
			if s.info.Capabilities != nil {
				r.reviewInstructions(s)
				r.changed(Event{Server: s.name})
			}
			r.reviewPrompts(s)
			if len(s.listed) == 0 {
				continue
			}
			r.review(s, s.listed)
			r.offer(s, s.listed)
			r.changed(Event{Server: s.name, Tools: true})
			for i := range s.listed {
				if t := &s.listed[i]; t.Hold != nil && a.Pin(t.RawName) != old.Pin(t.RawName) && !s.cfg.Disabled {
					r.refreshSoon(s)
				}
			}
		}
		return nil
	})
}

// asksUser reports whether the user is asked about a call, or why it is denied. In a
// browser the page asks before it sends the call to the module.
func (r *Registry) asksUser(s *server, t *Tool) (ask bool, err error) {
	if runtime.GOOS == "js" {
		return false, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.Approve == nil || s.cfg.Trust == TrustAll && (!r.opts.ApproveAll || claims(t, "readOnlyHint")) {
		return false, nil
	}
	if s.cfg.Trust == AskAlways {
		return true, nil
	}
	a := r.approvedFor(s)
	r.awaitPins(a)
	switch Approval(a.Answer(t.RawName, t.Pin)) {
	case "":
		return true, nil
	case Always:
		return false, nil
	}
	return false, Because(ErrDenied, "never to be called")
}

// askUser asks the host about a call, with no lock held.
func (r *Registry) askUser(ctx context.Context, s *server, t *Tool, args []byte) error {
	r.mu.Lock()
	trusted, remembers := s.cfg.Trust == TrustAll, s.cfg.Trust != AskAlways
	r.mu.Unlock()
	var approval Approval
	err := guarded(func() (err error) {
		approval, err = r.opts.Approve(ctx, ApprovalRequest{Server: s.name, Tool: *t, Arguments: args, Trusted: trusted})
		return err
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return Because(ErrDenied, "the approval failed: "+err.Error())
	}
	if remembers && (approval == Always || approval == Never) {
		r.mu.Lock()
		a := r.approvedFor(s)
		a.Remember(t.RawName, t.Pin, string(approval))
		r.savePins(s, a, FreshPins{})
		r.mu.Unlock()
		r.deliver()
	}
	if approval == Once || approval == Always {
		return nil
	}
	return ErrDenied
}

// ForgetApprovals forgets the remembered answers of [Options.Approve] about a server,
// or with "" about all servers.
func (r *Registry) ForgetApprovals(name string) error {
	var servers []*server
	r.mu.Lock()
	for _, s := range r.servers {
		if name == "" || s.name == name {
			servers = append(servers, s)
		}
	}
	r.mu.Unlock()
	for _, s := range servers {
		if err := r.loadPins(s); err != nil {
			return onServer(s.name, "forget", err)
		}
	}
	return r.change(func() error {
		for _, s := range servers {
			if a := r.approvedFor(s); a.ForgetAnswers() {
				r.savePins(s, a, FreshPins{})
			}
		}
		return nil
	})
}

// claims reports whether the annotations of a tool have one of these hints.
func claims(t *Tool, hints ...string) bool {
	def, err := t.Def.JSON()
	if err != nil {
		return false
	}
	annotations := rawjson.Get(def, "annotations")
	return slices.ContainsFunc(hints, func(hint string) bool { return rawjson.IsTrue(annotations, hint) })
}

// pinSlice bounds how long the registry makes pins without a pause: a browser has
// one thread.
const pinSlice = 8 * time.Millisecond

// Pins are made pinDelay after a list, when the host has taken it: both need the
// processor. While Discover lists other servers, they wait for its end, but not longer
// than maxPinDelay.
const (
	pinDelay    = 300 * time.Millisecond
	maxPinDelay = 2 * time.Second
)

// An unpinned is a list that is offered before its pins are made: the first list of an
// endpoint, on whose pins nothing depends yet.
type unpinned struct {
	server  *server
	of      *approved
	list    *listing
	tools   []Tool
	missing []Pinner
	done    chan struct{}
}

// pin fills in the missing pins of a list and returns the list's fingerprint. If the
// fingerprint is that of the approved list, the approved pins are reused, because
// hashing costs more than listing. later reports that pinLater must make them.
func (r *Registry) pin(ctx context.Context, s *server, l *listing, tools []Tool) (print string, later bool) {
	r.mu.Lock()
	a := r.approvedFor(s)
	r.awaitPins(a) // of the list before this one
	later = s.cfg.Trust == TrustAll || !a.Known() && !r.holdsFirst(s)
	r.mu.Unlock()
	missing := withoutPin(tools)
	if later {
		return "", missing != nil
	}
	if missing != nil {
		print = l.fingerprint(ctx)
	}
	r.mu.Lock()
	same, known := a.IsApprovedList(print), a.Known()
	if same {
		for i := range tools {
			if missing[i] != nil {
				tools[i].Pin = a.Pin(tools[i].RawName)
			}
		}
	}
	r.mu.Unlock()
	setPins(tools, makePins(withoutPin(tools)))
	if known && !same {
		r.screen(ctx, a, tools)
	}
	return print, false
}

// screen looks for risks in the tools that are not approved.
func (r *Registry) screen(ctx context.Context, a *approved, tools []Tool) {
	for i := range tools {
		t := &tools[i]
		r.mu.Lock()
		fresh := a.Pin(t.RawName) == ""
		r.mu.Unlock()
		if def, ok := t.Def.(Risky); ok && fresh {
			t.harmless = !def.Risky(ctx)
		}
	}
}

// awaitPins waits until the pins of an endpoint's list are made. The caller holds r.mu,
// which is free meanwhile.
func (r *Registry) awaitPins(a *approved) {
	for a.pinning != nil {
		pinning := a.pinning
		r.pinSoon(0)
		r.mu.Unlock()
		<-pinning
		r.mu.Lock()
	}
}

// awaitAllPins waits until no list of any endpoint is without its pins. The caller holds
// r.mu, which is free meanwhile: lists may arrive.
func (r *Registry) awaitAllPins() {
	for waits := true; waits; {
		waits = false
		for _, a := range r.approved {
			waits = waits || a.pinning != nil
			r.awaitPins(a)
		}
	}
}

// pinLater has the pins of a list made that is offered already. The caller holds r.mu.
func (r *Registry) pinLater(s *server, l *listing, tools []Tool) {
	u := &unpinned{s, r.approvedFor(s), l, tools, withoutPin(tools), make(chan struct{})}
	u.of.pinning = u.done
	r.unpinned = append(r.unpinned, u)
	if len(r.unpinned) == 1 {
		r.pinSoon(maxPinDelay)
	}
	r.pinIfIdle()
}

// pinIfIdle makes the pins of unpinned lists unless Discover goes on. The caller holds r.mu.
func (r *Registry) pinIfIdle() {
	if r.discovering == 0 && len(r.unpinned) > 0 {
		r.pinSoon(pinDelay)
	}
}

// pinSoon makes the pins of all unpinned lists after a while, or when they were wanted
// before if that is sooner. The caller holds r.mu.
func (r *Registry) pinSoon(delay time.Duration) {
	at := time.Now().Add(delay)
	if !r.pinAt.IsZero() && r.pinAt.Before(at) {
		return
	}
	r.pinAt = at
	if r.pinTimer == nil {
		r.pinTimer = time.AfterFunc(delay, r.pinAll)
	} else {
		r.pinTimer.Reset(delay)
	}
}

// pinAll is called by pinTimer.
func (r *Registry) pinAll() {
	r.mu.Lock()
	r.pinAt = time.Time{}
	if lists := r.unpinned; len(lists) > 0 && !r.closed {
		r.unpinned = nil
		r.goroutine(func() { r.pinLists(lists) })
	}
	r.mu.Unlock()
}

// fewTools is the number of tools whose pins Discover makes before it returns.
const fewTools = 100

// takeFew takes the unpinned lists if they have few tools and Discover has ended. The
// caller holds r.mu and calls pinLists.
func (r *Registry) takeFew() []*unpinned {
	lists, tools := r.unpinned, 0
	for _, u := range lists {
		tools += len(u.tools)
	}
	if r.discovering > 0 || tools > fewTools {
		return nil
	}
	r.unpinned = nil
	return lists
}

// pinLists makes the pins of lists, one list after the other, and reviews them. All are
// saved at once.
func (r *Registry) pinLists(lists []*unpinned) {
	defer r.deliver()
	for _, u := range lists {
		_ = safely(func() { r.pinList(u) })
	}
}

func (r *Registry) pinList(u *unpinned) {
	s, pins, print := u.server, []string(nil), "" // u.tools is guarded by r.mu
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		u.of.pinning = nil
		close(u.done)
		if !s.lists(u.tools) {
			return
		}
		setPins(u.tools, pins)
		s.print = print
		held := r.review(s, u.tools)
		if held {
			r.offer(s, u.tools)
		}
		r.changed(Event{Server: s.name, Tools: held || s.cfg.Trust == TrustAll}) // SavePins tells of the others
	}()
	r.mu.Lock()
	current := s.lists(u.tools)
	r.mu.Unlock()
	if current {
		print = u.list.fingerprint(r.ctx)
		pins = makePins(u.missing)
	}
}

// lists reports whether the list is the server's latest and has tools. The registry's lock is held.
func (s *server) lists(tools []Tool) bool {
	return len(s.listed) > 0 && len(tools) > 0 && &s.listed[0] == &tools[0]
}

// withoutPin returns the definitions that have to make the pins of their tools, and
// nil for each other tool. It returns nil if there are none.
func withoutPin(tools []Tool) (missing []Pinner) {
	for i := range tools {
		if def, ok := tools[i].Def.(Pinner); ok && tools[i].Pin == "" {
			if missing == nil {
				missing = make([]Pinner, len(tools))
			}
			missing[i] = def
		}
	}
	return missing
}

// makePins returns the pins of the definitions of withoutPin, and "" for each nil.
func makePins(missing []Pinner) []string {
	pins, began := make([]string, len(missing)), time.Now()
	for i, def := range missing {
		if def == nil {
			continue
		}
		pins[i] = def.Pin()
		if time.Since(began) > pinSlice {
			time.Sleep(time.Millisecond)
			began = time.Now()
		}
	}
	return pins
}

// setPins gives tools the pins of makePins.
func setPins(tools []Tool, pins []string) {
	for i, pin := range pins {
		if pin != "" {
			tools[i].Pin = pin
		}
	}
}
