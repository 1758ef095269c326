package registry_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A server whose sessions never last is not connected to without end.
func TestConnectsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{call: func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
			return nil, registry.ErrSessionExpired
		}}
		r := chart(t, registry.Options{FailureThreshold: 1000, Limits: registry.Limits{Connects: 5}}, map[string]*harbour{"s": h})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		var err error
		for range 20 {
			_, err = r.Dispatch(t.Context(), registry.Call{Name: "s__echo"})
		}
		if got := h.seen().connects; got != 5 || !errors.Is(err, registry.ErrSuspended) {
			t.Errorf("%d connections, want 5; the last call: %v", got, err)
		}
		time.Sleep(10 * time.Second)
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "s__echo"}); !errors.Is(err, registry.ErrSessionExpired) {
			t.Errorf("after 10 s: %v", err)
		}
	})
}

// The bound on connects is for servers, not for what a user asks for.
func TestUserConnectsBeyondTheBound(t *testing.T) {
	for name, ask := range map[string]func(*registry.Registry) error{
		"retry": func(r *registry.Registry) error { return r.Retry("s") },
		"update": func(r *registry.Registry) error {
			return r.Update("s", registry.ServerConfig{URL: "https://moved.example/mcp"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &harbour{}
				r := chart(t, registry.Options{Limits: registry.Limits{Connects: 3}}, map[string]*harbour{"s": h})
				if err := r.Discover(t.Context()); err != nil {
					t.Fatal(err)
				}
				for range 10 {
					h.say(registry.Notice{Err: registry.ErrNetwork})
					_ = r.Discover(t.Context())
				}
				if got := health(t, r, "s"); !strings.Contains(got.LastError, "times in 10 s") {
					t.Fatalf("health %+v", got)
				}
				if err := ask(r); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				_ = r.Discover(t.Context())
				if got := health(t, r, "s"); got.Status != registry.ServerConnected || got.LastError != "" {
					t.Errorf("health %+v", got)
				}
			})
		})
	}
}

// Messages beyond a server's rate show in its health, and its list stays.
func TestDroppedMessagesShowInHealth(t *testing.T) {
	h := &harbour{}
	r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.say(registry.Notice{Dropped: 1000})
	h.say(registry.Notice{Dropped: 234})
	got := health(t, r, "s")
	if warned := strings.Join(got.Warnings, "\n"); !strings.Contains(warned, "1234 messages") || got.Status != registry.ServerConnected || got.ToolCount != 1 {
		t.Errorf("health %+v", got)
	}
}

// A server may ask to be left alone, but not for ever.
func TestRetryAfterIsCapped(t *testing.T) {
	for header, most := range map[string][2]time.Duration{
		"":                     {0, 6 * time.Second},
		"60":                   {60 * time.Second, 60 * time.Second},
		"31536000":             {5 * time.Minute, 5 * time.Minute},
		"-5":                   {0, 6 * time.Second},
		"soon":                 {0, 6 * time.Second},
		"99999999999999999999": {0, 6 * time.Second},
	} {
		code := 503
		if most[0] > 0 {
			code = 429
		}
		synctest.Test(t, func(t *testing.T) {
			h := &harbour{list: func(context.Context, *string) (*registry.ToolPage, error) {
				return nil, &registry.StatusError{Code: code, Header: map[string][]string{"Retry-After": {header}}}
			}}
			threshold := 1
			if most[0] > 0 {
				threshold = 3 // a server that says when to come back is not asked twice before
			}
			r := chart(t, registry.Options{FailureThreshold: threshold}, map[string]*harbour{"s": h})
			if err := r.Discover(t.Context()); err == nil {
				t.Fatal("no error")
			}
			got := health(t, r, "s")
			if wait := time.Until(got.RetryAt); !got.Suspended || wait < most[0] || wait > most[1] {
				t.Errorf("Retry-After %q: tried again after %v", header, wait)
			}
		})
	}
}

// A server that says each time when to come back is asked then, and not after a cooldown that grew meanwhile.
func TestRetryAfterCountsForMoreThanTheCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var asked []time.Duration
		h := &harbour{list: func(context.Context, *string) (*registry.ToolPage, error) {
			asked = append(asked, time.Since(start))
			return nil, &registry.StatusError{Code: 429, Header: map[string][]string{"Retry-After": {"20"}}}
		}}
		r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
		_ = r.Discover(t.Context())
		time.Sleep(170 * time.Second)
		_ = r.Close()
		for i, at := range asked {
			if want := time.Duration(i) * 20 * time.Second; at != want || len(asked) != 9 {
				t.Fatalf("asked after %v", asked)
			}
		}
	})
}

// A server that answers a list with a JSON-RPC error is well, but has no list to offer.
func TestRefusedListShowsInHealth(t *testing.T) {
	h := &harbour{list: func(context.Context, *string) (*registry.ToolPage, error) {
		return nil, &registry.RPCError{Code: -32601, Message: "no tools"}
	}}
	r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
	for range 5 {
		if err := r.Discover(t.Context()); err == nil {
			t.Fatal("no error")
		}
	}
	if got := health(t, r, "s"); got.ErrorCode != "server_error" || got.Suspended {
		t.Errorf("health %+v", got)
	}
}

// Warnings are a server's words too.
func TestWarningsAreFitToBeShown(t *testing.T) {
	h := &harbour{}
	h.list = func(context.Context, *string) (*registry.ToolPage, error) {
		p := h.page("echo")
		p.Dropped = []registry.Drop{{Name: "k3y-of-the-user", Reason: "\x1b[2J" + strings.Repeat("x", 10<<10)}}
		return p, nil
	}
	r := chart(t, registry.Options{}, map[string]*harbour{"s": h})
	if err := r.Update("s", registry.ServerConfig{URL: "https://s.example/mcp", Headers: map[string]string{"X": "k3y-of-the-user"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if warned := strings.Join(health(t, r, "s").Warnings, "\n"); strings.Contains(warned, "k3y") || strings.Contains(warned, "\x1b") || len(warned) > 2<<10 {
		t.Errorf("%d bytes of warnings: %.200q", len(warned), warned)
	}
}
