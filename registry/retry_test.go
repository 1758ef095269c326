package registry_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/wire"
)

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
