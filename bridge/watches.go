package bridge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds on the resources that clients watch.
const (
	maxWatches    = 100     // of one client
	maxWatchedURI = 8 << 10 // bytes
	// watchTimeout limits a request about a watched resource that no client waits for.
	watchTimeout = 30 * time.Second
	// Pauses between requests for a resource whose server does not agree. They double.
	firstWatchPause, longestWatchPause = time.Second, 5 * time.Minute
)

const (
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
)

// A watcher is a client that has subscribed to resources. The server of its relay sends
// their updates to that client only.
type watcher struct {
	relay *relay
	uris  map[string]bool
}

// subscribe asks the extension for updates of a resource, and remembers that the client
// watches it. The extension takes a second request for the same resource.
func (r *relay) subscribe(ctx context.Context, req *mcp.SubscribeRequest) error {
	first, err := r.bridge.watch(r, req.Session, req.Params.URI)
	if err != nil {
		return err
	}
	if _, err = r.askQuietly(ctx, methodSubscribe, req); err != nil && first {
		r.bridge.forget(req.Session, req.Params.URI)
	}
	return err
}

// askQuietly passes on a request about a watched resource. It has no progress.
func (r *relay) askQuietly(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
	s := r.senderOf(req)
	return r.ask(ctx, s, method, req, s.caller(req))
}

// unsubscribe ends the subscription of one client.
func (r *relay) unsubscribe(ctx context.Context, req *mcp.UnsubscribeRequest) error {
	if r.bridge.forget(req.Session, req.Params.URI) {
		r.unwatch(ctx, req)
	}
	return nil
}

// unwatch tells the extension that a client has left, unless another one watches the
// resource. It asks again if another one came meanwhile.
func (r *relay) unwatch(ctx context.Context, req *mcp.UnsubscribeRequest) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), watchTimeout)
	defer cancel()
	l, err := r.bridge.choose(r.profile, "")
	if err != nil || len(r.bridge.watching(l, req.Params.URI)) > 0 {
		return
	}
	_, _ = r.askQuietly(ctx, methodUnsubscribe, req)
	r.bridge.watchAgain(ctx, l, req.Params.URI, map[string]bool{})
}

// watch remembers that a client watches a resource, until forget or the end of its session. It reports whether that
// is new.
func (b *Bridge) watch(r *relay, session *mcp.ServerSession, uri string) (first bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.watchers[session]
	if w == nil {
		w = &watcher{r, make(map[string]bool)}
		b.watchers[session] = w
		go b.forgetSession(session)
	}
	if len(uri) > maxWatchedURI || len(w.uris) >= maxWatches && !w.uris[uri] {
		return false, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(
			"a client may watch %d resources, whose URIs have at most %d bytes", maxWatches, maxWatchedURI)}
	}
	first = !w.uris[uri]
	w.uris[uri] = true
	return first, nil
}

// forget reports whether the client has watched the resource.
func (b *Bridge) forget(session *mcp.ServerSession, uri string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := b.watchers[session]
	if w == nil || !w.uris[uri] {
		return false
	}
	delete(w.uris, uri)
	return true
}

// forgetSession waits for the end of a client's session, and ends its subscriptions.
func (b *Bridge) forgetSession(session *mcp.ServerSession) {
	_ = session.Wait()
	b.mu.Lock()
	w := b.watchers[session]
	delete(b.watchers, session)
	b.mu.Unlock()
	for uri := range w.uris {
		w.relay.unwatch(context.Background(), &mcp.UnsubscribeRequest{
			Session: session, Params: &mcp.UnsubscribeParams{URI: uri},
		})
	}
}

// watching returns the clients of a browser that watch a resource, or any if uri is "".
func (b *Bridge) watching(l *link, uri string) map[*mcp.ServerSession]*relay {
	relays := make(map[*mcp.ServerSession]*relay)
	b.mu.Lock()
	for session, w := range b.watchers {
		if w.uris[uri] || uri == "" {
			relays[session] = w.relay
		}
	}
	b.mu.Unlock()
	maps.DeleteFunc(relays, func(_ *mcp.ServerSession, r *relay) bool {
		chosen, err := b.choose(r.profile, "")
		return err != nil || chosen != l
	})
	return relays
}

// watchAll subscribes to what the clients of a browser watch. A server that does not agree is asked again until
// the connection ends: it may be offline yet.
func (b *Bridge) watchAll(ctx context.Context, l *link) {
	agreed := make(map[string]bool)
	for pause := firstWatchPause; b.watchAgain(ctx, l, "", agreed); pause = min(2*pause, longestWatchPause) {
		select {
		case <-time.After(pause):
		case <-l.gone:
			return
		case <-ctx.Done():
			return
		}
	}
}

// watchAgain subscribes to what the clients of a browser watch, or to one resource of it, except those in agreed. It
// adds to these, and reports whether one failed. What clients watch may have changed while there was no connection.
func (b *Bridge) watchAgain(ctx context.Context, l *link, only string, agreed map[string]bool) (failed bool) {
	asked := maps.Clone(agreed)
	for session, r := range b.watching(l, only) {
		b.mu.Lock()
		var uris []string
		if w := b.watchers[session]; w != nil {
			uris = slices.Collect(maps.Keys(w.uris))
		}
		b.mu.Unlock()
		for _, uri := range uris {
			if asked[uri] || only != "" && uri != only {
				continue
			}
			asked[uri] = true
			one, cancel := context.WithTimeout(ctx, watchTimeout)
			_, err := r.askQuietly(one, methodSubscribe, &mcp.SubscribeRequest{
				Session: session, Params: &mcp.SubscribeParams{URI: uri},
			})
			cancel()
			if err != nil {
				failed = true
				b.opts.Logger.Warn("a resource is not watched now", "profile", l.name(), "error", err)
				continue
			}
			agreed[uri] = true
			if only == "" {
				b.updated(l, uri)
			}
		}
	}
	return failed
}

// catchUp tells the one client of a relay what it may have missed: that lists and watched resources may have changed.
func (r *relay) catchUp() {
	r.notify()
	r.bridge.mu.Lock()
	var uris []string
	for _, w := range r.bridge.watchers {
		if w.relay == r {
			uris = slices.Collect(maps.Keys(w.uris))
		}
	}
	r.bridge.mu.Unlock()
	for _, uri := range uris {
		_ = r.server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
	}
}

// updated tells the clients of a browser that watch a resource that it has changed.
func (b *Bridge) updated(l *link, uri string) {
	notified := make(map[*relay]bool)
	for _, r := range b.watching(l, uri) {
		if notified[r] {
			continue
		}
		notified[r] = true
		_ = r.server.ResourceUpdated(context.Background(), &mcp.ResourceUpdatedNotificationParams{URI: uri})
	}
}
