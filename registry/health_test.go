package registry

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestBreaker walks the state machine step by step.
func TestBreaker(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	b := newBreaker(3, 5*time.Second)
	b.jitter = func() float64 { return 1 }

	fail := func(when float64) {
		t.Helper()
		gen, ok := b.begin(at(when))
		if !ok {
			t.Fatalf("at %v s: not let through", when)
		}
		b.end(gen, failed, at(when))
	}
	fail(0)
	fail(1)
	if b.suspended {
		t.Fatal("suspended after 2 failures of 3")
	}
	early, _ := b.begin(at(1))
	fail(2)
	if !b.suspended || !b.retryAt.Equal(at(7)) {
		t.Fatalf("after 3 failures: suspended %v until %v, want until %v", b.suspended, b.retryAt, at(7))
	}
	if _, ok := b.begin(at(6.9)); ok {
		t.Error("let through during the cooldown")
	}
	b.end(early, succeeded, at(6))
	if !b.suspended {
		t.Error("an attempt from before the suspension ended it")
	}

	probe, ok := b.begin(at(7))
	if !ok {
		t.Fatal("no probe after the cooldown")
	}
	if _, ok := b.begin(at(7)); ok {
		t.Error("a second probe beside the first")
	}
	b.end(probe, failed, at(8))
	if want := at(8 + 10); !b.retryAt.Equal(want) {
		t.Errorf("after a failed probe: retry at %v, want %v", b.retryAt, want)
	}
	probe, _ = b.begin(at(18))
	b.end(probe, undecided, at(18))
	if _, ok := b.begin(at(22)); ok {
		t.Error("an undecided probe is followed by another at once")
	}
	probe, _ = b.begin(at(24))
	b.end(probe, succeeded, at(24))
	if b.suspended || b.failures != 0 || !b.retryAt.IsZero() {
		t.Errorf("a good probe left %+v", b)
	}
}

func TestBreakerCooldownGrowsToFiveMinutes(t *testing.T) {
	b := newBreaker(1, 0)
	b.jitter = func() float64 { return 1 }
	now := time.Unix(0, 0)
	var waits []time.Duration
	for range 9 {
		gen, ok := b.begin(now)
		if !ok {
			t.Fatalf("not let through at %v", now)
		}
		b.end(gen, failed, now)
		waits = append(waits, b.retryAt.Sub(now))
		now = b.retryAt
	}
	if waits[0] != 5*time.Second || waits[8] != 5*time.Minute {
		t.Errorf("waits %v, want 5s … 5m0s", waits)
	}
	for i := 1; i < len(waits); i++ {
		if waits[i] < waits[i-1] {
			t.Errorf("waits shrink: %v", waits)
		}
	}
}

func TestBreakerWakeAndReset(t *testing.T) {
	b := newBreaker(1, time.Minute)
	now := time.Unix(0, 0)
	gen, _ := b.begin(now)
	b.end(gen, failed, now)
	b.wake(now)
	if _, ok := b.begin(now); !ok {
		t.Error("not probed after wake")
	}
	b.reset()
	if _, ok := b.begin(now); !ok || b.suspended {
		t.Error("not closed after reset")
	}
}

func TestADeadlineThatPassedWhileFrozenIsNotTheServersFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes between the lines
		for _, late := range []time.Duration{0, frozenAfter, frozenAfter + time.Second} {
			r := New(&Options{Connect: func(context.Context, string, ServerConfig, Notify) (Session, error) { return nil, ErrNetwork }})
			s := &server{name: "s", breaker: newBreaker(1, 0)}
			r.servers["s"] = s
			var ended error
			r.calls[&Pending{r: r, s: s, tool: &Tool{}, done: func(_ *Result, err error) { ended = err }}] = struct{}{}
			r.deadlineAt = time.Now().Add(-late)
			r.checkDeadlines()
			if !errors.Is(ended, context.DeadlineExceeded) || s.breaker.suspended != (late <= frozenAfter) {
				t.Errorf("%v late: %v, suspended %v", late, ended, s.breaker.suspended)
			}
			_ = r.Close()
		}
	})
}

func TestOutcomeOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want outcome
	}{
		{"no error", nil, succeeded},
		{"network", Because(ErrNetwork, "refused"), failed},
		{"timeout", context.DeadlineExceeded, failed},
		{"protocol", ErrProtocol, failed},
		{"503", &StatusError{Code: 503}, failed},
		{"401", &StatusError{Code: 401}, undecided},
		{"404", &StatusError{Code: 404}, undecided},
		{"rpc error", &RPCError{Code: -32602}, succeeded},
		{"cancelled", context.Canceled, undecided},
		{"wrapped 500", &ServerError{"s", "connect", &StatusError{Code: 500}}, failed},
	} {
		if got := outcomeOf(tt.err); got != tt.want {
			t.Errorf("%s: outcome %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestExplainKnowsEverySentinel(t *testing.T) {
	for _, err := range []error{
		ErrUnknownServer, ErrServerRemoved, ErrUnknownTool, ErrDisabled, ErrSuspended, ErrClosed, ErrSessionExpired,
		ErrNetwork, ErrProtocol, ErrTooLarge, ErrInvalidConfig, ErrInvalidArguments, &StatusError{Code: 502}, &RPCError{},
	} {
		x := Explain(&ServerError{"srv", "op", err})
		if x.Code == "internal" || x.Hint == "" || x.Server != "srv" {
			t.Errorf("%v: %+v", err, x)
		}
	}
	if x := Explain(errors.New("?")); x.Code != "internal" {
		t.Errorf("unknown error: %+v", x)
	}
}
