package bridge

import (
	"fmt"
	"slices"
	"strings"
)

// An absence is why no profile can take a call, as a sentence for the person.
type absence string

func (a absence) Error() string { return string(a) }

// An ambiguity is that several profiles could be meant.
type ambiguity string

func (a ambiguity) Error() string { return string(a) }

// errNone is what a call is answered with while no browser is there (T6).
const errNone = absence("No browser extension connected. Start the browser in which the Portolan extension is installed; if it was never paired with this computer's bridge, run \"portolan bridge pair\" and open the extension's side panel")

// errStopped is what it is answered with while the person has stopped everything.
const errStopped = absence("No browser extension connected: the person stopped everything in it. They can go on in its side panel; leave that to them")

// choose returns the one connected profile that a client means: by label, install
// id or the beginning of that, or the only one there is.
func (b *Bridge) choose(profile string) (*link, error) {
	if profile == "" {
		profile = b.opts.Profile
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var all, fit []*link
	for _, l := range b.links {
		if _, ok := l.listed(); !ok {
			continue // its session is being opened
		}
		all = append(all, l)
		if profile == "" || l.Label == profile || l.InstallID == profile || len(profile) >= 4 && strings.HasPrefix(l.InstallID, profile) {
			fit = append(fit, l)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return nil, ambiguity(fmt.Sprintf("Several browser profiles are connected: %s. Choose one with portolan bridge --profile, or with ?profile= in the URL", names(fit)))
	case len(all) > 0:
		return nil, absence(fmt.Sprintf("The browser profile %q is not connected; connected: %s", profile, names(all)))
	}
	for _, paired := range b.stops {
		if paired() {
			return nil, errStopped
		}
	}
	return nil, errNone
}

// names lists profiles as a person tells them apart.
func names(links []*link) string {
	var out []string
	for _, l := range links {
		out = append(out, fmt.Sprintf("%q (%s)", l.Label, l.InstallID))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// join makes a link the one of its profile. An older connection of the same
// profile is closed: the browser lost it, or restarted.
func (b *Bridge) join(l *link) {
	b.mu.Lock()
	old := b.links[l.InstallID]
	b.links[l.InstallID] = l
	delete(b.stops, l.InstallID)
	b.mu.Unlock()
	if old != nil {
		old.conn.CloseWith(1000, "replaced by a newer connection")
		<-old.gone
	}
}

func (b *Bridge) leave(l *link) {
	b.mu.Lock()
	current := b.links[l.InstallID] == l
	if current {
		delete(b.links, l.InstallID)
		if l.stopped() {
			b.stops[l.InstallID] = l.allowed
		}
	}
	b.mu.Unlock()
	if current {
		b.notify()
	}
}

// approved reports whether a page may use the MCP endpoint: the options or the
// extension of a connected profile say so.
func (b *Bridge) approved(origin string) bool {
	if slices.Contains(b.opts.Origins, origin) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, l := range b.links {
		if slices.Contains(l.pages(), origin) {
			return true
		}
	}
	return false
}
