package bridge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A notConnectedError says why no profile can take a call. Its text is for the person.
type notConnectedError string

func (e notConnectedError) Error() string { return string(e) }

// An ambiguousError says that a client's choice fits several connected profiles.
type ambiguousError string

func (e ambiguousError) Error() string { return string(e) }

// errNotConnected answers a call while no browser is connected.
const errNotConnected = notConnectedError("No browser extension connected. " +
	"Start the browser in which the Portolan extension is installed; " +
	"if it was never paired with this computer's bridge, run \"portolan bridge pair\" and open the extension's side panel")

// errStopped answers a call while the person has stopped everything in the extension.
const errStopped = notConnectedError("No browser extension connected: the person stopped everything in it. " +
	"They can go on in its side panel; leave that to them")

// choose returns the connected profile that a client names. The name is a label, an
// install id, or the first four or more characters of one. Without a name, the only
// connected profile is meant. page is the origin of a client that is a page: for it there
// are only the profiles in which the person approved it.
func (b *Bridge) choose(profile, page string) (*link, error) {
	profile = cmp.Or(profile, b.opts.Profile)
	b.mu.Lock()
	defer b.mu.Unlock()
	var all, fit []*link
	for _, l := range b.links {
		if l.over() {
			b.moved = time.Now() // it is about to be removed
			continue
		}
		if _, ok := l.listed(); !ok {
			continue // its list of tools has not arrived
		}
		if !b.admits(l, page) {
			continue
		}
		all = append(all, l)
		if l.fits(profile) {
			fit = append(fit, l)
		}
	}
	switch {
	case len(fit) == 1:
		return fit[0], nil
	case len(fit) > 1:
		return nil, ambiguousError("Several browser profiles are connected: " + profileNames(fit) +
			". Choose one with --profile, or with ?profile= in the URL")
	}
	for _, l := range b.stops {
		if l.fits(profile) && l.allowed() {
			return nil, errStopped
		}
	}
	if len(all) > 0 {
		return nil, notConnectedError(
			fmt.Sprintf("The browser profile %q is not connected; connected: %s", profile, profileNames(all)))
	}
	return nil, errNotConnected
}

// fits reports whether a client's choice means the link's profile.
func (l *link) fits(profile string) bool {
	return profile == "" || l.name() == profile || l.InstallID == profile ||
		len(profile) >= 4 && strings.HasPrefix(l.InstallID, profile)
}

// profileNames lists profiles as a person tells them apart.
func profileNames(links []*link) string {
	var out []string
	for _, l := range links {
		out = append(out, fmt.Sprintf("%q (%s)", l.name(), l.InstallID))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// addLink makes a link the current one of its profile. It closes an older connection
// of the same profile: the browser lost that one, or restarted.
func (b *Bridge) addLink(l *link) {
	b.mu.Lock()
	old := b.links[l.InstallID]
	b.links[l.InstallID] = l
	b.moved = time.Now() // requests wait for its list
	delete(b.stops, l.InstallID)
	b.mu.Unlock()
	if old != nil {
		old.conn.CloseWith(1000, "replaced by a newer connection")
		<-old.gone
	}
}

// removeLink removes a link that has ended, unless a newer one replaced it.
func (b *Bridge) removeLink(l *link) {
	b.mu.Lock()
	current := b.links[l.InstallID] == l
	if current {
		delete(b.links, l.InstallID)
		b.moved = time.Now()
		if l.stopped() {
			b.stops[l.InstallID] = l
		}
	}
	b.mu.Unlock()
	if current {
		b.notify()
	}
}

// pagesChanged follows the pages that a profile approves. It ends the requests of pages that the profile, or no
// profile, approves any more. Those of pages whose browser has only lost its connection go on.
func (b *Bridge) pagesChanged(before, now []string) {
	if !slices.Equal(before, now) {
		b.notify() // the lists of pages have changed, too
	} else if before != nil {
		return
	}
	for _, origin := range b.pages.names() {
		removed := slices.Contains(before, origin) && !slices.Contains(now, origin)
		if !b.approved(origin) || removed && !slices.Contains(b.opts.Origins, origin) {
			b.pages.end(origin)
		}
	}
}

// admits reports whether a page may use a profile. "" is a client that is no page.
func (b *Bridge) admits(l *link, page string) bool {
	return page == "" || slices.Contains(b.opts.Origins, page) || slices.Contains(l.approvedPages(), page)
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
		if slices.Contains(l.approvedPages(), origin) {
			return true
		}
	}
	return false
}
