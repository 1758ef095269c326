package registry_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// A pier is a harbour whose calls take a second, or as long as their arguments say.
type pier struct {
	harbour
	mu      sync.Mutex
	order   []string
	now     int
	highest int
}

func newPier() *pier {
	p := &pier{}
	p.call = func(ctx context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
		p.mu.Lock()
		p.order = append(p.order, string(call.Arguments))
		p.now++
		p.highest = max(p.highest, p.now)
		p.mu.Unlock()
		defer func() { p.mu.Lock(); p.now--; p.mu.Unlock() }()
		select {
		case <-time.After(time.Second):
			return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return p
}

// sent returns the arguments of the calls that arrived, and how many there were at once.
func (p *pier) sent() (order []string, highest int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.order), p.highest
}

// load starts n calls of a server, one after the other, and returns what they end with.
func load(r *registry.Registry, server string, n int, change func(int, *registry.Call)) (pending []*registry.Pending, wait func() []error) {
	errs := make([]error, n)
	var all sync.WaitGroup
	all.Add(n)
	for i := range n {
		call := registry.Call{Name: server + "__echo", Arguments: []byte(`{"n":` + strconv.Itoa(i) + `}`), Timeout: 1500 * time.Millisecond}
		if change != nil {
			change(i, &call)
		}
		pending = append(pending, r.Start(call, func(_ *registry.Result, err error) { errs[i] = err; all.Done() }))
	}
	return pending, func() []error { all.Wait(); return errs }
}

func TestCallsWaitForTheirTurn(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		synctest.Test(t, func(t *testing.T) {
			p := newPier()
			p.starts = w
			r := chart(t, registry.Options{Limits: registry.Limits{CallsPerServer: 3}}, map[string]*harbour{"a": &p.harbour})
			if err := r.Discover(t.Context()); err != nil {
				t.Fatal(err)
			}
			var mu sync.Mutex
			queued := map[int][]bool{}
			began := time.Now()
			_, wait := load(r, "a", 10, func(i int, call *registry.Call) {
				call.OnQueue = func(waits bool) { mu.Lock(); queued[i] = append(queued[i], waits); mu.Unlock() }
			})
			for _, err := range wait() {
				if err != nil {
					t.Error(err) // their time begins when they are sent
				}
			}
			order, highest := p.sent()
			if took := time.Since(began); took != 4*time.Second || highest != 3 {
				t.Errorf("10 calls took %v, with %d at once", took, highest)
			}
			for i := 0; i < len(order); i += 3 { // those of one second may change places
				slices.Sort(order[i:min(i+3, len(order))])
			}
			if !slices.IsSorted(order) || len(order) != 10 {
				t.Errorf("order %v", order)
			}
			if d := cmp.Diff([]bool{true, false}, queued[9]); d != "" || len(queued) != 7 {
				t.Errorf("queued %v", queued)
			}
		})
	}, blocks, startsLater)
}

func TestQueueAcrossServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPier(), newPier()
		r := chart(t, registry.Options{Limits: registry.Limits{CallsPerServer: 3, Calls: 4}}, map[string]*harbour{"a": &a.harbour, "b": &b.harbour})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		cfg, _ := r.Config("b")
		cfg.Concurrency = 2
		if err := r.Update("b", cfg); err != nil {
			t.Fatal(err)
		}
		_, waitA := load(r, "a", 6, nil)
		_, waitB := load(r, "b", 4, nil)
		for _, err := range append(waitA(), waitB()...) {
			if err != nil {
				t.Error(err)
			}
		}
		_, ofA := a.sent()
		_, ofB := b.sent()
		if ofA > 3 || ofB > 2 {
			t.Errorf("%d and %d at once", ofA, ofB)
		}
	})
}

func TestCallsThatEndInTheQueueAreNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newPier(), newPier()
		r := chart(t, registry.Options{Limits: registry.Limits{CallsPerServer: 1}}, map[string]*harbour{"a": &a.harbour, "b": &b.harbour})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		pending, wait := load(r, "a", 4, nil)
		synctest.Wait()
		cause := errors.New("the caller has gone")
		pending[1].Stop(cause)
		r.CancelCalls(func(int) bool { return false })
		time.Sleep(1100 * time.Millisecond)
		if err := r.SetEnabled("a", false); err != nil {
			t.Fatal(err)
		}
		errs := wait()
		if errs[0] != nil || !errors.Is(errs[1], cause) || !errors.Is(errs[2], registry.ErrDisabled) || !errors.Is(errs[3], registry.ErrDisabled) {
			t.Errorf("%v", errs)
		}
		if sent, _ := a.sent(); !slices.Equal(sent, []string{`{"n":0}`, `{"n":2}`}) {
			t.Errorf("sent %v", sent)
		}
		_, wait = load(r, "b", 3, nil)
		synctest.Wait()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		for _, err := range wait() {
			if !errors.Is(err, registry.ErrClosed) {
				t.Errorf("after the end: %v", err)
			}
		}
		if sent, _ := b.sent(); len(sent) != 1 {
			t.Errorf("sent %v", sent)
		}
	})
}

func TestQueueAfterMoreConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPier()
		r := chart(t, registry.Options{Limits: registry.Limits{CallsPerServer: 1}}, map[string]*harbour{"a": &p.harbour})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		_, wait := load(r, "a", 9, nil)
		cfg, _ := r.Config("a")
		cfg.Concurrency = 4
		if err := r.Update("a", cfg); err != nil {
			t.Fatal(err)
		}
		for _, err := range wait() {
			if err != nil {
				t.Error(err)
			}
		}
		if _, highest := p.sent(); time.Since(began) != 3*time.Second || highest != 4 {
			t.Errorf("9 calls took %v, with %d at once", time.Since(began), highest)
		}
	})
}

// A call whose caller leaves at the moment it is sent is forgotten.
func TestCallThatEndsAsItsTurnComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPier()
		r := chart(t, registry.Options{Limits: registry.Limits{CallsPerServer: 1}}, map[string]*harbour{"a": &p.harbour})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		turn, left := make(chan bool), make(chan bool)
		pending, wait := load(r, "a", 2, func(i int, call *registry.Call) {
			call.ID = i + 1
			call.OnQueue = func(waits bool) {
				if !waits {
					turn <- true
					<-left
				}
			}
		})
		<-turn
		pending[1].Stop(context.Canceled)
		left <- true
		if errs := wait(); errs[0] != nil || !errors.Is(errs[1], context.Canceled) {
			t.Errorf("%v", errs)
		}
		r.CancelCalls(func(id int) bool { t.Errorf("call %d is kept", id); return false })
		if sent, _ := p.sent(); len(sent) != 1 {
			t.Errorf("sent %v", sent)
		}
	})
}

// steady returns a harbour whose tool reads only, and whose calls fail with these errors
// before one works.
func steady(failures ...error) *harbour {
	h := &harbour{}
	h.list = func(context.Context, *string) (*registry.ToolPage, error) {
		return &registry.ToolPage{Tools: []registry.ToolDef{{
			Name: "echo", Def: registry.Raw(`{"name":"echo","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`),
		}}}, nil
	}
	h.call = func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
		h.mu.Lock()
		n := h.calls
		h.mu.Unlock()
		if n <= len(failures) {
			return nil, failures[n-1]
		}
		return &registry.ToolOutput{Result: registry.Raw(`{"content":[]}`)}, nil
	}
	return h
}

func TestCallsThatMayRepeatAreSentAgain(t *testing.T) {
	busy := &registry.StatusError{Code: 503, Header: map[string][]string{"Retry-After": {"7"}}}
	for _, row := range []struct {
		name     string
		failures []error
		attempts int
		trust    string
		calls    int
		fails    bool
		took     time.Duration // 0: not looked at
	}{
		{"no answer", []error{registry.ErrNetwork}, 2, registry.TrustAll, 2, false, 0},
		{"a pause that the server wants", []error{busy, busy}, 3, registry.TrustAll, 3, false, 14 * time.Second},
		{"too many failures", []error{busy, busy}, 2, registry.TrustAll, 2, true, 7 * time.Second},
		{"not trusted", []error{registry.ErrNetwork}, 2, "", 1, true, 0},
		{"another status", []error{&registry.StatusError{Code: 500}}, 2, registry.TrustAll, 1, true, 0},
		{"no transport fault", []error{registry.ErrProtocol}, 2, registry.TrustAll, 1, true, 0},
		{"not configured", []error{registry.ErrNetwork}, 0, registry.TrustAll, 1, true, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			eachWay(t, func(t *testing.T, w way) {
				synctest.Test(t, func(t *testing.T) {
					h := steady(row.failures...)
					h.starts = w
					r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
					cfg, _ := r.Config("a")
					cfg.Trust, cfg.Attempts = row.trust, row.attempts
					if err := r.Update("a", cfg); err != nil {
						t.Fatal(err)
					}
					if err := r.Discover(t.Context()); err != nil {
						t.Fatal(err)
					}
					var told []int
					began := time.Now()
					_, err := r.Dispatch(t.Context(), registry.Call{
						Name: "a__echo", OnRetry: func(attempt int, _ time.Duration, _ error) { told = append(told, attempt) },
					})
					if (err != nil) != row.fails || h.seen().calls != row.calls {
						t.Errorf("%v after %d calls", err, h.seen().calls)
					}
					if took := time.Since(began); row.took > 0 && took != row.took {
						t.Errorf("it took %v, want %v", took, row.took)
					}
					if want := []int{2, 3}[:row.calls-1]; !slices.Equal(told, want) {
						t.Errorf("told %v, want %v", told, want)
					}
				})
			}, blocks, startsInline, startsLater)
		})
	}
}

// trusting returns a registry that trusts its server a, and has its list.
func trusting(t *testing.T, h *harbour) *registry.Registry {
	t.Helper()
	r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
	cfg, _ := r.Config("a")
	cfg.Trust = registry.TrustAll
	if err := r.Update("a", cfg); err != nil {
		t.Fatal(err)
	}
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// A server that is always busy gets no more calls than a configuration may allow.
func TestAttemptsOfACallAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &registry.StatusError{Code: 503, Header: map[string][]string{"Retry-After": {"1"}}}
		h := steady(slices.Repeat([]error{busy}, 100)...)
		r := trusting(t, h)
		_, err := r.Dispatch(t.Context(), registry.Call{Name: "a__echo", Attempts: 100, Timeout: time.Hour})
		if n := h.seen().calls; n != wire.MaxAttempts || !errors.Is(err, busy) {
			t.Errorf("%v after %d calls", err, n)
		}
	})
}

func TestStoppedBetweenAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := steady(registry.ErrNetwork)
		r := trusting(t, h)
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the caller has gone")
		_, err := r.Dispatch(ctx, registry.Call{Name: "a__echo", Attempts: 2, OnRetry: func(int, time.Duration, error) { cancel(gone) }})
		if !errors.Is(err, gone) {
			t.Errorf("%v", err)
		}
		time.Sleep(time.Minute)
		if n := h.seen().calls; n != 1 {
			t.Errorf("%d calls", n)
		}
	})
}

// The server finds another header than it expects: its tools are listed again, once, and
// the call is sent once more.
func TestHeaderMismatchListsAgain(t *testing.T) {
	mismatch := &registry.RPCError{Code: -32020, Message: "header mismatch"}
	for _, failures := range [][]error{{mismatch}, {mismatch, mismatch}} {
		eachWay(t, func(t *testing.T, w way) {
			synctest.Test(t, func(t *testing.T) {
				h := steady(failures...)
				h.starts = w
				r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
				if err := r.Discover(t.Context()); err != nil {
					t.Fatal(err)
				}
				_, err := r.Dispatch(t.Context(), registry.Call{Name: "a__echo"})
				if seen := h.seen(); seen.calls != 2 || seen.lists != 2 || (err != nil) != (len(failures) == 2) {
					t.Errorf("%v after %d calls and %d lists", err, seen.calls, seen.lists)
				}
				if health := health(t, r, "a"); health.ConsecutiveFailures > 0 {
					t.Errorf("%d failures", health.ConsecutiveFailures)
				}
			})
		}, blocks, startsLater)
	}
}

// The call that was sent again for its headers counts to its attempts.
func TestHeaderMismatchIsAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &registry.StatusError{Code: 503}
		h := steady(&registry.RPCError{Code: -32020, Message: "header mismatch"}, busy, busy)
		var told []int
		_, err := trusting(t, h).Dispatch(t.Context(), registry.Call{
			Name: "a__echo", Attempts: 3, OnRetry: func(attempt int, _ time.Duration, _ error) { told = append(told, attempt) },
		})
		if n := h.seen().calls; n != 3 || !errors.Is(err, busy) || !slices.Equal(told, []int{3}) {
			t.Errorf("%v after %d calls, told of attempt %v", err, n, told)
		}
	})
}

// A tool that the second list has changed is held, which is no failure of the server.
func TestHeaderMismatchOfAChangedTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := steady(&registry.RPCError{Code: -32020, Message: "header mismatch"})
		description := "first"
		h.list = func(context.Context, *string) (*registry.ToolPage, error) {
			def := registry.Raw(`{"name":"echo","description":"` + description + `","inputSchema":{"type":"object"}}`)
			return &registry.ToolPage{Tools: []registry.ToolDef{{Name: "echo", Def: def, Pin: description}}}, nil
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		description = "second"
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "a__echo"}); !errors.Is(err, registry.ErrHeld) {
			t.Errorf("%v", err)
		}
		if health := health(t, r, "a"); health.ConsecutiveFailures > 0 || health.Status != registry.ServerConnected {
			t.Errorf("health: %+v", health)
		}
	})
}
