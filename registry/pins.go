package registry

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"
)

// Policies of a server whose tools change; see [ServerConfig.Trust].
const (
	TrustAll    = "trust"
	AskOnChange = "ask-on-change"
	AskAlways   = "ask-always"
)

// A PinStore keeps what a user has approved between runs. Both methods may be
// called for several keys at once, not for one.
type PinStore interface {
	// LoadPins returns what SavePins was last given for the key, or "".
	LoadPins(key string) (string, error)
	// SavePins keeps what is approved of the tools at an endpoint, for the
	// server of that name. It does not block for long.
	SavePins(server, key, pins string, fresh FreshPins) error
}

// FreshPins say what is new in pins that are saved. Where several registries
// share a store, only that may go into what is there; who holds something else
// then hears of it by [Registry.TakePins].
type FreshPins struct {
	// Tools are those that were approved or, where the pins do not have them any more, forgotten.
	Tools []string
	// ByUser: they replace what is stored of these tools. Otherwise nobody was
	// asked, and what another has stored counts.
	ByUser bool
}

// A Hold says why a tool is kept from models until [Registry.ApproveTools].
type Hold struct {
	// Reason is "changed": it differs from what was approved; "new": its name
	// was not there before; or "renamed": only its name is another.
	Reason string
	// RenamedFrom is the name that was approved, with "renamed".
	RenamedFrom string
	// Before is the approved definition; nil if it is not known any more.
	Before Payload
	// Changes are the parts that differ: name, title, description, inputSchema,
	// outputSchema, annotations, _meta.
	Changes []string
}

// The reasons of a [Hold].
const (
	HeldChanged = "changed"
	HeldNew     = "new"
	HeldRenamed = "renamed"
)

// pinned are the parts of a pin; see package pin.
var pinned = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"}

// digestOf is what decides whether two pins are equal; the rest tells what differs.
func digestOf(pin string) string {
	digest, _, _ := strings.Cut(pin, ".")
	return digest
}

func changedParts(before, now string) []string {
	changes := []string{}
	_, before, _ = strings.Cut(before, ".")
	_, now, _ = strings.Cut(now, ".")
	var a, b string
	for _, part := range pinned {
		a, before, _ = strings.Cut(before, ".")
		b, now, _ = strings.Cut(now, ".")
		if a != b {
			changes = append(changes, part)
		}
	}
	return changes
}

// sameButName reports whether two pins are of tools that differ in their names alone.
func sameButName(a, b string) bool {
	_, a, _ = strings.Cut(a, ".")
	_, b, _ = strings.Cut(b, ".")
	_, a, _ = strings.Cut(a, ".")
	_, b, _ = strings.Cut(b, ".")
	return a == b
}

// An approved is what a user has approved at one endpoint.
type approved struct {
	known bool              // a list has been seen
	pins  map[string]string // by the server's own names
	print string            // of the list that the pins are of, if none of its tools was held
	// pinning is open while the pins of the first list are made: it counts as not reviewed.
	pinning chan struct{}
	beyond  // what only native hosts keep here
}

// endpointKey is what approvals are bound to: the origin and the path.
func endpointKey(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return url
	}
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i]
	}
	host, path, _ := strings.Cut(rest, "/")
	scheme = strings.ToLower(scheme)
	port := ":443"
	if scheme == "http" {
		port = ":80"
	}
	return scheme + "://" + strings.TrimSuffix(strings.ToLower(host), port) + "/" + path
}

// originOf is the scheme and the authority of a URL.
func originOf(url string) string {
	key := endpointKey(url)
	if i := strings.Index(key, "://"); i >= 0 {
		if j := strings.IndexByte(key[i+3:], '/'); j >= 0 {
			return key[:i+3+j]
		}
	}
	return key
}

// loadPins reads what is approved at a server's endpoint, once. It may wait for the store.
func (r *Registry) loadPins(s *server) error {
	r.mu.Lock()
	key := endpointKey(s.cfg.URL)
	there := r.approved[key] != nil
	r.mu.Unlock()
	if there || r.opts.Pins == nil {
		return nil
	}
	text, err := r.opts.Pins.LoadPins(key)
	if err != nil {
		return err
	}
	a := parsePins(text)
	r.mu.Lock()
	if r.approved[key] == nil {
		r.approved[key] = a
	}
	r.mu.Unlock()
	return nil
}

// approvedFor returns what is approved at a server's endpoint. The caller holds r.mu.
func (r *Registry) approvedFor(s *server) *approved {
	key := endpointKey(s.cfg.URL)
	a := r.approved[key]
	if a == nil {
		a = parsePins("")
		r.approved[key] = a
	}
	return a
}

// manyTools is a list whose pins are better made after it is offered, if nothing depends on them.
const manyTools = 100

// pinSlice bounds how long a browser's only thread makes pins before others have their turn.
const pinSlice = 8 * time.Millisecond

// pin fills in the pins that are left to the definitions, and returns the list's
// fingerprint. A list that was approved as it is has its pins from there, for to make
// them takes longer than to list the tools. It reports whether pinLater is to do it.
func (r *Registry) pin(ctx context.Context, s *server, l *listing, tools []Tool) (print string, later bool) {
	r.mu.Lock()
	a := r.approvedFor(s)
	for a.pinning != nil { // what the list before was approved by
		pinning := a.pinning
		r.mu.Unlock()
		<-pinning
		r.mu.Lock()
	}
	first := !a.known && s.cfg.Trust != AskAlways && s.cfg.Trust != TrustAll
	r.mu.Unlock()
	left := unpinned(tools)
	if left == nil || first && len(tools) > manyTools {
		return "", left != nil
	}
	print = l.fingerprint(ctx)
	r.mu.Lock()
	known := print != "" && a.print == print
	for i := range tools {
		if known && left[i] != nil {
			tools[i].Pin = a.pins[tools[i].RawName]
		}
	}
	r.mu.Unlock()
	makePins(tools, unpinned(tools))
	return print, false
}

// pinLater is pin for a list that is offered already. The caller holds r.mu.
func (r *Registry) pinLater(s *server, l *listing, tools []Tool) {
	a, left := r.approvedFor(s), unpinned(tools)
	done := make(chan struct{})
	a.pinning = done
	r.goroutine(func() {
		pinned := make([]Tool, len(tools)) // but for what others change meanwhile
		print := ""
		defer r.deliver()
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			a.pinning = nil
			close(done)
			if len(s.listed) == 0 || &s.listed[0] != &tools[0] {
				return // another list has come, or none is left
			}
			for i, def := range left {
				if def != nil {
					tools[i].Pin = pinned[i].Pin
				}
			}
			s.print = print
			held := r.review(s, tools)
			if held {
				r.offer(s, tools)
			}
			r.changed(Event{Server: s.name, Tools: held})
		}()
		print = l.fingerprint(r.ctx)
		makePins(pinned, left)
	})
}

// unpinned are the definitions that have yet to make the pins of their tools, nil
// for the other tools; nil if there are none.
func unpinned(tools []Tool) (left []Pinner) {
	for i := range tools {
		if def, ok := tools[i].Def.(Pinner); ok && tools[i].Pin == "" {
			if left == nil {
				left = make([]Pinner, len(tools))
			}
			left[i] = def
		}
	}
	return left
}

// makePins has definitions make the pins of tools.
func makePins(tools []Tool, left []Pinner) {
	began := time.Now()
	for i, def := range left {
		if def == nil {
			continue
		}
		tools[i].Pin = def.Pin()
		if time.Since(began) > pinSlice {
			time.Sleep(time.Millisecond)
			began = time.Now()
		}
	}
}

// review holds the tools of a new list that nobody has approved, and approves
// those that need nobody. It reports whether it holds any. The caller holds r.mu.
func (r *Registry) review(s *server, tools []Tool) (held bool) {
	key := endpointKey(s.cfg.URL)
	for i := range tools {
		tools[i].Hold, tools[i].endpoint = nil, key
	}
	a := r.approvedFor(s)
	if s.cfg.Trust == TrustAll || a.pinning != nil {
		return false
	}
	first := !a.known && s.cfg.Trust != AskAlways
	holdNew := s.cfg.HoldNewTools || s.cfg.Trust == AskAlways
	a.known = true
	var gone []string
	if !first {
		gone = a.gone(tools)
	}
	var fresh []string
	for i := range tools {
		t := &tools[i]
		before, there := a.pins[t.RawName]
		switch {
		case t.Pin == "" || there && digestOf(before) == digestOf(t.Pin):
			a.keep(t)
			continue
		case there:
			t.Hold = &Hold{Reason: HeldChanged, Before: a.before(t.RawName), Changes: changedParts(before, t.Pin)}
			held = true
			continue
		}
		if !first {
			if holdNew {
				t.Hold = &Hold{Reason: HeldNew}
			}
			for _, name := range gone {
				if sameButName(a.pins[name], t.Pin) {
					t.Hold = &Hold{Reason: HeldRenamed, RenamedFrom: name, Before: a.before(name), Changes: pinned[:1]}
					break
				}
			}
			if t.Hold != nil {
				held = true
				continue
			}
		}
		a.approve(t)
		fresh = append(fresh, t.RawName)
	}
	print := a.print != s.print && !held
	if print {
		a.print = s.print
	}
	if print || len(fresh) > 0 {
		r.savePins(s, a, FreshPins{Tools: fresh})
	}
	return held
}

// gone are the names that are approved and not in the list any more, in order.
func (a *approved) gone(tools []Tool) []string {
	there := make(map[string]bool, len(tools))
	for i := range tools {
		there[tools[i].RawName] = true
	}
	var gone []string
	for name := range a.pins {
		if !there[name] {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	return gone
}

func (a *approved) approve(t *Tool) {
	a.forget(t.RawName)
	a.pins[t.RawName] = t.Pin
	a.keep(t)
}

func (a *approved) forget(name string) {
	a.print = ""
	delete(a.pins, name)
	a.drop(name)
}

// trim forgets the tools that a new list does not have any more once there are too
// many of them. The caller holds r.mu.
func (r *Registry) trim(s *server, tools []Tool) {
	a := r.approvedFor(s)
	if len(a.pins) <= 2*max(len(tools), 1000) {
		return
	}
	gone := a.gone(tools)
	for _, name := range gone {
		a.forget(name)
	}
	r.savePins(s, a, FreshPins{Tools: gone})
}

// ApproveTools approves tools that are held, as they are now, by the server's own
// names; all that are held, if none are named. Models see them from then on.
func (r *Registry) ApproveTools(name string, tools ...string) error {
	return r.change(func() error {
		s := r.servers[name]
		if s == nil {
			return &ServerError{name, "approve", ErrUnknownServer}
		}
		var held []*Tool
		for i := range s.listed {
			if t := &s.listed[i]; t.Hold != nil && (len(tools) == 0 || slices.Contains(tools, t.RawName)) {
				held = append(held, t)
			}
		}
		if len(held) < len(tools) {
			return &ServerError{name, "approve", Because(ErrUnknownTool, "not all of these tools are held")}
		}
		a := r.approvedFor(s)
		fresh := FreshPins{ByUser: true}
		for _, t := range held {
			if from := t.Hold.RenamedFrom; from != "" {
				a.forget(from)
				fresh.Tools = append(fresh.Tools, from)
			}
			a.approve(t)
			fresh.Tools = append(fresh.Tools, t.RawName)
			t.Hold = nil
		}
		r.offer(s, s.listed)
		r.savePins(s, a, fresh)
		r.changed(Event{Server: name, Tools: true})
		return nil
	})
}

// TakePins replaces what is approved at an endpoint by what the [PinStore] has of
// it, for another registry has changed that. What was approved may be a tool of a
// newer list than the one that is here: then that is asked for.
func (r *Registry) TakePins(key, pins string) error {
	return r.change(func() error {
		old, a := r.approved[key], parsePins(pins)
		r.approved[key] = a
		if old == nil {
			return nil
		}
		a.inherit(&old.beyond)
		if maps.Equal(old.pins, a.pins) {
			return nil
		}
		for name, pin := range old.pins {
			if a.pins[name] != pin {
				a.drop(name)
			}
		}
		for _, s := range r.servers {
			if len(s.listed) == 0 || endpointKey(s.cfg.URL) != key {
				continue
			}
			r.review(s, s.listed)
			r.offer(s, s.listed)
			r.changed(Event{Server: s.name, Tools: true})
			for i := range s.listed {
				if t := &s.listed[i]; t.Hold != nil && a.pins[t.RawName] != old.pins[t.RawName] && !s.cfg.Disabled {
					r.refreshSoon(s)
				}
			}
		}
		return nil
	})
}

// savePins has the store keep what is approved. The caller holds r.mu and calls deliver.
func (r *Registry) savePins(s *server, a *approved, fresh FreshPins) {
	if store := r.opts.Pins; store != nil {
		name, key, text := s.name, endpointKey(s.cfg.URL), a.text()
		r.saves = append(r.saves, func() {
			if err := store.SavePins(name, key, text, fresh); err != nil {
				r.log("pins not saved", "server", name, "error", err)
			}
		})
	}
}

// text has a line for each pin, of tool and pin with a tab between, one without a tool
// for the fingerprint, and then what is kept beyond. Names of tools hold no control characters.
func (a *approved) text() string {
	var out []byte
	if a.print != "" {
		out = append(append(append(out, '\t'), a.print...), '\n')
	}
	for name, pin := range a.pins {
		out = append(append(append(append(out, name...), '\t'), pin...), '\n')
	}
	return string(a.append(out))
}

// parsePins reads what text has written. Of "" the next list counts as the first.
func parsePins(text string) *approved {
	a := &approved{known: text != "", pins: make(map[string]string)}
	for text != "" {
		var line string
		line, text, _ = strings.Cut(text, "\n")
		name, pin, _ := strings.Cut(line, "\t")
		if pin, more, ok := strings.Cut(pin, "\t"); ok {
			a.parse(name, pin, more)
		} else if name == "" {
			a.print = pin
		} else if pin != "" {
			a.pins[name] = pin
		}
	}
	return a
}
