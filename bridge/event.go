package bridge

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

// eventLogger is the logger's name of browser events. An event reaches clients
// that set a logging level, as notifications/message.
const eventLogger = "portolan/event"

// eventTimeout limits how long the clients may take to receive one event.
const eventTimeout = 5 * time.Second

// forwardEvents sends queued events and updates to clients until the connection or ctx ends.
func (l *link) forwardEvents(ctx context.Context) {
	for {
		select {
		case e := <-l.events:
			l.bridge.sendEvent(ctx, l, e)
		case <-l.waiting:
			for _, uri := range l.takeUpdates() {
				l.bridge.updated(l, uri)
			}
		case <-l.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// queueUpdate keeps the URI of a resource that has changed. Several changes become one, and
// a resource that nobody watches is left out.
func (l *link) queueUpdate(uri string) {
	if len(l.bridge.watching(l, uri)) == 0 {
		return
	}
	l.mu.Lock()
	l.updates[uri] = true
	l.mu.Unlock()
	offer(l.waiting, struct{}{})
}

func (l *link) takeUpdates() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	uris := slices.Sorted(maps.Keys(l.updates))
	clear(l.updates)
	return uris
}

// offersChanged tells the clients of a profile that resources and prompts may have changed.
func (b *Bridge) offersChanged(from *link) {
	for _, r := range b.relays() {
		if l, err := b.choose(r.profile, ""); err == nil && l == from {
			rawmsg.OffersChanged(r.server)
		}
	}
}

// An event is a log message for clients that wait for no answer.
type event struct {
	*mcp.LoggingMessageParams
	denied []string // clients that do not get it
}

// sendEvent sends an event, or a log message of a server, to the clients of its profile. They are chosen before the
// first of them is waited for: a page that is approved meanwhile gets no earlier event.
func (b *Bridge) sendEvent(ctx context.Context, from *link, e event) {
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	var sessions []*mcp.ServerSession
	for _, r := range b.relays() {
		for session := range r.server.Sessions() {
			l, err := b.choose(r.profile, b.instances.page(session.ID()))
			if err == nil && l == from && !r.isAmong(e.denied, session) {
				sessions = append(sessions, session)
			}
		}
	}
	for _, session := range sessions {
		_ = session.Log(ctx, e.LoggingMessageParams)
	}
}

// isAmong reports whether a client is one of those that an extension names: each by its name and instance, a line each.
// Before its first request a client has no instance, and counts as any of its name.
func (r *relay) isAmong(clients []string, session *mcp.ServerSession) bool {
	name := ""
	if init := session.InitializeParams(); init != nil && init.ClientInfo != nil {
		name = init.ClientInfo.Name
	}
	instance := r.bridge.instances.known(cmp.Or(r.id, session.ID()))
	return slices.ContainsFunc(clients, func(client string) bool {
		given, number, _ := strings.Cut(client, "\n")
		return (given == name || !isKept(name)) && (number == instance || !isKept(instance))
	})
}

// isKept reports whether an extension keeps a client's claim as it is: extension/calls/clients.ts. It removes hidden
// characters and cuts long texts. A client with such a claim counts as any, so that no name evades a rule.
func isKept(claim string) bool {
	isHidden := func(r rune) bool { return !unicode.IsPrint(r) }
	return claim != "" && len(claim) <= 80 && strings.TrimSpace(claim) == claim && !strings.ContainsFunc(claim, isHidden)
}
