package bridge_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
)

// watchable returns an extension whose resources can be watched, and what it was asked.
func watchable() (*extension, chan string) {
	e, asked := newExtension("Work"), make(chan string, 200)
	e.serve(&mcp.ServerOptions{
		SubscribeHandler: func(_ context.Context, req *mcp.SubscribeRequest) error {
			asked <- "+" + req.Params.URI
			return nil
		},
		UnsubscribeHandler: func(_ context.Context, req *mcp.UnsubscribeRequest) error {
			asked <- "-" + req.Params.URI
			return nil
		},
	})
	return e, asked
}

// A watcher is a desktop client that notes the updates that it hears of.
type watcher struct {
	*desktop
	heard chan string
}

func newWatcher(t *testing.T, b *bridge.Bridge) *watcher {
	t.Helper()
	w := &watcher{heard: make(chan string, 100)}
	w.desktop = newDesktop(t, overHTTP(t, b, ""), &mcp.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *mcp.ResourceUpdatedNotificationRequest) {
			w.heard <- req.Params.URI
		},
	})
	return w
}

func (w *watcher) watch(t *testing.T, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		if err := w.Subscribe(t.Context(), &mcp.SubscribeParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
}

func next(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case got := <-from:
		return got
	case <-time.After(patience):
		t.Fatal("nothing came")
		return ""
	}
}

func expect(t *testing.T, from <-chan string, want ...string) {
	t.Helper()
	var got []string
	for range want {
		got = append(got, next(t, from))
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

func update(t *testing.T, e *extension, uris ...string) {
	t.Helper()
	for _, uri := range uris {
		if err := e.server.ResourceUpdated(t.Context(), &mcp.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
			t.Fatal(err)
		}
	}
}

// An update reaches the clients that watch the resource, and no others. The extension is
// asked to stop when the last of them has unsubscribed or left.
func TestWatchedResources(t *testing.T) {
	b := start(t, nil)
	e, asked := watchable()
	e.pair(t, b)
	e.connect(t, b)
	one, two := newWatcher(t, b), newWatcher(t, b)
	one.names(t, true)
	one.watch(t, "x:both", "x:one", "x:end")
	two.watch(t, "x:both", "x:end")
	expect(t, asked, "+x:both", "+x:one", "+x:end", "+x:both", "+x:end")

	update(t, e, "x:both", "x:one", "x:none")
	expect(t, one.heard, "x:both", "x:one")
	expect(t, two.heard, "x:both")

	if err := one.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "x:both"}); err != nil {
		t.Fatal(err)
	}
	update(t, e, "x:both", "x:end") // the second is the last that each hears
	expect(t, one.heard, "x:end")
	expect(t, two.heard, "x:both", "x:end")

	one.Close()
	expect(t, asked, "-x:one")
	if err := two.Unsubscribe(t.Context(), &mcp.UnsubscribeParams{URI: "x:both"}); err != nil {
		t.Fatal(err)
	}
	expect(t, asked, "-x:both")
	two.Close()
	expect(t, asked, "-x:end")
}

// A client that watches a resource goes on to, though its second request for the same one fails.
func TestASecondWatchThatFails(t *testing.T) {
	b := start(t, nil)
	e := newExtension("Work")
	var asked atomic.Int32
	e.serve(&mcp.ServerOptions{
		SubscribeHandler: func(context.Context, *mcp.SubscribeRequest) error {
			if asked.Add(1) > 1 {
				return errors.New("not now")
			}
			return nil
		},
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	e.pair(t, b)
	e.connect(t, b)
	w := newWatcher(t, b)
	w.names(t, true)
	w.watch(t, "x:a")
	if err := w.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "x:a"}); err == nil {
		t.Fatal("the second request did not fail")
	}
	update(t, e, "x:a")
	expect(t, w.heard, "x:a")
	if err := w.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "x:b"}); err == nil {
		t.Fatal("the first request for another one did not fail")
	}
	update(t, e, "x:b", "x:a")
	expect(t, w.heard, "x:a")
}

// An extension that connects again is asked for what clients still watch. They read again what may have changed.
func TestWatchedResourcesOfANewConnection(t *testing.T) {
	b := start(t, nil)
	e, asked := watchable()
	e.pair(t, b)
	session := e.connect(t, b)
	one, two := newWatcher(t, b), newWatcher(t, b)
	one.names(t, true)
	one.watch(t, "x:a")
	two.watch(t, "x:a")
	expect(t, asked, "+x:a", "+x:a")
	session.Close()
	one.names(t, false)
	e.connect(t, b)
	expect(t, asked, "+x:a")
	for range 2 { // it may have changed meanwhile; then it changes
		expect(t, one.heard, "x:a")
		expect(t, two.heard, "x:a")
		update(t, e, "x:a")
	}
}

// A server that is not there yet when the extension connects again is asked again.
func TestAWatchIsAskedForUntilItsServerAgrees(t *testing.T) {
	b := start(t, nil)
	e, asked := newExtension("Work"), make(chan string, 10)
	var offline atomic.Bool
	e.serve(&mcp.ServerOptions{
		SubscribeHandler: func(_ context.Context, req *mcp.SubscribeRequest) error {
			asked <- req.Params.URI
			if req.Params.URI == "x:b" && offline.CompareAndSwap(true, false) {
				return errors.New("offline")
			}
			return nil
		},
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	e.pair(t, b)
	session := e.connect(t, b)
	w := newWatcher(t, b)
	w.names(t, true)
	w.watch(t, "x:a", "x:b")
	expect(t, asked, "x:a", "x:b")
	session.Close()
	w.names(t, false)
	offline.Store(true)
	e.connect(t, b)
	expect(t, asked, "x:a", "x:b", "x:b")
	expect(t, w.heard, "x:a", "x:b") // each once: they may have changed meanwhile
}

// A client may watch so many resources, and learns why it may not watch others.
func TestWatchesAreBounded(t *testing.T) {
	b := start(t, nil)
	e, _ := watchable()
	e.pair(t, b)
	e.connect(t, b)
	w := newWatcher(t, b)
	w.names(t, true)
	for i := range 100 {
		w.watch(t, "x:"+string(rune('a'+i)))
	}
	if err := w.Subscribe(t.Context(), &mcp.SubscribeParams{URI: "x:more"}); err == nil {
		t.Error("a client watches 101 resources")
	}
	w.watch(t, "x:a") // again
}
