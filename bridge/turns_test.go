package bridge

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// A client may have a quarter of the calls that wait, and none beyond that waits.
func TestCallsThatWaitAreBounded(t *testing.T) {
	turns := newTurns(1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := turns.take(ctx, nil, "a"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	for i := range maxQueued {
		w := &waiter{fmt.Sprint("client ", i%4), make(chan struct{})}
		if !turns.queue(w) {
			t.Fatalf("call %d is refused", i)
		}
		if i == maxQueued-4 {
			if err := turns.take(ctx, nil, "client 0"); err != errBusy {
				t.Errorf("a client with %d calls that wait: %v", maxQueued/4, err)
			}
			go func() { ended <- turns.take(ctx, nil, "client 5") }()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("a call that was cancelled: %v", err)
			}
		}
	}
	if err := turns.take(t.Context(), nil, "client 5"); err != errBusy {
		t.Errorf("one call too many: %v", err)
	}
	for range maxQueued {
		turns.free(turns.only())
	}
	turns.free(turns.only())
	if turns.used != 0 || len(turns.held) != 0 || len(turns.waiting) != 0 {
		t.Errorf("left: %d turns, %v, %d that wait", turns.used, turns.held, len(turns.waiting))
	}
}

// A call that was cancelled takes no turn, even one that is free.
func TestACancelledCallTakesNoTurn(t *testing.T) {
	turns := newTurns(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 { // select chooses by chance
		if err := turns.take(ctx, nil, "a"); !errors.Is(err, context.Canceled) {
			t.Fatalf("it has a turn: %v", err)
		}
	}
	if turns.used != 0 || len(turns.held) != 0 {
		t.Errorf("left: %d turns, %v", turns.used, turns.held)
	}
}

// only returns the client that has the only turn.
func (t *turns) only() string {
	for client := range t.held {
		return client
	}
	return ""
}
