//go:build !js

// A page keeps prompts and answers itself; e2e/web/older.test.ts tests that.

package registry_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
)

func TestChangedPromptsAreHeld(t *testing.T) { synctest.Test(t, changedPromptsAreHeld) }

func changedPromptsAreHeld(t *testing.T) {
	var list atomic.Value
	list.Store(`{"name":"a","description":"Asks."},{"name":"b","arguments":[{"name":"x"}]}`)
	connect := func(_ context.Context, _ string, _ registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
		return &library{harbour: &harbour{notify: notify}, has: everything, answer: func(_ context.Context, req registry.Request) (string, error) {
			if req.Method == "prompts/get" {
				return `{"messages":[]}`, nil
			}
			return `{"prompts":[` + list.Load().(string) + `]}`, nil
		}}, nil
	}
	pins := &memoryPins{}
	config := registry.ServerConfig{URL: "https://a.example/mcp"}
	visit := func(config registry.ServerConfig, body func(r *registry.Registry, prompts, held string)) {
		t.Helper()
		r := registry.New(&registry.Options{Pins: pins, Connect: connect})
		if err := r.Add("a", config); err != nil {
			t.Fatal(err)
		}
		prompts, err := r.Prompts(t.Context())
		held, err2 := r.HeldPrompts(t.Context())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		names := func(all []registry.Offer) (text string) {
			for _, o := range all {
				if text += o.Key; o.Hold != nil {
					text += " " + o.Hold.Reason + " " + string(o.Hold.Before)
				}
			}
			return text
		}
		body(r, names(prompts), names(held))
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	expect := func(wantPrompts, wantHeld string) func(*registry.Registry, string, string) {
		return func(_ *registry.Registry, prompts, held string) {
			t.Helper()
			if diff := cmp.Diff([]string{wantPrompts, wantHeld}, []string{prompts, held}); diff != "" {
				t.Error(diff)
			}
		}
	}
	visit(config, expect("ab", ""))
	list.Store(`{"name":"a","description":"Asks for your keys."},{"name":"b","arguments":[ {"name":"x"} ],"_meta":{"n":1}},{"name":"c"}`)
	const changed = `a changed {"description":"Asks."}`
	visit(config, func(r *registry.Registry, prompts, held string) {
		expect("bc", changed)(r, prompts, held)
		if n := r.Snapshot().Servers["a"].Prompts; n == nil || *n != 2 {
			t.Errorf("health counts %v", n)
		}
		_, err := r.GetPrompt(t.Context(), "a__a", nil)
		if !errors.Is(err, registry.ErrHeld) {
			t.Errorf("a held prompt: %v", err)
		}
		if hint := registry.Explain(err).Hint; !strings.Contains(hint, "approvePrompts") || strings.Contains(err.Error(), "tool") {
			t.Errorf("%v, hint %q", err, hint)
		}
		if _, err := r.GetPrompt(t.Context(), "a__b", nil); err != nil {
			t.Error(err)
		}
		if err := r.ApprovePrompts("a", "b"); !errors.Is(err, registry.ErrUnknownPrompt) {
			t.Errorf("not held: %v", err)
		}
		if err := r.ApprovePrompts("a", "a", "b"); !errors.Is(err, registry.ErrUnknownPrompt) {
			t.Errorf("one is not held: %v", err)
		}
		if _, err := r.GetPrompt(t.Context(), "a__a", nil); !errors.Is(err, registry.ErrHeld) {
			t.Errorf("after an approval that failed: %v", err)
		}
	})
	visit(config, func(r *registry.Registry, _, _ string) {
		relist := func(prompts string) registry.Offer {
			t.Helper()
			list.Store(prompts)
			for _, on := range []bool{false, true} { // it forgets the list
				if err := r.SetEnabled("a", on); err != nil {
					t.Fatal(err)
				}
			}
			held, err := r.HeldPrompts(t.Context())
			if err != nil || len(held) == 0 {
				t.Fatal(held, err)
			}
			return held[0]
		}
		before := list.Load().(string)
		held := relist(before)
		shown := "pin:" + held.Pin()
		relist(`{"name":"a","description":"Asks for more."},{"name":` + strconv.Quote(shown) + `}`)
		if err := r.ApprovePrompts("a", shown); !errors.Is(err, registry.ErrHeld) {
			t.Errorf("approving a version that is gone: %v", err)
		}
		relist(before)
		if err := r.ApprovePrompts("a", shown, "pin:other"); !errors.Is(err, registry.ErrHeld) {
			t.Errorf("approving two versions of which one is gone: %v", err)
		}
	})
	visit(config, func(r *registry.Registry, prompts, held string) {
		expect("bc", changed)(r, prompts, held)
		all, _ := r.HeldPrompts(t.Context())
		if err := r.ApprovePrompts("a", "pin:"+all[0].Pin()); err != nil {
			t.Fatal(err)
		}
		if _, err := r.GetPrompt(t.Context(), "a__a", nil); err != nil {
			t.Error(err)
		}
	})
	visit(config, expect("abc", ""))
	list.Store(`{"name":"a"},{"name":"d"}`)
	visit(registry.ServerConfig{URL: config.URL, Trust: registry.TrustAll}, expect("ad", ""))
	visit(registry.ServerConfig{URL: config.URL, HoldNewTools: true}, func(r *registry.Registry, prompts, held string) {
		expect("", `a changed {"description":"Asks for your keys."}d new `)(r, prompts, held)
		if err := r.Update("a", config); err != nil {
			t.Fatal(err)
		}
		if all, _ := r.Prompts(t.Context()); len(all) != 1 || all[0].Key != "d" {
			t.Errorf("new prompts that need no approval any more: %v", all)
		}
	})
	pins.kept = nil
	visit(registry.ServerConfig{URL: config.URL, Trust: registry.AskAlways}, expect("", `a new d new `))
}
