package registry_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
)

// A library is a harbour that is a registry.Offerer too.
type library struct {
	*harbour
	has    string
	answer func(ctx context.Context, req registry.Request) (string, error)
	follow func(registry.Following) error
	gone   []string // resources whose updates it does not report
	still  bool     // it does not report changes of its tools

	mu       sync.Mutex
	asked    []string
	followed []registry.Following
}

func (l *library) Info() registry.SessionInfo {
	info := l.harbour.Info()
	info.ListChanged = !l.still
	return info
}

func (l *library) Capabilities(context.Context) (registry.Capabilities, error) {
	return registry.Capabilities(l.has), nil
}

func (l *library) Ask(ctx context.Context, req registry.Request) (registry.Payload, error) {
	l.mu.Lock()
	l.asked = append(l.asked, req.Method)
	l.mu.Unlock()
	text, err := l.answer(ctx, req)
	return registry.Raw(text), err
}

func (l *library) Follow(_ context.Context, f registry.Following) ([]string, error) {
	l.mu.Lock()
	l.followed = append(l.followed, f)
	l.mu.Unlock()
	if l.follow != nil {
		return f.URIs, l.follow(f)
	}
	return slices.DeleteFunc(slices.Clone(f.URIs), func(uri string) bool { return slices.Contains(l.gone, uri) }), nil
}

func (l *library) count(method string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.asked {
		if m == method {
			n++
		}
	}
	return n
}

const everything = `{"tools":{},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true},"completions":{}}`

// shelves runs test with a registry of libraries, in a bubble of time.
func shelves(t *testing.T, libraries map[string]*library, limits registry.Limits, test func(*testing.T, *registry.Registry)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := registry.New(&registry.Options{Limits: limits, Connect: func(ctx context.Context, name string, _ registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
			l := libraries[name]
			l.harbour.mu.Lock()
			defer l.harbour.mu.Unlock()
			l.harbour.connects++
			l.harbour.notify = notify
			if l.connect != nil {
				return l, l.connect(ctx)
			}
			return l, nil
		}})
		for name := range libraries {
			if err := r.Add(name, registry.ServerConfig{URL: "https://" + name + ".example/mcp"}); err != nil {
				t.Fatal(err)
			}
		}
		test(t, r)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
}

func keys(offers []registry.Offer) (all []string) {
	for _, o := range offers {
		all = append(all, o.Server+" "+o.Key)
	}
	return all
}

func TestOffersAreKept(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	n := 0
	l.answer = func(context.Context, registry.Request) (string, error) {
		n++
		return fmt.Sprintf(`{"resources":[{"uri":"a:%d","name":"a"}]}`, n), nil
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		list := func() string {
			t.Helper()
			offers, err := r.Resources(t.Context())
			if err != nil || len(offers) != 1 {
				t.Fatalf("%v, %v", offers, err)
			}
			return offers[0].Key
		}
		count := func() *int { h, _ := r.Health("a"); return h.Resources }
		if count() != nil {
			t.Errorf("%d resources before the first list", *count())
		}
		first, second := list(), list()
		if first != "a:1" || second != "a:1" || *count() != 1 {
			t.Error("the list was not kept")
		}
		l.say(registry.Notice{ResourcesChanged: true})
		if count() != nil {
			t.Errorf("%d resources after a change", *count())
		}
		began := time.Now()
		if list() != "a:2" || time.Since(began) > time.Second {
			t.Error("the changed list was not asked for")
		}
		for range 3 {
			l.say(registry.Notice{ResourcesChanged: true})
			list()
		}
		if waited := time.Since(began); waited < 3*time.Second {
			t.Errorf("four lists in %v", waited)
		}
		l.say(registry.Notice{Err: registry.ErrNetwork})
		if list() != "a:6" || l.seen().connects != 2 {
			t.Error("a new session has the old list")
		}
		synctest.Wait()
		if want := []registry.Following{{Resources: true}, {Resources: true}}; !cmp.Equal(want, l.followed) {
			t.Errorf("followed %v", l.followed)
		}
	})
}

func TestAServerThatIsNamedTwiceIsListedOnce(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything, answer: func(_ context.Context, req registry.Request) (string, error) {
		if req.Method == "prompts/list" {
			return "", errors.New("no prompts")
		}
		return `{"resources":[{"uri":"a:1","name":"a"}]}`, nil
	}}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		if all, err := r.Resources(t.Context(), "a", "a"); len(all) != 1 || err != nil {
			t.Error(all, err)
		}
		if _, err := r.Prompts(t.Context(), "a", "a"); err == nil || strings.Count(err.Error(), "no prompts") != 1 {
			t.Error(err)
		}
		if all, err := r.Instructions(t.Context(), "a", "a"); len(all) > 1 || err != nil {
			t.Error(all, err)
		}
	})
}

func TestAnAbandonedListOfOffersIsNotJoined(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	l.answer = func(ctx context.Context, _ registry.Request) (string, error) {
		return `{"resources":[{"uri":"a:1","name":"a"}]}`, ctx.Err()
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		list := func(ctx context.Context) error { _, err := r.Resources(ctx); return err }
		if err := list(t.Context()); err != nil {
			t.Fatal(err)
		}
		l.say(registry.Notice{ResourcesChanged: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond) // the list is asked for after a second
		defer cancel()
		if err := list(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if err := list(t.Context()); err != nil {
			t.Error(err)
		}
		l.say(registry.Notice{ResourcesChanged: true})
		ended := make(chan error, 1)
		go func() { ended <- list(t.Context()) }()
		synctest.Wait()
		began := time.Now()
		_ = r.Close()
		if err := <-ended; err == nil || time.Since(began) > 0 {
			t.Errorf("error %v, %v after Close", err, time.Since(began))
		}
	})
}

func TestServersOfResourcesNeedNotKnowTemplates(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	code := int64(-32601)
	l.answer = func(context.Context, registry.Request) (string, error) {
		return "", &registry.RPCError{Code: code, Message: "no"}
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		if offers, err := r.ResourceTemplates(t.Context()); err != nil || len(offers) != 0 {
			t.Errorf("%v, %v", offers, err)
		}
		if _, err := r.Resources(t.Context()); err == nil {
			t.Error("resources without the method are no fault")
		}
		code = -32603
		l.say(registry.Notice{ResourcesChanged: true})
		if _, err := r.ResourceTemplates(t.Context()); err == nil {
			t.Error("another error is none")
		}
	})
}

func TestOffersHaveBounds(t *testing.T) {
	long := strings.Repeat("x", 9<<10)
	pages := map[string]string{
		"twice":   `{"prompts":[{"name":"p"},{"name":"p"}]}`,
		"odd":     `{"prompts":[7,{},{"name":7},{"name":""},{"name":"p"},{"name":"` + long + `"},{"name":"a\u200bb"}]}`,
		"hidden":  `{"prompts":[{"name":"p","description":"a\u200bb"}]}`,
		"many":    `{"prompts":[{"name":"p"},{"name":"q"},{"name":"r"},{"name":"s"}]}`,
		"cursor":  `{"prompts":[{"name":"p"}],"nextCursor":"again"}`,
		"nothing": `{"prompts":[]}`,
	}
	libraries := map[string]*library{"none": {harbour: new(harbour), has: `{"tools":{}}`}}
	endless := 0
	libraries["endless"] = &library{harbour: new(harbour), has: everything, answer: func(context.Context, registry.Request) (string, error) {
		endless++
		return fmt.Sprintf(`{"prompts":[],"nextCursor":"%d"}`, endless), nil
	}}
	forgetful := 0
	libraries["forgetful"] = &library{harbour: new(harbour), has: everything, answer: func(_ context.Context, req registry.Request) (string, error) {
		forgetful++
		switch {
		case forgetful == 2: // it has forgotten its cursor
			return "", &registry.RPCError{Code: -32602, Message: "no such cursor"}
		case strings.Contains(string(req.Params), "more"):
			return `{"prompts":[{"name":"second"}]}`, nil
		}
		return `{"prompts":[{"name":"first"}],"nextCursor":"more"}`, nil
	}}
	for name, page := range pages {
		libraries[name] = &library{harbour: new(harbour), has: everything, answer: func(context.Context, registry.Request) (string, error) { return page, nil }}
	}
	libraries["wrong"] = &library{harbour: new(harbour), has: everything, answer: func(context.Context, registry.Request) (string, error) { return `{"prompts":7}`, nil }}
	shelves(t, libraries, registry.Limits{ToolsPerServer: 3, Pages: 5}, func(t *testing.T, r *registry.Registry) {
		offers, err := r.Prompts(t.Context())
		want := []string{"cursor p", "forgetful first", "forgetful second", "hidden p", "many p", "many q", "many r", "odd p", "twice p"}
		inPage := runtime.GOOS == "js" // there the page removes hidden text
		if inPage {
			want = slices.Insert(want, 8, "odd a\u200bb")
		}
		if d := cmp.Diff(want, keys(offers)); d != "" {
			t.Error(d)
		}
		if !errors.Is(err, registry.ErrProtocol) || !strings.Contains(err.Error(), "server wrong: list prompts") {
			t.Errorf("error %v", err)
		}
		if endless != 5 || libraries["cursor"].count("prompts/list") != 2 || libraries["none"].count("prompts/list") != 0 {
			t.Errorf("%d endless pages, %v, %v", endless, libraries["cursor"].asked, libraries["none"].asked)
		}
		for server, want := range map[string]int{"odd": 6, "many": 1, "cursor": 1, "endless": 1, "twice": 0, "forgetful": 0} {
			if h, _ := r.Health(server); len(h.Warnings) != want && !(inPage && server == "odd") {
				t.Errorf("%s: warnings %q", server, h.Warnings)
			}
		}
		for _, o := range offers {
			if o.Server == "hidden" && !inPage && (len(o.Flags) != 1 || strings.Contains(string(o.Def), "200b") || o.Name != "hidden__p") {
				t.Errorf("%+v", o)
			}
		}
	})
}

func TestReadResource(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	l.answer = func(ctx context.Context, req registry.Request) (string, error) {
		switch string(req.Params) {
		case `{"uri":"a:old"}`:
			return "", &registry.RPCError{Code: -32002, Message: "no such thing"}
		case `{"uri":"a:none"}`:
			return "", &registry.RPCError{Code: -32602, Message: "no such thing"}
		case `{"uri":"a:slow"}`:
			<-ctx.Done()
			return "", context.Cause(ctx)
		case `{"uri":"a:asks"}`:
			req.OnAsk(true)
			time.Sleep(5 * time.Minute)
			req.OnAsk(false)
			return `{"contents":[]}`, nil
		case `{"uri":"a:down"}`:
			return "", registry.ErrNetwork
		}
		return `{"contents":[{"uri":"a:1","text":"one"}]}`, nil
	}
	none := &library{harbour: new(harbour), has: `{"tools":{}}`}
	shelves(t, map[string]*library{"a": l, "none": none}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		result, err := r.ReadResource(t.Context(), "a", "a:1")
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := result.Payload.JSON(); !strings.Contains(string(text), `"one"`) || result.Origin != "https://a.example" {
			t.Errorf("%s from %s", text, result.Origin)
		}
		if _, err := r.ReadResource(t.Context(), "a", "a:asks"); err != nil {
			t.Errorf("a question of five minutes: %v", err)
		}
		for uri, want := range map[string]error{
			"a:old": registry.ErrUnknownResource, "a:none": registry.ErrUnknownResource, "": registry.ErrInvalidArguments,
			"a:slow": context.DeadlineExceeded,
		} {
			if _, err := r.ReadResource(t.Context(), "a", uri); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", uri, err, want)
			}
		}
		if _, err := r.ReadResource(t.Context(), "none", "a:1"); !errors.Is(err, registry.ErrUnsupported) {
			t.Errorf("without resources: %v", err)
		}
		if h, _ := r.Health("none"); h.ConsecutiveFailures != 0 {
			t.Error("a server without resources has failed")
		}
		for range 3 {
			_, _ = r.ReadResource(t.Context(), "a", "a:down")
		}
		if _, err := r.ReadResource(t.Context(), "a", "a:1"); !errors.Is(err, registry.ErrSuspended) {
			t.Errorf("after three failures: %v", err)
		}
	})
}

func TestRemovalEndsRequests(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	l.answer = func(ctx context.Context, _ registry.Request) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		ended := make(chan error, 1)
		go func() {
			_, err := r.ReadResource(t.Context(), "a", "a:1")
			ended <- err
		}()
		synctest.Wait()
		began := time.Now()
		if err := r.Remove("a"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, registry.ErrServerRemoved) || time.Since(began) > 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestGetPrompt(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	var sent string
	l.answer = func(_ context.Context, req registry.Request) (string, error) {
		if req.Method == "prompts/list" {
			return `{"prompts":[{"name":"greet me","arguments":[{"name":"who","required":true},{"name":"how"}]}]}`, nil
		}
		sent = string(req.Params)
		if strings.Contains(sent, "nobody") {
			return "", &registry.RPCError{Code: -32602, Message: "who is that?"}
		}
		return `{"messages":[]}`, nil
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		offers, err := r.Prompts(t.Context())
		if err != nil || len(offers) != 1 {
			t.Fatal(offers, err)
		}
		name := offers[0].Name
		for args, want := range map[string]error{
			``: registry.ErrInvalidArguments, `{"how":"loud"}`: registry.ErrInvalidArguments, `[]`: registry.ErrInvalidArguments,
			`{"who":7}`: registry.ErrInvalidArguments, `{"who":{"a":{"b":1}}}`: registry.ErrInvalidArguments,
		} {
			if _, err := r.GetPrompt(t.Context(), name, []byte(args)); !errors.Is(err, want) {
				t.Errorf("%s: %v", args, err)
			}
		}
		if sent != "" {
			t.Errorf("sent %s", sent)
		}
		if _, err := r.GetPrompt(t.Context(), name, []byte(`{"who":"nobody"}`)); !errors.Is(err, registry.ErrInvalidArguments) {
			t.Errorf("refused by the server: %v", err)
		}
		result, err := r.GetPrompt(t.Context(), name, []byte(`{"who":"Ada"}`))
		if err != nil || sent != `{"name":"greet me","arguments":{"who":"Ada"}}` || result.Tool != "greet me" {
			t.Errorf("%v, sent %s", err, sent)
		}
		if _, err := r.GetPrompt(t.Context(), "a__none", nil); !errors.Is(err, registry.ErrUnknownPrompt) {
			t.Errorf("unknown: %v", err)
		}
	})
}

func TestSubscribeResource(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		var heard atomic.Int32
		cancel, err := r.SubscribeResource(t.Context(), "a", "a:1", func() { heard.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.SubscribeResource(t.Context(), "a", "a:1", func() { panic("a fault of the listener") })
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			l.say(registry.Notice{Updated: "a:1"})
		}
		l.say(registry.Notice{Updated: "b:1"})
		time.Sleep(100 * time.Millisecond)
		if n := heard.Load(); n != 1 {
			t.Errorf("heard %d at once", n)
		}
		l.say(registry.Notice{Updated: "a:1/part"})
		time.Sleep(500 * time.Millisecond)
		if n := heard.Load(); n != 1 {
			t.Errorf("heard %d within a second", n)
		}
		time.Sleep(time.Second)
		if n := heard.Load(); n != 2 {
			t.Errorf("heard %d", n)
		}
		l.say(registry.Notice{Err: registry.ErrNetwork})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		again()
		again()
		cancel()
		synctest.Wait()
		l.say(registry.Notice{Updated: "a:1"})
		time.Sleep(2 * time.Second)
		if n := heard.Load(); n != 2 {
			t.Errorf("heard %d after the end", n)
		}
		want := []registry.Following{{URIs: []string{"a:1"}}, {URIs: []string{"a:1"}}, {}}
		if d := cmp.Diff(want, l.followed); d != "" {
			t.Error(d)
		}
		l.follow = func(f registry.Following) error {
			if len(f.URIs) > 0 {
				return registry.Because(registry.ErrUnsupported, "no")
			}
			return nil
		}
		if _, err := r.SubscribeResource(t.Context(), "a", "a:2", func() {}); !errors.Is(err, registry.ErrUnsupported) {
			t.Errorf("refused: %v", err)
		}
		l.follow = nil
		if _, err := r.SubscribeResource(t.Context(), "a", "a:3", func() {}); err != nil {
			t.Error(err)
		}
		if last := l.followed[len(l.followed)-1]; !cmp.Equal(last.URIs, []string{"a:3"}) {
			t.Errorf("follows %v", last)
		}
	})
}

func TestASubscriptionEndsWithItsServer(t *testing.T) {
	a, b := &library{harbour: new(harbour), has: everything}, &library{harbour: new(harbour), has: everything}
	shelves(t, map[string]*library{"a": a, "b": b}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		var heard atomic.Int32
		for name, l := range map[string]*library{"a": a, "b": b} {
			if _, err := r.SubscribeResource(t.Context(), name, "u:1", func() { heard.Add(1) }); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second update comes a second later
				l.say(registry.Notice{Updated: "u:1"})
				time.Sleep(time.Millisecond)
			}
		}
		if err := r.Remove("a"); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		time.Sleep(2 * time.Second)
		if n := heard.Load(); n != 2 {
			t.Errorf("heard %d", n)
		}
	})
}

// A resource that is gone leaves the subscriptions to others.
func TestSubscriptionsBesideAResourceThatIsGone(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		subscribe := func(uri string, want error) {
			t.Helper()
			if _, err := r.SubscribeResource(t.Context(), "a", uri, func() {}); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", uri, err, want)
			}
		}
		subscribe("a:1", nil)
		l.gone = []string{"a:1", "a:3"}
		subscribe("a:2", nil)
		subscribe("a:3", registry.ErrUnsupported)
		subscribe("a:2", nil)
		l.gone = nil
		subscribe("a:3", nil)
	})
}

// A stream may have ended with the network. When that is back, the session is asked for the same again.
func TestStreamsComeBackWithTheNetwork(t *testing.T) {
	watched, listed := &library{harbour: new(harbour), has: everything}, &library{harbour: new(harbour)}
	idle := &library{harbour: new(harbour), still: true}
	all := map[string]*library{"a": watched, "b": listed, "c": idle}
	shelves(t, all, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.SubscribeResource(t.Context(), "a", "a:1", func() {}); err != nil {
			t.Fatal(err)
		}
		r.SetOnline(true) // as when the user comes back
		synctest.Wait()
		r.SetOnline(false)
		r.SetOnline(true)
		synctest.Wait()
		want := map[string][]registry.Following{"a": {{URIs: []string{"a:1"}}, {URIs: []string{"a:1"}}}, "b": {{}}, "c": nil}
		for name, l := range all {
			if d := cmp.Diff(want[name], l.followed); d != "" {
				t.Errorf("%s: %s", name, d)
			}
		}
	})
}

// A server that has ended its session does not report anything any more. It is connected to again by itself.
func TestASubscriptionOutlivesItsSession(t *testing.T) {
	a, b := &library{harbour: new(harbour), has: everything}, &library{harbour: new(harbour), has: everything}
	for _, refusals := range []int{0, 2, 5} {
		shelves(t, map[string]*library{"a": a, "b": b}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
			a.followed = nil
			if err := r.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			var heard atomic.Int32
			if _, err := r.SubscribeResource(t.Context(), "a", "a:1", func() { heard.Add(1) }); err != nil {
				t.Fatal(err)
			}
			left := refusals
			a.connect = func(context.Context) error {
				if left--; left >= 0 {
					return registry.ErrNetwork
				}
				return nil
			}
			before := [2]int{a.seen().connects, b.seen().connects}
			for _, l := range []*library{a, b} {
				l.say(registry.Notice{Err: registry.ErrNetwork})
			}
			time.Sleep(time.Minute)
			if heard.Load() != 1 { // there may have been an update between the sessions
				t.Errorf("%d refusals: heard %d of the new session", refusals, heard.Load())
			}
			a.say(registry.Notice{Updated: "a:1"})
			time.Sleep(time.Second)
			if heard.Load() != 2 {
				t.Errorf("%d refusals: heard %d", refusals, heard.Load())
			}
			if n := b.seen().connects - before[1]; n != 0 {
				t.Errorf("%d connections to a server that nobody listens to", n)
			}
			if n := a.seen().connects - before[0]; n > 1+refusals {
				t.Errorf("%d connections after %d refusals", n, refusals)
			}
		})
		a.connect = nil
	}
}

// A server that was switched off, or that has another configuration, reports again, also where nobody has discovered.
func TestASubscriptionOutlivesAChangeOfItsServer(t *testing.T) {
	for name, change := range map[string]func(r *registry.Registry) error{
		"off and on": func(r *registry.Registry) error {
			return errors.Join(r.SetEnabled("a", false), r.SetEnabled("a", true))
		},
		"a header": func(r *registry.Registry) error {
			return r.Update("a", registry.ServerConfig{URL: "https://a.example/mcp", Headers: map[string]string{"Key": "new"}})
		},
		"another name": func(r *registry.Registry) error {
			return errors.Join(r.Remove("b"), r.Rename(context.Background(), "a", "b"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &library{harbour: new(harbour), has: everything}
			shelves(t, map[string]*library{"a": l, "b": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
				var heard atomic.Int32
				if _, err := r.SubscribeResource(t.Context(), "a", "a:1", func() { heard.Add(1) }); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				l.followed = nil
				if err := change(r); err != nil {
					t.Fatal(err)
				}
				time.Sleep(2 * time.Second)
				if n := heard.Load(); n != 1 { // there may have been an update between the sessions
					t.Errorf("heard %d of the new session", n)
				}
				l.say(registry.Notice{Updated: "a:1"})
				time.Sleep(2 * time.Second)
				if n := heard.Load(); n != 2 || len(l.followed) != 1 {
					t.Errorf("heard %d, asked for %v", n, l.followed)
				}
			})
		})
	}
}

// A computer that sleeps during a request wakes after its deadline, perhaps before its network. That is no failure.
func TestARequestThatFailsAfterASleep(t *testing.T) {
	for sleeps, failures := range map[time.Duration]int{0: 1, time.Hour: 0} {
		l := &library{harbour: new(harbour), has: everything}
		l.answer = func(context.Context, registry.Request) (string, error) {
			time.Sleep(sleeps)
			return "", registry.ErrNetwork
		}
		shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
			if _, err := r.ReadResource(t.Context(), "a", "a:1"); err == nil {
				t.Error("no error")
			}
			if got := health(t, r, "a"); got.ConsecutiveFailures != failures || (got.LastError != "") != (failures > 0) {
				t.Errorf("slept %v: health %+v", sleeps, got)
			}
		})
	}
}

// The server is asked for one subscription at a time. Another one ends with its caller meanwhile.
func TestASubscriptionThatWaitsForAnotherOneEndsWithItsCaller(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	begun, agree := make(chan struct{}), make(chan struct{})
	agreed := sync.OnceFunc(func() { close(agree) })
	begin := sync.OnceFunc(func() { close(begun) })
	l.follow = func(registry.Following) error {
		begin()
		<-agree
		return nil
	}
	r := registry.New(&registry.Options{Connect: func(context.Context, string, registry.ServerConfig, registry.Notify) (registry.Session, error) {
		return l, nil
	}})
	defer r.Close()
	if err := r.Add("a", registry.ServerConfig{URL: "https://a.example/mcp"}); err != nil {
		t.Fatal(err)
	}
	first := make(chan error, 1)
	go func() {
		_, err := r.SubscribeResource(t.Context(), "a", "a:1", func() {})
		first <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	release := time.AfterFunc(20*time.Second, agreed) // so that the test ends in any case
	defer release.Stop()
	if _, err := r.SubscribeResource(ctx, "a", "a:2", func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that has gone got %v", err)
	}
	agreed()
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// A subscriber that joins while the server is asked learns of its refusal too.
func TestSubscribersOfOneResourceShareARefusal(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	begun, refuse := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(begun) })
	l.follow = func(f registry.Following) error {
		begin()
		<-refuse
		if len(f.URIs) > 0 {
			return registry.Because(registry.ErrUnsupported, "no")
		}
		return nil
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		errs := make(chan error, 2)
		subscribe := func() {
			_, err := r.SubscribeResource(t.Context(), "a", "a:1", func() {})
			errs <- err
		}
		go subscribe()
		<-begun
		go subscribe()
		for range 1000 {
			runtime.Gosched() // no wait: the second one waits for a lock
		}
		close(refuse)
		for range 2 {
			if err := <-errs; !errors.Is(err, registry.ErrUnsupported) {
				t.Errorf("subscribed: %v", err)
			}
		}
	})
}

// A list that arrives after its session has ended is asked for again.
func TestOffersOfAnEndedSession(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	l.answer = func(context.Context, registry.Request) (string, error) {
		if l.count("resources/list") == 1 {
			l.say(registry.Notice{Err: registry.ErrSessionExpired})
		}
		return `{"resources":[{"uri":"a:1","name":"a"}]}`, nil
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		if offers, err := r.Resources(t.Context()); err != nil || len(offers) != 1 {
			t.Errorf("%v, %v", offers, err)
		}
	})
}

// A review of prompts holds the registry's lock, for which all servers wait. So it reads no definition.
func TestReviewsOfPromptsReadNoDefinition(t *testing.T) {
	var page strings.Builder
	for i := range 50 {
		fmt.Fprintf(&page, `,{"name":"p%d","arguments":[0%s]}`, i, strings.Repeat(",0", 10_000))
	}
	l := &library{harbour: new(harbour), has: everything, answer: func(context.Context, registry.Request) (string, error) {
		return `{"prompts":[` + page.String()[1:] + `]}`, nil
	}}
	shelves(t, map[string]*library{"s": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		offers, err := r.Prompts(t.Context())
		if err != nil || len(offers) != 50 {
			t.Fatalf("%d prompts, %v", len(offers), err)
		}
		cfg, _ := r.Config("s")
		allocs := testing.AllocsPerRun(3, func() {
			if err := r.Update("s", cfg); err != nil {
				t.Error(err)
			}
		})
		if allocs > 10_000 {
			t.Errorf("%v allocations", allocs)
		}
	})
}

// An answer that has arrived is given, even if the caller leaves at that moment: else its payload would be held for ever.
func TestAnAnswerOfTheLastMomentIsGiven(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	ctx, cancel := context.WithCancel(t.Context())
	l.answer = func(context.Context, registry.Request) (string, error) {
		cancel()
		return `{"contents":[]}`, nil
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		if result, err := r.ReadResource(ctx, "a", "a:1"); err != nil || result.Payload == nil {
			t.Errorf("%v, %v", result, err)
		}
	})
}

// A caller that leaves says nothing of the server's health, also if it leaves because its own time is over.
func TestACallersDeadlineIsNoFailure(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	l.answer = func(ctx context.Context, _ registry.Request) (string, error) {
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		read := func(limit time.Duration) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			if _, err := r.ReadResource(ctx, "a", "a:1"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
		}
		for range 3 {
			read(time.Second)
		}
		if h, _ := r.Health("a"); h.Suspended || h.ConsecutiveFailures != 0 {
			t.Errorf("health %+v", h)
		}
		read(time.Hour) // the registry's own deadline comes first
		if h, _ := r.Health("a"); h.ConsecutiveFailures != 1 {
			t.Errorf("health %+v", h)
		}
	})
}

// A server that is silent after some pages has offered what they have.
func TestOffersOfAServerThatFallsSilent(t *testing.T) {
	l := &library{harbour: new(harbour), has: everything}
	l.answer = func(ctx context.Context, req registry.Request) (string, error) {
		if string(req.Params) == "{}" {
			return `{"resources":[{"uri":"a:1","name":"a"}],"nextCursor":"2"}`, nil
		}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		offers, err := r.Resources(t.Context())
		if d := cmp.Diff([]string{"a a:1"}, keys(offers)); err != nil || d != "" {
			t.Errorf("%v, %s", err, d)
		}
		if h, _ := r.Health("a"); len(h.Warnings) != 1 || !strings.Contains(h.Warnings[0], "page 1") {
			t.Errorf("warnings %q", h.Warnings)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		l.say(registry.Notice{ResourcesChanged: true})
		if _, err := r.Resources(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a caller that left: %v", err)
		}
	})
}

// A keeper is a harbour that keeps tasks.
type keeper struct {
	*harbour
	follow func(context.Context) (*registry.ToolOutput, error)
}

func (k *keeper) FollowTask(ctx context.Context, _ string, _ registry.ToolCall) (*registry.ToolOutput, error) {
	return k.follow(ctx)
}

func (k *keeper) CancelTask(context.Context, string) error { return nil }

// A task outlives sessions: the wait for it goes on, however many end after a while.
func TestWaitTaskOutlivesSessions(t *testing.T) {
	for _, row := range []struct {
		lasts time.Duration
		want  error
	}{{time.Hour, nil}, {time.Second, registry.ErrSessionExpired}} {
		synctest.Test(t, func(t *testing.T) {
			k, left := &keeper{harbour: new(harbour)}, 3
			k.follow = func(context.Context) (*registry.ToolOutput, error) {
				time.Sleep(row.lasts)
				if left--; left >= 0 {
					return nil, registry.ErrSessionExpired
				}
				return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
			}
			r := registry.New(&registry.Options{Connect: func(context.Context, string, registry.ServerConfig, registry.Notify) (registry.Session, error) {
				return k, nil
			}})
			if err := r.Add("a", registry.ServerConfig{URL: "https://a.example/mcp"}); err != nil {
				t.Fatal(err)
			}
			if _, err := r.WaitTask(t.Context(), "a", "slow", "1", nil); !errors.Is(err, row.want) {
				t.Errorf("sessions of %v: %v, want %v", row.lasts, err, row.want)
			}
			_ = r.Close()
		})
	}
}

// A server answers that it does not know a task, which is no fault, as after a restart of it.
func TestForgottenTasksAreNoFault(t *testing.T) {
	k := &keeper{harbour: new(harbour), follow: func(context.Context) (*registry.ToolOutput, error) {
		return nil, registry.Because(registry.ErrGone, "no such task")
	}}
	r := registry.New(&registry.Options{Connect: func(context.Context, string, registry.ServerConfig, registry.Notify) (registry.Session, error) {
		return k, nil
	}})
	if err := r.Add("a", registry.ServerConfig{URL: "https://a.example/mcp"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := r.WaitTask(t.Context(), "a", "slow", "1", nil); !errors.Is(err, registry.ErrGone) {
			t.Errorf("%v, want ErrGone", err)
		}
	}
	if h, _ := r.Health("a"); h.Suspended || h.ConsecutiveFailures > 0 {
		t.Errorf("after three tasks that are gone: %+v", h)
	}
	_ = r.Close()
}
