package registry

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"strings"

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
// of a pin, it approves those versions only, and fails with [ErrHeld] if a tool has another one by now. Without names it
// approves all that are held. Models see them from then on.
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
	values, _ := rawjson.Pick(annotations, hints...)
	return slices.ContainsFunc(values, func(hint []byte) bool { is, _ := rawjson.Bool(hint); return is })
}
