package registry_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A server that does not know ping has answered: its session lives.
func TestAnErrorAnswersAPing(t *testing.T) {
	l := &library{harbour: &harbour{}, has: everything, answer: func(context.Context, registry.Request) (string, error) {
		return "", &registry.RPCError{Code: registry.CodeMethodNotFound}
	}}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		cfg, _ := r.Config("a")
		cfg.Ping = time.Minute
		if err := r.Update("a", cfg); err != nil {
			t.Fatal(err)
		}
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Minute + time.Second)
		if n, closes := l.count("ping"), l.seen().closes; n != 5 || closes != 0 {
			t.Errorf("%d pings in five minutes, and %d sessions were closed", n, closes)
		}
	})
}

func TestIdleSessionsArePinged(t *testing.T) {
	var dead atomic.Bool
	l := &library{harbour: &harbour{}, has: everything}
	l.answer = func(context.Context, registry.Request) (string, error) {
		if dead.Load() {
			return "", registry.ErrNetwork
		}
		return "{}", nil
	}
	shelves(t, map[string]*library{"a": l}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if n := l.count("ping"); n != 0 {
			t.Errorf("%d pings without the option", n)
		}
		cfg, _ := r.Config("a")
		cfg.Ping = time.Minute
		if err := r.Update("a", cfg); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Minute + time.Second)
		if n := l.count("ping"); n != 5 {
			t.Errorf("%d pings in five minutes", n)
		}
		dead.Store(true)
		time.Sleep(10 * time.Minute)
		if n, seen := l.count("ping"), l.seen(); n != 6 || seen.connects != 1 {
			t.Errorf("%d pings, %d sessions after the server died", n, seen.connects)
		}
		dead.Store(false)
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "a__echo"}); err != nil {
			t.Error(err)
		}
		if seen := l.seen(); seen.connects != 2 {
			t.Errorf("%d sessions", seen.connects)
		}
		cfg.Ping = 0
		if err := r.Update("a", cfg); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		if n := l.count("ping"); n != 6 {
			t.Errorf("%d pings after they were switched off", n)
		}
	})
}
