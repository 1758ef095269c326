package bridge

import (
	"context"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

// An event is something that happened in the browser by itself (K9): clients that
// set a logging level hear of it as notifications/message with the logger's name.
const eventLogger = "portolan/event"

// eventTimeout is how long a client may take to be told of one.
const eventTimeout = 5 * time.Second

// happened queues an event, or drops it where clients are slower than the browser.
func (l *link) happened(data json.RawMessage) {
	select {
	case l.events <- data:
	default:
	}
}

// tellEvents hands events on until the connection or ctx ends.
func (l *link) tellEvents(ctx context.Context) {
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

// tell tells an event of a profile to the clients that mean this profile.
func (b *Bridge) tell(ctx context.Context, from *link, data json.RawMessage) {
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
