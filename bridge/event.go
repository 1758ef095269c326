package bridge

import (
	"context"
	"maps"
	"slices"
	"time"

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
		case params := <-l.events:
			l.bridge.sendEvent(ctx, l, params)
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
	select {
	case l.waiting <- struct{}{}:
	default:
	}
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

// queueEvent keeps an event for the clients, unless too many wait.
func (l *link) queueEvent(params *mcp.LoggingMessageParams) {
	select {
	case l.events <- params:
	default:
	}
}

// sendEvent sends an event, or a log message of a server, to the clients of its profile. They are chosen before the
// first of them is waited for: a page that is approved meanwhile gets no earlier event.
func (b *Bridge) sendEvent(ctx context.Context, from *link, params *mcp.LoggingMessageParams) {
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	var sessions []*mcp.ServerSession
	for _, r := range b.relays() {
		for session := range r.server.Sessions() {
			if l, err := b.choose(r.profile, b.instances.page(session.ID())); err == nil && l == from {
				sessions = append(sessions, session)
			}
		}
	}
	for _, session := range sessions {
		_ = session.Log(ctx, params)
	}
}
