package registry_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
)

// A harbour is a server at the session seam whose behaviour a test sets.
type harbour struct {
	mu     sync.Mutex
	counts // guarded by mu, as notify is
	notify registry.Notify

	starts   way
	starting func() // runs in StartTool

	connect func(ctx context.Context) error
	list    func(ctx context.Context, cursor *string) (*registry.ToolPage, error)
	call    func(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error)
	opened  func()
}

// The counts are how often each thing was done with a harbour.
type counts struct{ connects, lists, calls, closes, released int }

func (h *harbour) seen() counts {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.counts
}

// say is what the newest session of a harbour says unasked.
func (h *harbour) say(n registry.Notice) {
	h.mu.Lock()
	notify := h.notify
	h.mu.Unlock()
	notify(n)
}

func (h *harbour) Info() registry.SessionInfo {
	if h.opened != nil {
		h.opened()
	}
	return registry.SessionInfo{Transport: "streamable-http", ProtocolVersion: "2025-11-25", ListChanged: true}
}

func (h *harbour) ListTools(ctx context.Context, cursor *string) (*registry.ToolPage, error) {
	h.mu.Lock()
	h.lists++
	h.mu.Unlock()
	if h.list != nil {
		return h.list(ctx, cursor)
	}
	return h.page("echo"), nil
}

func (h *harbour) page(names ...string) *registry.ToolPage {
	p := &registry.ToolPage{Release: func() { h.mu.Lock(); h.released++; h.mu.Unlock() }}
	for _, n := range names {
		p.Tools = append(p.Tools, registry.ToolDef{Name: n, Def: registry.Raw(`{"name":"` + n + `","inputSchema":{"type":"object"}}`)})
	}
	return p
}

func (h *harbour) CallTool(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
	h.mu.Lock()
	h.calls++
	h.mu.Unlock()
	if h.call != nil {
		return h.call(ctx, call)
	}
	return &registry.ToolOutput{Result: registry.Raw(`{"content":[{"type":"text","text":"ok"}]}`)}, nil
}

// A way is how a session takes calls.
type way string

const (
	blocks       way = "blocks"         // until they are answered
	startsInline way = "starts, inline" // and answers before StartTool returns
	startsLater  way = "starts, later"
)

// A starter is a harbour that is a registry.Starter too.
type starter struct{ *harbour }

func (s starter) StartTool(call registry.ToolCall, done func(*registry.ToolOutput, error)) (stop func(error), inline bool) {
	ctx, cancel := context.WithCancelCause(context.Background())
	if s.starts == startsInline {
		done(s.CallTool(ctx, call))
		inline = true
	} else {
		go func() { done(s.CallTool(ctx, call)) }()
	}
	if s.starting != nil {
		s.starting()
	}
	return cancel, inline
}

// eachWay runs a test with sessions that take calls in each of the ways.
func eachWay(t *testing.T, test func(t *testing.T, w way), ways ...way) {
	for _, w := range ways {
		t.Run(string(w), func(t *testing.T) { test(t, w) })
	}
}

func (h *harbour) Close(context.Context) error {
	h.mu.Lock()
	h.closes++
	h.mu.Unlock()
	return nil
}

// chart returns a registry over harbours by server name, with those servers added.
func chart(t *testing.T, opts registry.Options, harbours map[string]*harbour) *registry.Registry {
	t.Helper()
	opts.Connect = func(ctx context.Context, name string, _ registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
		h := harbours[name]
		h.mu.Lock()
		h.connects++
		h.notify = notify
		h.mu.Unlock()
		if h.connect != nil {
			if err := h.connect(ctx); err != nil {
				return nil, err
			}
		}
		if h.starts == startsInline || h.starts == startsLater {
			return starter{h}, nil
		}
		return h, nil
	}
	r := registry.New(&opts)
	t.Cleanup(func() { _ = r.Close() })
	for name := range harbours {
		if err := r.Add(name, registry.ServerConfig{URL: "https://" + name + ".example/mcp"}); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

func names(r *registry.Registry) []string {
	var out []string
	for _, t := range r.Tools(registry.Filter{}) {
		out = append(out, t.Name)
	}
	return out
}

func health(t *testing.T, r *registry.Registry, name string) registry.ServerHealth {
	t.Helper()
	h, ok := r.Health(name)
	if !ok {
		t.Fatalf("no server %q", name)
	}
	return h
}

func TestDiscoverOneBadServerHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		r := chart(t, registry.Options{Timeout: time.Second}, map[string]*harbour{
			"good": {}, "silent": {connect: silent},
			"broken": {connect: func(context.Context) error { return &registry.StatusError{Code: 500} }},
		})
		if got, _ := r.Status(); got != registry.StatusIdle {
			t.Errorf("status before discover: %s", got)
		}
		began := time.Now()
		err := r.Discover(t.Context())
		if took := time.Since(began); took != time.Second {
			t.Errorf("took %v, want the one silent server's 1s", took)
		}
		var failed []string
		for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
			var s *registry.ServerError
			if errors.As(e, &s) {
				failed = append(failed, s.Server)
			}
		}
		slices.Sort(failed)
		if diff := cmp.Diff([]string{"broken", "silent"}, failed); diff != "" {
			t.Errorf("failed servers (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"good__echo"}, names(r)); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		if got, _ := r.Status(); got != registry.StatusPartial {
			t.Errorf("status: %s", got)
		}
	})
}

func TestDiscoverSharesOneConnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{connect: func(context.Context) error { time.Sleep(time.Second); return nil }}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if err := r.Discover(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if h.seen().connects != 1 || h.seen().lists != 1 {
			t.Errorf("%d connects and %d lists, want 1 and 1", h.seen().connects, h.seen().lists)
		}
	})
}

func TestAServerIsConnectedOnceItsToolsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		h.list = func(context.Context, *string) (*registry.ToolPage, error) {
			time.Sleep(time.Second)
			return h.page("echo"), nil
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		r.Subscribe(func(registry.Event) {
			if s := health(t, r, "a"); s.Status == registry.ServerConnected && s.ToolCount == 0 {
				t.Error("connected, without its tools")
			}
		})
		if err := r.Discover(t.Context()); err != nil {
			t.Error(err)
		}
		if s := health(t, r, "a"); s.Status != registry.ServerConnected || s.ToolCount != 1 {
			t.Errorf("%s with %d tools", s.Status, s.ToolCount)
		}
	})
}

func TestDiscoverAbandonedByAllEndsTheWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		h := &harbour{connect: func(ctx context.Context) error { <-ctx.Done(); close(ended); return ctx.Err() }}
		r := chart(t, registry.Options{Timeout: time.Hour}, map[string]*harbour{"a": h})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Discover(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		<-ended
		if got := health(t, r, "a"); got.ConsecutiveFailures != 0 {
			t.Errorf("the caller's leaving counted as a failure: %+v", got)
		}
	})
}

func TestAnAbandonedAttemptIsNotJoined(t *testing.T) {
	// hangs returns a connect that hangs at its nth time, until a while after it was cancelled.
	hangs := func(nth int) func(context.Context) error {
		n := 0
		return func(ctx context.Context) error {
			if n++; n != nth {
				return nil
			}
			<-ctx.Done()
			time.Sleep(time.Second)
			return ctx.Err()
		}
	}
	t.Run("Discover", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := &harbour{connect: hangs(1)}
			r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := r.Discover(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			synctest.Wait()
			if err := r.Discover(t.Context()); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Second)
			if got := health(t, r, "a"); got.Status != registry.ServerConnected || h.seen().connects != 2 {
				t.Errorf("%+v after %+v", got, h.seen())
			}
		})
	})
	t.Run("call", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := &harbour{connect: hangs(2)}
			r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
			if err := r.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.say(registry.Notice{Err: registry.ErrNetwork})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := r.Dispatch(ctx, registry.Call{Name: "a__echo"}); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			synctest.Wait()
			if _, err := r.Dispatch(t.Context(), registry.Call{Name: "a__echo"}); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Second)
			if got := h.seen(); got.connects != 3 || got.closes != 1 {
				t.Errorf("%+v", got)
			}
		})
	})
}

func TestListBudgets(t *testing.T) {
	next := func(s string) *string { return &s }
	for _, tt := range []struct {
		name    string
		limits  registry.Limits
		page    func(h *harbour, i int) *registry.ToolPage
		tools   int
		lists   int
		warning string
	}{
		{"two pages, empty cursor", registry.Limits{}, func(h *harbour, i int) *registry.ToolPage {
			p := h.page("t" + strconv.Itoa(i))
			if i == 0 {
				p.NextCursor = next("")
			}
			return p
		}, 2, 2, ""},
		{"repeated cursor", registry.Limits{}, func(h *harbour, i int) *registry.ToolPage {
			p := h.page("t" + strconv.Itoa(i))
			p.NextCursor = next("again")
			return p
		}, 2, 2, "repeats"},
		{"endless pages", registry.Limits{Pages: 5}, func(h *harbour, i int) *registry.ToolPage {
			p := h.page("t" + strconv.Itoa(i))
			p.NextCursor = next(strconv.Itoa(i))
			return p
		}, 5, 5, "5 pages"},
		{"too many tools", registry.Limits{ToolsPerServer: 3}, func(h *harbour, i int) *registry.ToolPage {
			p := h.page("a"+strconv.Itoa(i), "b"+strconv.Itoa(i))
			p.NextCursor = next(strconv.Itoa(i))
			return p
		}, 3, 2, "3 tools"},
		{"same name twice", registry.Limits{}, func(h *harbour, i int) *registry.ToolPage {
			return h.page("x", "y", "x")
		}, 2, 1, "twice"},
		{"too many bytes", registry.Limits{ListBytes: 100}, func(h *harbour, i int) *registry.ToolPage {
			p := h.page("t" + strconv.Itoa(i))
			p.Bytes, p.NextCursor = 60, next(strconv.Itoa(i))
			return p
		}, 2, 2, "100 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &harbour{}
			i := -1
			h.list = func(context.Context, *string) (*registry.ToolPage, error) { i++; return tt.page(h, i), nil }
			r := chart(t, registry.Options{Limits: tt.limits}, map[string]*harbour{"s": h})
			if err := r.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := health(t, r, "s")
			if got.ToolCount != tt.tools || h.seen().lists != tt.lists {
				t.Errorf("%d tools in %d pages, want %d in %d", got.ToolCount, h.seen().lists, tt.tools, tt.lists)
			}
			if warned := strings.Join(got.Warnings, "\n"); !strings.Contains(warned, tt.warning) || (tt.warning == "") != (warned == "") {
				t.Errorf("warnings %q, want %q", warned, tt.warning)
			}
		})
	}
}

func TestListKeepsWhatArrivedBeforeAFailure(t *testing.T) {
	h := &harbour{}
	more := "more"
	h.list = func(_ context.Context, cursor *string) (*registry.ToolPage, error) {
		if cursor != nil {
			return nil, &registry.StatusError{Code: 500}
		}
		p := h.page("first")
		p.NextCursor = &more
		return p, nil
	}
	r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := health(t, r, "s"); got.ToolCount != 1 || len(got.Warnings) != 1 {
		t.Errorf("health %+v", got)
	}
}

func TestSuspendedServerLeavesTheListAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		var down atomic.Bool
		h.list = func(context.Context, *string) (*registry.ToolPage, error) {
			if down.Load() {
				return nil, registry.Because(registry.ErrNetwork, "refused")
			}
			return h.page("echo"), nil
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		down.Store(true)
		for range 3 {
			if err := r.Discover(t.Context()); err == nil {
				t.Fatal("no error")
			}
		}
		got := health(t, r, "s")
		if !got.Suspended || got.Status != registry.ServerFailed || got.ErrorCode != "network" || got.RetryAt.IsZero() {
			t.Errorf("health %+v", got)
		}
		if len(names(r)) != 0 {
			t.Errorf("models still see %v", names(r))
		}
		for _, arguments := range []string{`{}`, `[]`} { // no arguments would do
			call := registry.Call{Name: "s__echo", Arguments: []byte(arguments)}
			if _, err := r.Dispatch(t.Context(), call); !errors.Is(err, registry.ErrSuspended) {
				t.Errorf("dispatch: %v", err)
			}
		}
		if err := r.Discover(t.Context()); !errors.Is(err, registry.ErrSuspended) {
			t.Errorf("discover: %v", err)
		}
		down.Store(false)
		time.Sleep(time.Until(got.RetryAt) + time.Millisecond)
		synctest.Wait()
		if got := health(t, r, "s"); got.Suspended || got.Status != registry.ServerConnected {
			t.Errorf("after the cooldown: %+v", got)
		}
		if diff := cmp.Diff([]string{"s__echo"}, names(r)); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	})
}

func TestALateOutcomeDoesNotChangeASuspension(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, lists := 0, 0
		h := &harbour{}
		h.call = func(ctx context.Context, _ registry.ToolCall) (*registry.ToolOutput, error) {
			switch calls++; calls {
			case 1: // succeeds during the suspension
				time.Sleep(time.Second)
				return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
			case 2: // is cancelled during the probe
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, registry.ErrNetwork
		}
		h.list = func(context.Context, *string) (*registry.ToolPage, error) {
			if lists++; lists > 1 {
				time.Sleep(2 * time.Second)
			}
			return h.page("echo"), nil
		}
		r := chart(t, registry.Options{Cooldown: 5 * time.Second}, map[string]*harbour{"a": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		for range 2 {
			go func() { _, _ = r.Dispatch(ctx, registry.Call{Name: "a__echo"}) }()
			synctest.Wait()
		}
		for range 3 {
			_, _ = r.Dispatch(t.Context(), registry.Call{Name: "a__echo"})
		}
		time.Sleep(2 * time.Second)
		if got := health(t, r, "a"); !got.Suspended || got.Status != registry.ServerFailed || got.ErrorCode != "network" {
			t.Errorf("after a late success: %+v", got)
		}
		time.Sleep(4 * time.Second)
		cancel() // the probe is under way
		time.Sleep(2 * time.Second)
		if got := health(t, r, "a"); got.Suspended || got.Status != registry.ServerConnected {
			t.Errorf("after the probe: %+v", got)
		}
	})
}

func TestOfflineFailuresDoNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{connect: func(context.Context) error { return registry.ErrNetwork }}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		r.SetOnline(false)
		for range 5 {
			_ = r.Discover(t.Context())
		}
		if got := health(t, r, "s"); got.Suspended || got.LastError == "" {
			t.Errorf("health %+v", got)
		}
	})
}

func TestServersThatFailedOfflineAreTriedOnceTheNetworkIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isUp := false
		refuses := &harbour{connect: func(context.Context) error { return &registry.StatusError{Code: 403} }}
		r := chart(t, registry.Options{}, map[string]*harbour{"refuses": refuses, "s": {connect: func(context.Context) error {
			if isUp {
				return nil
			}
			return registry.ErrNetwork
		}}})
		r.SetOnline(false)
		_ = r.Discover(t.Context())
		isUp = true
		r.SetOnline(true)
		r.SetOnline(true) // as when the user comes back
		time.Sleep(2 * time.Second)
		if got := names(r); !slices.Equal(got, []string{"s__echo"}) || refuses.seen().connects != 1 {
			t.Errorf("%v, after %d attempts on the server that refuses", got, refuses.seen().connects)
		}
	})
}

func TestDispatchSendsAgainOnlyWhatDidNotRun(t *testing.T) {
	eachWay(t, dispatchSendsAgainOnlyWhatDidNotRun, blocks, startsInline, startsLater)
}

func dispatchSendsAgainOnlyWhatDidNotRun(t *testing.T, w way) {
	for _, tt := range []struct {
		name            string
		err             error
		times           int // that a call fails with err, from the first on
		calls, connects int
		ok              bool
	}{
		{"expired session", registry.Because(registry.ErrSessionExpired, "404"), 1, 2, 2, true},
		{"session that expires again", registry.Because(registry.ErrSessionExpired, "404"), 9, 2, 2, false},
		{"network", registry.Because(registry.ErrNetwork, "reset"), 1, 1, 1, false},
		{"500", &registry.StatusError{Code: 500}, 1, 1, 1, false},
		{"protocol", registry.ErrProtocol, 1, 1, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &harbour{starts: w}
				h.call = func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
					if h.seen().calls <= tt.times {
						return nil, tt.err
					}
					return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
				}
				r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
				if err := r.Discover(t.Context()); err != nil {
					t.Fatal(err)
				}
				_, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"})
				if (err == nil) != tt.ok || h.seen().calls != tt.calls || h.seen().connects != tt.connects {
					t.Errorf("err %v, %d calls, %d connects; want ok %v, %d, %d", err, h.seen().calls, h.seen().connects, tt.ok, tt.calls, tt.connects)
				}
			})
		})
	}
}

func TestAQuestionStopsTheClock(t *testing.T) {
	eachWay(t, aQuestionStopsTheClock, blocks, startsLater)
}

func aQuestionStopsTheClock(t *testing.T, w way) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{starts: w}
		h.call = func(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
			time.Sleep(8 * time.Second)
			call.OnAsk(true)
			call.OnAsk(true) // a second question at the same time
			time.Sleep(time.Hour)
			call.OnAsk(false)
			time.Sleep(time.Hour)
			call.OnAsk(false)
			select {
			case <-time.After(time.Duration(call.ID) * time.Second):
				return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
		r := chart(t, registry.Options{IdleTimeout: 10 * time.Second, CallTimeout: time.Minute}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Dispatch(t.Context(), registry.Call{ID: 9, Name: "s__echo"}); err != nil {
			t.Errorf("the server takes 9 s after the answer: %v", err)
		}
		if _, err := r.Dispatch(t.Context(), registry.Call{ID: 11, Name: "s__echo"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the server takes 11 s after the answer: %v, want a timeout", err)
		}
	})
}

func TestDispatchDeadlines(t *testing.T) {
	eachWay(t, dispatchDeadlines, blocks, startsLater)
}

func dispatchDeadlines(t *testing.T, w way) {
	wait := func(ctx context.Context) (*registry.ToolOutput, error) { <-ctx.Done(); return nil, ctx.Err() }
	for _, tt := range []struct {
		name     string
		progress time.Duration // between reports; 0: none
		timeout  time.Duration
		want     time.Duration
	}{
		{"idle", 0, 0, 30 * time.Second},
		{"progress keeps it alive until the total", 20 * time.Second, 0, 120 * time.Second},
		{"the call's own", 0, 2 * time.Second, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &harbour{starts: w, call: func(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
					for tt.progress > 0 && ctx.Err() == nil {
						select {
						case <-time.After(tt.progress):
							call.OnProgress(registry.Progress{Progress: 1})
						case <-ctx.Done():
						}
					}
					return wait(ctx)
				}}
				r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
				_ = r.Discover(t.Context())
				began := time.Now()
				_, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo", Timeout: tt.timeout})
				if !errors.Is(err, context.DeadlineExceeded) || !strings.HasSuffix(err.Error(), ": no answer in time") || time.Since(began) != tt.want {
					t.Errorf("%v after %v, want a deadline after %v", err, time.Since(began), tt.want)
				}
			})
		})
	}
}

// TestDeadlineWhileASessionStartsACall has a session that takes longer to start
// the call than the call may take; the goroutine it leaves must end all the same.
func TestDeadlineWhileASessionStartsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{starts: startsLater, starting: func() { time.Sleep(2 * time.Second) }}
		h.call = func(ctx context.Context, _ registry.ToolCall) (*registry.ToolOutput, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		_ = r.Discover(t.Context())
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo", Timeout: time.Second}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

// TestRetiredSessionClosesAfterItsLastCall gives a session up while a call is under way.
func TestRetiredSessionClosesAfterItsLastCall(t *testing.T) {
	eachWay(t, retiredSessionClosesAfterItsLastCall, blocks, startsLater)
}

func retiredSessionClosesAfterItsLastCall(t *testing.T, w way) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		h := &harbour{starts: w, call: func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
			<-answer
			return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
		}}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		_ = r.Discover(t.Context())
		ended := make(chan error)
		go func() {
			_, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"})
			ended <- err
		}()
		synctest.Wait()
		h.say(registry.Notice{Err: registry.ErrNetwork})
		synctest.Wait()
		if h.seen().closes != 0 {
			t.Error("closed under a call")
		}
		close(answer)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if h.seen().closes != 1 {
			t.Errorf("closed %d times after the call", h.seen().closes)
		}
	})
}

func TestCallerAbortIsNotTheServersFault(t *testing.T) {
	eachWay(t, callerAbortIsNotTheServersFault, blocks, startsLater)
}

func callerAbortIsNotTheServersFault(t *testing.T, w way) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{starts: w, call: func(ctx context.Context, _ registry.ToolCall) (*registry.ToolOutput, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		r := chart(t, registry.Options{FailureThreshold: 1}, map[string]*harbour{"s": h})
		_ = r.Discover(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := r.Dispatch(ctx, registry.Call{Name: "s__echo"})
		if !errors.Is(err, context.Canceled) || registry.Explain(err).Code != "aborted" {
			t.Errorf("error %v", err)
		}
		if got := health(t, r, "s"); got.Suspended || got.Status != registry.ServerConnected {
			t.Errorf("health %+v", got)
		}
	})
}

func TestCallsEndWithTheirServer(t *testing.T) {
	eachWay(t, callsEndWithTheirServer, blocks, startsLater)
}

func callsEndWithTheirServer(t *testing.T, w way) {
	for _, row := range []struct {
		code   string
		change func(r *registry.Registry) error
	}{
		{"server_removed", func(r *registry.Registry) error { return r.Remove("s") }},
		{"disabled", func(r *registry.Registry) error { return r.SetEnabled("s", false) }},
		{"disabled", func(r *registry.Registry) error {
			return r.Update("s", registry.ServerConfig{URL: "https://s.example/mcp", Disabled: true})
		}},
		{"server_removed", func(r *registry.Registry) error {
			return r.Update("s", registry.ServerConfig{URL: "https://elsewhere.example/mcp"})
		}},
		{"closed", func(r *registry.Registry) error { return r.Close() }},
	} {
		for _, connecting := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				waits := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
				h := &harbour{starts: w, call: func(ctx context.Context, _ registry.ToolCall) (*registry.ToolOutput, error) {
					return nil, waits(ctx)
				}}
				r := chart(t, registry.Options{FailureThreshold: 1}, map[string]*harbour{"s": h})
				_ = r.Discover(t.Context())
				if connecting {
					h.say(registry.Notice{Err: registry.ErrProtocol})
					h.connect = waits
				}
				ended := make(chan error, 1)
				go func() {
					_, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"})
					ended <- err
				}()
				synctest.Wait()
				began := time.Now()
				if err := row.change(r); err != nil {
					t.Fatal(err)
				}
				err := <-ended
				if x := registry.Explain(err); x.Code != row.code || x.Hint == "" || time.Since(began) > 0 {
					t.Errorf("%s: code %s after %v: %v", row.code, x.Code, time.Since(began), err)
				}
				if got, ok := r.Health("s"); ok && (got.Suspended || got.ConsecutiveFailures > 0) {
					t.Errorf("%s: health %+v", row.code, got)
				}
			})
		}
	}
}

func TestListChangedRefreshesAtMostOncePerSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		_ = r.Discover(t.Context())
		for range 500 {
			h.say(registry.Notice{ToolsChanged: true})
			time.Sleep(10 * time.Millisecond)
		}
		synctest.Wait()
		if h.seen().lists < 5 || h.seen().lists > 7 {
			t.Errorf("%d lists in 5 s of changes", h.seen().lists)
		}
		if h.seen().released != h.seen().lists-1 {
			t.Errorf("%d of %d replaced pages were released", h.seen().released, h.seen().lists-1)
		}
		_ = r.Close()
	})
}

func TestSessionThatDiedIsReplacedByTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		_ = r.Discover(t.Context())
		h.say(registry.Notice{Err: registry.ErrProtocol})
		if got := health(t, r, "s"); got.Status != registry.ServerDisconnected || got.ToolCount != 1 {
			t.Errorf("health %+v", got)
		}
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"}); err != nil {
			t.Error(err)
		}
		if h.seen().connects != 2 {
			t.Errorf("%d connects", h.seen().connects)
		}
	})
}

func TestSessionThatDiesWhileItListsIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		h.list = func(context.Context, *string) (*registry.ToolPage, error) {
			h.say(registry.Notice{Err: registry.ErrProtocol})
			return h.page("echo"), nil
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); !errors.Is(err, registry.ErrNetwork) {
			t.Errorf("error %v", err)
		}
		if got := health(t, r, "s"); got.ConsecutiveFailures != 1 || got.Status != registry.ServerFailed || h.seen().released != 1 {
			t.Errorf("health %+v, %d pages released", got, h.seen().released)
		}
		_ = r.Close()
	})
}

// A session that the server forgets while it lists is no failure: a call that finds out opens another one, which lists.
func TestSessionThatExpiresWhileItLists(t *testing.T) {
	for name, expires := range map[string]func(context.Context, *harbour, *registry.Registry){
		"found by a call": func(ctx context.Context, _ *harbour, r *registry.Registry) {
			_, _ = r.Dispatch(ctx, registry.Call{Name: "s__echo"})
		},
		"found by the stream": func(_ context.Context, h *harbour, _ *registry.Registry) {
			h.say(registry.Notice{Err: registry.ErrSessionExpired})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := &harbour{}
			r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
			if err := r.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.list = func(context.Context, *string) (*registry.ToolPage, error) {
				time.Sleep(time.Second)
				return h.page("echo"), nil
			}
			listed := make(chan error, 1)
			go func() { listed <- r.Discover(t.Context()) }()
			synctest.Wait()
			h.call = func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
				h.call = nil
				return nil, registry.ErrSessionExpired
			}
			expires(t.Context(), h, r)
			if err := <-listed; err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got := health(t, r, "s"); got.ConsecutiveFailures != 0 || got.Status != registry.ServerConnected || h.seen().connects != 2 {
				t.Errorf("%s: %d connects, health %+v", name, h.seen().connects, got)
			}
			_ = r.Close()
		})
	}
}

// A computer that sleeps during a list wakes after the deadline, perhaps before its network. That is no failure, and the
// list is read again.
func TestAListThatFailsAfterASleep(t *testing.T) {
	for _, fault := range []error{context.DeadlineExceeded, registry.ErrNetwork} {
		for _, sleeps := range []time.Duration{0, time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				var slept atomic.Int64
				h := &harbour{}
				h.list = func(context.Context, *string) (*registry.ToolPage, error) {
					if slept.Swap(int64(sleeps)) == 0 && h.seen().lists == 1 {
						return nil, fault
					}
					return h.page("echo"), nil
				}
				clock := func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
				r := chart(t, registry.Options{Clock: clock}, map[string]*harbour{"s": h})
				if err := r.Discover(t.Context()); !errors.Is(err, fault) {
					t.Errorf("error %v", err)
				}
				time.Sleep(2 * time.Second)
				got := health(t, r, "s")
				if wakes := sleeps > 0; (got.ConsecutiveFailures == 0) != wakes || (got.Status == registry.ServerConnected) != wakes {
					t.Errorf("%v, slept %v: health %+v", fault, sleeps, got)
				}
			})
		}
	}
}

func TestServerSwitchedOffDuringItsProbeComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		var slow, well atomic.Bool
		h.list = func(ctx context.Context, _ *string) (*registry.ToolPage, error) {
			switch {
			case well.Load():
				return h.page("echo"), nil
			case slow.Load():
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return nil, registry.ErrNetwork
		}
		r := chart(t, registry.Options{FailureThreshold: 1}, map[string]*harbour{"s": h})
		_ = r.Discover(t.Context())
		slow.Store(true)
		time.Sleep(time.Until(health(t, r, "s").RetryAt) + 2*time.Second) // the probe is under way
		cfg, _ := r.Config("s")
		well.Store(true) // before the switch: it lists in the background at once
		for _, off := range []bool{true, false} {
			cfg.Disabled = off
			if err := r.Update("s", cfg); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Discover(t.Context()); err != nil {
			t.Errorf("discover after the switch: %v", err)
		}
		_ = r.Close()
	})
}

func TestRemoveDuringDiscover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{connect: func(ctx context.Context) error { time.Sleep(time.Second); return nil }}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		time.AfterFunc(time.Second/2, func() {
			if err := r.Remove("s"); err != nil {
				t.Error(err)
			}
		})
		_ = r.Discover(t.Context())
		if snap := r.Snapshot(); len(snap.Servers) != 0 || len(snap.Tools) != 0 {
			t.Errorf("snapshot %+v", snap)
		}
		_ = r.Close()
		if h.seen().closes != 1 {
			t.Errorf("the session that came too late was closed %d times", h.seen().closes)
		}
	})
}

// A tool may come later whose name an override has given to another one. It is left out, and the warnings say why.
func TestANameThatAnOverrideHasTaken(t *testing.T) {
	h := &harbour{}
	r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
	cfg := registry.ServerConfig{URL: "https://s.example/mcp", Overrides: []byte(`{"echo":{"name":"find"}}`)}
	if err := r.Update("s", cfg); err != nil {
		t.Fatal(err)
	}
	for _, tools := range [][]string{{"echo"}, {"echo", "find"}, {"echo"}} {
		h.list = func(context.Context, *string) (*registry.ToolPage, error) { return h.page(tools...), nil }
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat(`tool "find" left out: another tool has the name s__find`, len(tools)-1)
		if got := strings.Join(health(t, r, "s").Warnings, "; "); got != want || !slices.Equal(names(r), []string{"s__find"}) {
			t.Errorf("%v: %v, warnings %q, want %q", tools, names(r), got, want)
		}
	}
	cfg.Overrides = []byte(`{"echo":{"name":"other"}}`)
	if err := r.Update("s", cfg); err != nil {
		t.Fatal(err)
	}
	if got := health(t, r, "s").Warnings; len(got) != 0 {
		t.Errorf("warnings %q", got)
	}
}

func TestFilterAndSwitches(t *testing.T) {
	h := &harbour{}
	h.list = func(context.Context, *string) (*registry.ToolPage, error) { return h.page("a", "b", "c"), nil }
	r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
	_ = r.Discover(t.Context())
	cfg, _ := r.Config("s")
	cfg.DenyTools = []string{"b"}
	if err := r.Update("s", cfg); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"s__a", "s__c"}, names(r)); diff != "" {
		t.Errorf("with deny (-want +got):\n%s", diff)
	}
	var all []string
	for _, tool := range r.Tools(registry.Filter{Withheld: true}) {
		all = append(all, tool.RawName+map[bool]string{true: " withheld"}[tool.Withheld])
	}
	if diff := cmp.Diff([]string{"a", "b withheld", "c"}, all); diff != "" {
		t.Errorf("with those withheld (-want +got):\n%s", diff)
	}
	if h.seen().connects != 1 {
		t.Errorf("a filter reconnected: %d connects", h.seen().connects)
	}
	if got := health(t, r, "s"); got.ToolCount != 2 || got.ToolTotal != 3 {
		t.Errorf("health %+v", got)
	}
	if err := r.SetEnabled("s", false); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__a"}); !errors.Is(err, registry.ErrDisabled) {
		t.Errorf("dispatch on a disabled server: %v", err)
	}
	if _, err := r.Dispatch(t.Context(), registry.Call{Name: "nope"}); !errors.Is(err, registry.ErrUnknownTool) {
		t.Errorf("dispatch of an unknown tool: %v", err)
	}
	_ = r.Close()
	if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__a"}); !errors.Is(err, registry.ErrClosed) {
		t.Errorf("dispatch after close: %v", err)
	}
}

func TestSnapshotIsStableAndEventsAreOrdered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		if one, two := r.Snapshot(), r.Snapshot(); one != two {
			t.Error("two snapshots of one state")
		}
		var versions []uint64
		cancel := r.Subscribe(func(registry.Event) {
			snap := r.Snapshot() // a subscriber may use the registry
			versions = append(versions, snap.Version)
		})
		_ = r.Discover(t.Context())
		synctest.Wait()
		if len(versions) == 0 || !slices.IsSorted(versions) {
			t.Errorf("versions %v", versions)
		}
		cancel()
		before := len(versions)
		_ = r.SetEnabled("s", false)
		if len(versions) != before {
			t.Error("told after cancel")
		}
		_ = r.Close()
	})
}

func TestPanicsOfSessionsAreErrors(t *testing.T) {
	eachWay(t, panicsOfSessionsAreErrors, blocks, startsInline)
}

func panicsOfSessionsAreErrors(t *testing.T, w way) {
	h := &harbour{starts: w, call: func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) { panic("surprise") }}
	r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
	_ = r.Discover(t.Context())
	if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"}); !errors.Is(err, registry.ErrProtocol) {
		t.Errorf("error %v", err)
	}
}

func TestAddRefusesWhatCannotWork(t *testing.T) {
	r := chart(t, registry.Options{}, nil)
	for _, tt := range []struct {
		name string
		cfg  registry.ServerConfig
	}{
		{"", registry.ServerConfig{URL: "https://a.example"}},
		{"a\nb", registry.ServerConfig{URL: "https://a.example"}},
		{strings.Repeat("x", 65), registry.ServerConfig{URL: "https://a.example"}},
		{"ftp", registry.ServerConfig{URL: "ftp://a.example"}},
		{"none", registry.ServerConfig{}},
		{"user", registry.ServerConfig{URL: "https://me:pw@a.example/"}},
		{"header", registry.ServerConfig{URL: "https://a.example", Headers: map[string]string{"X\n": "y"}}},
		{"value", registry.ServerConfig{URL: "https://a.example", Headers: map[string]string{"X": "a\r\nb"}}},
		{"agent", registry.ServerConfig{URL: "https://a.example", Headers: map[string]string{"User-Agent": "x"}}},
		{"transport", registry.ServerConfig{URL: "https://a.example", Transport: "carrier pigeon"}},
	} {
		if err := r.Add(tt.name, tt.cfg); !errors.Is(err, registry.ErrInvalidConfig) {
			t.Errorf("Add(%q, %+v): %v", tt.name, tt.cfg, err)
		}
	}
}

// signedIn is a SignIns of people who are signed in everywhere.
type signedIn struct{ registry.SignIns }

func (signedIn) SignOut(context.Context, string, registry.ServerConfig) error   { return nil }
func (signedIn) SignInState(string, registry.ServerConfig) (state, host string) { return "", "" }

func TestSigningOutForgetsPrivateLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared, private := &harbour{}, &harbour{}
		private.list = func(context.Context, *string) (*registry.ToolPage, error) {
			page := private.page("echo")
			page.Private = true
			return page, nil
		}
		r := chart(t, registry.Options{SignIns: signedIn{}}, map[string]*harbour{"private": private, "shared": shared})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"private", "shared"} {
			if err := r.SignOut(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{"shared__echo"}, names(r)); diff != "" {
			t.Errorf("tools after signing out (-want +got):\n%s", diff)
		}
		if n := private.seen().released; n != 1 {
			t.Errorf("%d pages of the private list were released, want 1", n)
		}
	})
}

// A probe that signing out ends gives its place to a later one.
func TestSigningOutDuringAProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		h.connect = func(ctx context.Context) error {
			switch h.seen().connects {
			case 1:
				return registry.ErrNetwork
			case 2:
				<-ctx.Done()
			}
			return ctx.Err()
		}
		r := chart(t, registry.Options{SignIns: signedIn{}, FailureThreshold: 1, Cooldown: time.Second}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); !errors.Is(err, registry.ErrNetwork) {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond) // the probe is under way
		if err := r.SignOut(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(10 * time.Minute)
		if err := r.Discover(t.Context()); err != nil {
			t.Errorf("discover after signing out: %v", err)
		}
	})
}

// leaving is a SignIns whose signing out takes a second.
type leaving struct {
	signedIn
	left chan error
}

func (l leaving) SignOut(ctx context.Context, _ string, _ registry.ServerConfig) error {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
	}
	l.left <- ctx.Err()
	return ctx.Err()
}

func TestClosingWaitsForTheSignOutOfARemovedServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := make(chan error, 1)
		r := chart(t, registry.Options{SignIns: leaving{left: left}}, map[string]*harbour{"s": {}})
		if err := r.Remove("s"); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		if err := <-left; err != nil {
			t.Errorf("the sign-out ended early: %v", err)
		}
	})
}

func TestAForgottenCursorRestartsTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forgets := 1
		h := &harbour{}
		h.list = func(_ context.Context, cursor *string) (*registry.ToolPage, error) {
			switch {
			case cursor == nil:
				page, next := h.page("one"), "2"
				page.NextCursor, page.TTL = &next, time.Hour
				return page, nil
			case forgets > 0:
				forgets--
				return nil, &registry.RPCError{Code: -32602, Message: "unknown cursor"}
			}
			page := h.page("two")
			page.TTL = time.Minute
			return page, nil
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"s__one", "s__two"}, names(r)); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
		if got := h.seen(); got.lists != 4 || got.released != 1 {
			t.Errorf("%d requests and %d pages released, want 4 and 1", got.lists, got.released)
		}
		// The least time of all pages counts.
		time.Sleep(2 * time.Minute)
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__one"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if got := h.seen(); got.lists != 6 {
			t.Errorf("%d requests for lists after the time of the second page, want 6", got.lists)
		}
		forgets = 2
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"s__one"}, names(r)); diff != "" {
			t.Errorf("tools of a server that forgets every cursor (-want +got):\n%s", diff)
		}
	})
}

func TestDiscoverSaysThatTheServerWasChanged(t *testing.T) {
	for _, during := range []string{"connect", "list"} {
		t.Run(during, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &harbour{}
				wait := func(ctx context.Context) error {
					select {
					case <-time.After(time.Second):
						return nil
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				if during == "connect" {
					h.connect = wait
				} else {
					h.list = func(ctx context.Context, _ *string) (*registry.ToolPage, error) { return h.page("echo"), wait(ctx) }
				}
				r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
				time.AfterFunc(time.Second/2, func() {
					if err := r.Remove("s"); err != nil {
						t.Error(err)
					}
				})
				if err := r.Discover(t.Context()); !errors.Is(err, registry.ErrServerRemoved) {
					t.Errorf("%v", err)
				}
				_ = r.Close()
			})
		})
	}
}

// A list that is under way when somebody tries again is read on the new session, however often that happens, which is no
// failure. A list that begins then answers what was to be listed in the background.
func TestRetryDuringAList(t *testing.T) {
	for retries := range 4 {
		synctest.Test(t, func(t *testing.T) {
			h := &harbour{}
			h.list = func(context.Context, *string) (*registry.ToolPage, error) {
				time.Sleep(time.Second)
				return h.page("echo"), nil
			}
			r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
			first := make(chan error, 1)
			go func() { first <- r.Discover(t.Context()) }()
			time.Sleep(time.Second / 2)
			for range retries {
				if err := r.Retry("s"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			if retries == 0 {
				time.Sleep(time.Second)
				if err := r.Retry("s"); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Discover(t.Context()); err != nil {
				t.Errorf("after %d retries: %v", retries, err)
			}
			if err := <-first; err != nil {
				t.Errorf("the first: %v", err)
			}
			if got := health(t, r, "s"); got.Status != registry.ServerConnected || got.LastError != "" {
				t.Errorf("health %+v", got)
			}
			time.Sleep(time.Minute)
			if got := h.seen(); retries == 0 && got.lists != 2 || got.connects != max(retries, 1)+1 {
				t.Errorf("%d retries: %+v", retries, got)
			}
			_ = r.Close()
		})
	}
}

// A session may end before the registry has it, as one of HTTP+SSE does with its stream.
func TestASessionThatEndsWhileItOpens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		h.connect = func(context.Context) error {
			if h.seen().connects == 1 {
				h.say(registry.Notice{Err: registry.ErrNetwork})
			}
			return nil
		}
		h.list = func(context.Context, *string) (*registry.ToolPage, error) {
			if h.seen().connects == 1 {
				return nil, registry.ErrNetwork
			}
			return h.page("echo"), nil
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if got := h.seen(); got.connects != 2 || got.closes != 1 {
			t.Errorf("%+v", got)
		}
		_ = r.Close()
	})
}

// A session may end between the moment at which it opens and its first use.
func TestASessionThatEndsBeforeItsFirstUse(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			h := &harbour{}
			h.opened = func() {
				if h.seen().connects < 3 {
					go h.say(registry.Notice{Err: registry.ErrSessionExpired})
					for range 10 {
						runtime.Gosched() // the notice waits for the registry's lock, which this function's caller holds
					}
				}
			}
			gone := func() error {
				if got := h.seen(); got.closes == got.connects {
					return errors.New("session is closed")
				}
				return nil
			}
			h.list = func(context.Context, *string) (*registry.ToolPage, error) { return h.page("echo"), gone() }
			h.call = func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
				return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, gone()
			}
			r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
			if err := r.Discover(t.Context()); err != nil {
				t.Fatal("list:", err)
			}
			synctest.Wait()
			h.mu.Lock()
			h.connects, h.closes = 0, -1 // the session that is open closes, too
			h.mu.Unlock()
			h.say(registry.Notice{Err: registry.ErrSessionExpired})
			if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"}); err != nil {
				t.Fatal("call:", err)
			}
			_ = r.Close()
		})
	}
}

// A person who tries again wants another session: the old one may be what is wrong.
func TestRetryOpensAnotherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.call = func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
			if h.seen().connects == 1 {
				return nil, &registry.StatusError{Code: 400} // which says nothing of health
			}
			return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
		}
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"}); err == nil {
			t.Error("the first session works")
		}
		if err := r.Retry("s"); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if got := h.seen(); got.connects != 2 || got.closes != 1 {
			t.Errorf("%d sessions, %d closed", got.connects, got.closes)
		}
		_ = r.Close()
	})
}
