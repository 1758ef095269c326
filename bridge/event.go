package bridge

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

// eventLogger is the logger's name of browser events (K9). An event reaches clients
// that set a logging level, as notifications/message.
const eventLogger = "portolan/event"

// eventTimeout limits how long the clients may take to receive one event.
const eventTimeout = 5 * time.Second

// forwardEvents sends queued events to clients until the connection or ctx ends.
func (l *link) forwardEvents(ctx context.Context) {
	for {
		select {
		case data := <-l.events:
			l.event(ctx, data)
		case <-l.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// sendEvent sends an event of a profile to the clients of this profile.
func (b *Bridge) sendEvent(ctx context.Context, from *link, data json.RawMessage) {
	ctx, cancel := context.WithTimeout(ctx, eventTimeout)
	defer cancel()
	for _, r := range b.relays() {
		if l, err := b.choose(r.profile); err != nil || l != from {
			continue
		}
		for session := range r.server.Sessions() {
			_ = session.Log(ctx, &mcp.LoggingMessageParams{Logger: eventLogger, Level: "info", Data: data})
		}
	}
}
