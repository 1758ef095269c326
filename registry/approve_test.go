//go:build !js

// A page keeps definitions and answers itself; e2e/web/trust.test.ts tests that.

package registry_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/convert"
	"github.com/portolan-mcp/portolan/registry/pin"
)

// pinnedPage is a page of pinned tools; each is a name and, behind the last colon, a description.
func pinnedPage(t *testing.T, tools ...string) func(context.Context, *string) (*registry.ToolPage, error) {
	t.Helper()
	p := &registry.ToolPage{}
	for _, tool := range tools {
		colon := strings.LastIndex(tool, ":")
		name, description := tool[:colon], tool[colon+1:]
		def := registry.Raw(`{"name":` + strconv.Quote(name) + `,"description":` + strconv.Quote(description) + `,"inputSchema":{"type":"object"}}`)
		digest, err := pin.Of(def)
		if err != nil {
			t.Fatal(err)
		}
		p.Tools = append(p.Tools, registry.ToolDef{Name: name, Def: def, Pin: digest})
	}
	return func(context.Context, *string) (*registry.ToolPage, error) { return p, nil }
}

// memoryPins keeps pins as a file would.
type memoryPins struct {
	mu    sync.Mutex
	kept  map[string]string
	fresh []registry.FreshPins
	fail  error
}

func (m *memoryPins) LoadPins(key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[key], m.fail
}

func (m *memoryPins) SavePins(_, key, pins string, fresh registry.FreshPins) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = make(map[string]string)
	}
	m.kept[key] = pins
	m.fresh = append(m.fresh, fresh)
	return nil
}

func (m *memoryPins) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key := range maps.Keys(m.kept) {
		keys = append(keys, key)
	}
	return keys
}

// said is what there is to say of the tools that are held.
func said(r *registry.Registry) []string {
	var out []string
	for _, t := range r.Snapshot().Held {
		s := t.RawName + " " + t.Hold.Reason
		if t.Hold.RenamedFrom != "" {
			s += " from " + t.Hold.RenamedFrom
		}
		if len(t.Hold.Changes) > 0 {
			s += ": " + strings.Join(t.Hold.Changes, " ")
		}
		if t.Hold.Before != nil {
			s += " was " + string(t.Hold.Before)
		}
		out = append(out, s)
	}
	return out
}

// relist gives a harbour other tools and discovers them, once what the registry
// began by itself is over: its list would be of then.
func relist(t *testing.T, r *registry.Registry, h *harbour, tools ...string) {
	t.Helper()
	time.Sleep(2 * time.Second)
	synctest.Wait()
	h.list = pinnedPage(t, tools...)
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func want(t *testing.T, r *registry.Registry, offered, held []string) {
	t.Helper()
	if diff := cmp.Diff(offered, names(r)); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(held, said(r)); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	if h := health(t, r, "a"); h.ToolCount != len(offered) || h.HeldCount != len(held) || h.ToolTotal < len(offered)+len(held) {
		t.Errorf("health counts %d offered, %d held, %d in all", h.ToolCount, h.HeldCount, h.ToolTotal)
	}
}

const wasX = ` was {"name":"x","description":"one","inputSchema":{"type":"object"}}`

func TestChangedToolIsHeldUntilApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		relist(t, r, h, "x:one", "y:")
		want(t, r, []string{"a__x", "a__y"}, nil)

		relist(t, r, h, "x:two", "y:")
		want(t, r, []string{"a__y"}, []string{"x changed: description" + wasX})
		_, err := r.Dispatch(t.Context(), registry.Call{Name: "a__x"})
		if !errors.Is(err, registry.ErrHeld) || registry.Explain(err).Code != "held" {
			t.Errorf("a call of a held tool: %v", err)
		}
		if out, _ := r.Export(convert.OpenAI, registry.Filter{}); strings.Contains(string(out), "a__x") {
			t.Errorf("exported: %s", out)
		}

		relist(t, r, h, "x:three", "y:")
		want(t, r, []string{"a__y"}, []string{"x changed: description" + wasX})
		relist(t, r, h, "y:")
		relist(t, r, h, "x:two", "y:") // gone meanwhile
		want(t, r, []string{"a__y"}, []string{"x changed: description" + wasX})
		relist(t, r, h, "x:one", "y:")
		want(t, r, []string{"a__x", "a__y"}, nil)

		relist(t, r, h, "x:two", "y:")
		if err := r.ApproveTools("a", "z"); !errors.Is(err, registry.ErrUnknownTool) {
			t.Errorf("approving what is not held: %v", err)
		}
		if err := r.ApproveTools("b"); !errors.Is(err, registry.ErrUnknownServer) {
			t.Errorf("approving for nobody: %v", err)
		}
		if err := r.ApproveTools("a", "x"); err != nil {
			t.Fatal(err)
		}
		want(t, r, []string{"a__x", "a__y"}, nil)
		relist(t, r, h, "x:two", "y:")
		want(t, r, []string{"a__x", "a__y"}, nil)
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "a__x"}); err != nil {
			t.Errorf("a call of an approved tool: %v", err)
		}
	})
}

func TestAVersionIsApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		if err := r.Update("a", registry.ServerConfig{URL: "https://a.example/mcp", HoldNewTools: true}); err != nil {
			t.Fatal(err)
		}
		relist(t, r, h, "x:one")
		relist(t, r, h, "x:two")
		shown := "pin:" + approvals.Digest(r.Snapshot().Held[0].Pin)
		relist(t, r, h, "x:three", shown+":a tool that is called like the pin")
		if err := r.ApproveTools("a", shown); !errors.Is(err, registry.ErrHeld) {
			t.Errorf("approving a version that is gone: %v", err)
		}
		want(t, r, nil, []string{"x changed: description" + wasX, shown + " new"})
		relist(t, r, h, "x:two")
		if err := r.ApproveTools("a", shown); err != nil {
			t.Fatal(err)
		}
		want(t, r, []string{"a__x"}, nil)
	})
}

func TestNewAndRenamedTools(t *testing.T) {
	renamed := "z renamed from x: name" + wasX
	for _, row := range []struct {
		name                     string
		cfg                      registry.ServerConfig
		first, offered, held     []string
		afterApproval, afterNext []string
	}{
		{"on change", registry.ServerConfig{}, nil, []string{"a__y", "a__n"}, []string{renamed}, []string{"a__z", "a__y", "a__n"}, nil},
		{"new ones too", registry.ServerConfig{HoldNewTools: true}, nil, []string{"a__y"}, []string{renamed, "n new"}, []string{"a__z", "a__y", "a__n"}, nil},
		{"always", registry.ServerConfig{Trust: registry.AskAlways}, []string{"x new", "y new"}, []string{"a__y"}, []string{renamed, "n new"}, []string{"a__z", "a__y", "a__n"}, nil},
		{"trust", registry.ServerConfig{Trust: registry.TrustAll}, nil, []string{"a__z", "a__y", "a__n"}, nil, []string{"a__z", "a__y", "a__n"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &harbour{}
				r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
				row.cfg.URL = "https://a.example/mcp"
				if err := r.Update("a", row.cfg); err != nil {
					t.Fatal(err)
				}
				relist(t, r, h, "x:one", "y:two")
				if diff := cmp.Diff(row.first, said(r)); diff != "" {
					t.Errorf("held of the first list (-want +got):\n%s", diff)
				}
				if err := r.ApproveTools("a"); err != nil {
					t.Fatal(err)
				}
				relist(t, r, h, "z:one", "y:two", "n:three")
				want(t, r, row.offered, row.held)
				if err := r.ApproveTools("a"); err != nil {
					t.Fatal(err)
				}
				want(t, r, row.afterApproval, nil)
				if row.held != nil {
					relist(t, r, h, "x:one", "z:one", "y:two", "n:three") // the old name is not approved any more
					if held := said(r); row.cfg.HoldNewTools && len(held) != 1 {
						t.Errorf("held %v", held)
					}
				}
			})
		})
	}
}

func TestPolicyChangesReviewTheListAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		relist(t, r, h, "x:one")
		relist(t, r, h, "x:two")
		want(t, r, nil, []string{"x changed: description" + wasX})
		cfg, _ := r.Config("a")
		for _, step := range []struct {
			trust string
			held  int
		}{{registry.TrustAll, 0}, {registry.AskOnChange, 1}, {registry.AskAlways, 1}} {
			cfg.Trust = step.trust
			if err := r.Update("a", cfg); err != nil {
				t.Fatal(err)
			}
			if held := r.Snapshot().Held; len(held) != step.held || len(names(r)) != 1-step.held {
				t.Errorf("%s: held %v", step.trust, held)
			}
		}
		if h.seen().lists != 2 {
			t.Errorf("%d lists", h.seen().lists)
		}
		cfg.Trust = "never"
		if err := r.Update("a", cfg); !errors.Is(err, registry.ErrInvalidConfig) {
			t.Errorf("an unknown policy: %v", err)
		}
	})
}

// TestApprovalsOfAnotherRegistry has two registries of one server, as two tabs are.
func TestApprovalsOfAnotherRegistry(t *testing.T) {
	const key = "https://a.example/mcp"
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := &memoryPins{}, &memoryPins{}
		h, elsewhere := &harbour{}, &harbour{}
		r := chart(t, registry.Options{Pins: ours}, map[string]*harbour{"a": h})
		other := chart(t, registry.Options{Pins: theirs}, map[string]*harbour{"a": elsewhere})
		take := func() {
			t.Helper()
			if err := r.TakePins(key, theirs.kept[key]); err != nil {
				t.Fatal(err)
			}
		}
		relist(t, r, h, "x:one", "y:one")
		relist(t, other, elsewhere, "x:one", "y:two")
		take()
		want(t, r, []string{"a__x"}, []string{"y changed: description"}) // what was first here is not what is approved

		relist(t, other, elsewhere, "x:two", "y:two")
		if err := other.ApproveTools("a"); err != nil {
			t.Fatal(err)
		}
		relist(t, r, h, "x:two", "y:two")
		want(t, r, []string{"a__y"}, []string{"x changed: description" + wasX})
		lists := h.seen().lists
		take()
		want(t, r, []string{"a__x", "a__y"}, nil)
		if h.seen().lists != lists {
			t.Error("a list that is as it was approved is asked for again")
		}

		relist(t, other, elsewhere, "x:three", "z:two")
		if err := other.ApproveTools("a"); err != nil {
			t.Fatal(err)
		}
		page := pinnedPage(t, "x:three", "z:two")
		h.list = func(ctx context.Context, cursor *string) (*registry.ToolPage, error) {
			time.Sleep(time.Second) // what is held meanwhile is seen below
			return page(ctx, cursor)
		}
		saves := len(ours.fresh)
		take()
		want(t, r, nil, []string{"x changed: description", "y renamed from z: name"})
		time.Sleep(3 * time.Second)
		want(t, r, []string{"a__x", "a__z"}, nil) // the list was older than the approval
		lists = h.seen().lists
		take()
		time.Sleep(2 * time.Second)
		if len(ours.fresh) != saves || h.seen().lists != lists {
			t.Errorf("saved %v, %d lists", ours.fresh[saves:], h.seen().lists-lists)
		}
		relist(t, r, h, "x:four", "z:two")
		want(t, r, []string{"a__z"}, []string{"x changed: description" + strings.Replace(wasX, "one", "three", 1)})
		all := []registry.FreshPins{
			{Tools: []string{"x", "y"}}, {Tools: []string{"x"}, ByUser: true}, {Tools: []string{"x", "y", "z"}, ByUser: true},
		}
		if diff := cmp.Diff(all, theirs.fresh); diff != "" {
			t.Errorf("fresh (-want +got):\n%s", diff)
		}
	})
}

func TestPinsSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryPins{}
		h := &harbour{}
		first := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		relist(t, first, h, "x:one", "y:")
		if diff := cmp.Diff([]string{"https://a.example/mcp"}, store.keys()); diff != "" {
			t.Errorf("keys (-want +got):\n%s", diff)
		}
		_ = first.Close()

		second := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		relist(t, second, h, "x:two", "y:", "n:")
		want(t, second, []string{"a__y", "a__n"}, []string{"x changed: description"}) // what it was is not known any more
		if err := second.ApproveTools("a"); err != nil {
			t.Fatal(err)
		}
		_ = second.Close()

		third := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		relist(t, third, h, "x:two", "y:", "n:")
		want(t, third, []string{"a__x", "a__y", "a__n"}, nil)
	})
}

func TestPinsBelongToOriginAndPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryPins{}
		h := &harbour{}
		r := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		relist(t, r, h, "x:one")
		for _, step := range []struct {
			url  string
			held int
		}{
			{"HTTPS://A.example:443/mcp?key=new#f", 1}, // the same endpoint
			{"https://a.example/other", 0},
			{"https://a.example:8443/mcp", 0},
			{"http://a.example/mcp", 0},
		} {
			if err := r.Update("a", registry.ServerConfig{URL: step.url}); err != nil {
				t.Fatal(err)
			}
			relist(t, r, h, "x:two")
			if held := r.Snapshot().Held; len(held) != step.held {
				t.Errorf("%s: held %v", step.url, held)
			}
		}
	})
}

// The lists of the old URL say nothing of the server at the new one, and must not be approved for it.
func TestListsOfAnEarlierURLAreNotReviewed(t *testing.T) {
	const before, after = "https://a.example/before", "https://a.example/after"
	synctest.Test(t, func(t *testing.T) {
		l := &library{harbour: &harbour{}, has: everything, answer: func(context.Context, registry.Request) (string, error) {
			return `{"prompts":[{"name":"p"}]}`, nil
		}}
		store := &memoryPins{}
		visit := func(url string, tools ...string) *registry.Registry {
			r := registry.New(&registry.Options{Pins: store, Connect: func(context.Context, string, registry.ServerConfig, registry.Notify) (registry.Session, error) {
				time.Sleep(time.Second) // no list comes before the looks after the update
				return l, nil
			}})
			if err := r.Add("a", registry.ServerConfig{URL: url}); err != nil {
				t.Fatal(err)
			}
			relist(t, r, l.harbour, tools...)
			return r
		}
		if err := visit(after, "x:one").Close(); err != nil {
			t.Fatal(err)
		}
		kept, _ := store.LoadPins(after)
		r := visit(before, "x:two", "y:two")
		defer r.Close()
		if _, err := r.Prompts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Update("a", registry.ServerConfig{URL: after, HoldNewTools: true}); err != nil {
			t.Fatal(err)
		}
		if now, _ := store.LoadPins(after); now != kept || kept == "" {
			t.Errorf("the approvals of the new URL were %q and are %q", kept, now)
		}
		if err := r.ApproveTools("a", "x"); !errors.Is(err, registry.ErrUnknownTool) {
			t.Errorf("approving before the first list: %v", err)
		}
		want(t, r, nil, nil)
		relist(t, r, l.harbour, "x:two", "y:two")
		want(t, r, nil, []string{"x changed: description", "y new"})
	})
}

func TestOneServerThatAsksCountsForItsEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := &harbour{}, &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": a, "b": b})
		for name, cfg := range map[string]registry.ServerConfig{
			"a": {URL: "https://a.example/mcp"},
			"b": {URL: "https://a.example/mcp?key=b", Trust: registry.AskAlways},
		} {
			if err := r.Update(name, cfg); err != nil {
				t.Fatal(err)
			}
		}
		a.list, b.list = pinnedPage(t, "x:one"), pinnedPage(t, "x:one")
		relist(t, r, a, "x:one")
		if diff := cmp.Diff([]string{"x new", "x new"}, said(r)); diff != "" {
			t.Errorf("held (-want +got):\n%s", diff)
		}
		if err := r.ApproveTools("a"); err != nil {
			t.Fatal(err)
		}
		relist(t, r, a, "x:one")
		if diff := cmp.Diff([]string{"a__x", "b__x"}, names(r)); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
	})
}

func TestARenamedServerKeepsWhatWasApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		harbours := map[string]*harbour{"a": h}
		r := chart(t, registry.Options{}, harbours)
		relist(t, r, h, "x:one", "y:")
		if err := r.Update("a", registry.ServerConfig{URL: "https://a.example/mcp", DenyTools: []string{"y"}, Headers: map[string]string{"K": "v"}}); err != nil {
			t.Fatal(err)
		}
		if err := r.Add("c", registry.ServerConfig{URL: "https://c.example", Disabled: true}); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"", "c", "a"} {
			if err := r.Rename(t.Context(), "a", to); !errors.Is(err, registry.ErrInvalidConfig) {
				t.Errorf("to %q: %v", to, err)
			}
		}
		synctest.Wait() // connections read the map
		harbours["b"] = h
		if err := r.Rename(t.Context(), "a", "b"); err != nil {
			t.Fatal(err)
		}
		if err := r.Rename(t.Context(), "a", "d"); !errors.Is(err, registry.ErrUnknownServer) {
			t.Errorf("a second time: %v", err)
		}
		relist(t, r, h, "x:one", "y:")
		if diff := cmp.Diff([]string{"b__x"}, names(r)); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
		if cfg, _ := r.Config("b"); cfg.Headers["K"] != "v" {
			t.Errorf("configuration: %+v", cfg)
		}
		relist(t, r, h, "x:two", "y:")
		if diff := cmp.Diff([]string{"x changed: description" + wasX}, said(r)); diff != "" {
			t.Errorf("held (-want +got):\n%s", diff)
		}
	})
}

func TestUnreadablePinsOfferNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{list: pinnedPage(t, "x:")}
		r := chart(t, registry.Options{Pins: &memoryPins{fail: errors.New("disk on fire")}}, map[string]*harbour{"a": h})
		if err := r.Discover(t.Context()); err == nil || !strings.Contains(err.Error(), "disk on fire") {
			t.Errorf("error %v", err)
		}
		if got := names(r); len(got) != 0 {
			t.Errorf("offered %v", got)
		}
	})
}

func TestPinsOfVanishedToolsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryPins{}
		h := &harbour{}
		r := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		for round := range 5 {
			var tools []string
			for i := range 900 {
				tools = append(tools, "t"+strconv.Itoa(round*1000+i)+":"+strconv.Itoa(round*1000+i))
			}
			relist(t, r, h, tools...)
		}
		if n := strings.Count(store.kept["https://a.example/mcp"], "\n"); n > 2000 {
			t.Errorf("%d pins are kept", n)
		}
	})
}

// manyTools returns tools with names of one round, each with a description of its own.
func manyTools(round, n int) (tools []string) {
	for i := range n {
		id := strconv.Itoa(round) + "_" + strconv.Itoa(i)
		tools = append(tools, "t"+id+":tool "+id)
	}
	return tools
}

func TestForgottenToolIsHeldWhenItComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryPins{}
		h := &harbour{}
		r := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		relist(t, r, h, "echo:one")
		for round := range 3 {
			time.Sleep(24 * time.Hour)
			relist(t, r, h, manyTools(round, 999)...)
		}
		if pins := store.kept["https://a.example/mcp"]; strings.Contains(pins, "echo\t") {
			t.Fatal("the pin was not forgotten")
		}
		relist(t, r, h, "echo:two")
		want(t, r, nil, []string{"echo changed"})
		_ = r.Close()

		again := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		relist(t, again, h, "echo:two")
		want(t, again, nil, []string{"echo changed"})
		if err := again.ApproveTools("a"); err != nil {
			t.Fatal(err)
		}
		want(t, again, []string{"a__echo"}, nil)
	})
}

func TestNewToolsOfADayAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryPins{}
		h := &harbour{}
		r := chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		counts := func(r *registry.Registry, offered, held int) {
			t.Helper()
			if s := r.Snapshot(); len(s.Tools) != offered || len(s.Held) != held {
				t.Errorf("%d offered, %d held; want %d and %d", len(s.Tools), len(s.Held), offered, held)
			}
		}
		relist(t, r, h, manyTools(0, 999)...)
		counts(r, 999, 0)
		relist(t, r, h, manyTools(1, 999)...)
		counts(r, 999, 0)
		relist(t, r, h, manyTools(2, 999)...)
		counts(r, 1, 998)
		_ = r.Close()

		r = chart(t, registry.Options{Pins: store}, map[string]*harbour{"a": h})
		relist(t, r, h, manyTools(3, 5)...)
		counts(r, 0, 5)
		time.Sleep(24 * time.Hour)
		relist(t, r, h, manyTools(3, 5)...)
		counts(r, 5, 0)
		for round := range 20 { // a server that does so every day
			time.Sleep(24 * time.Hour)
			relist(t, r, h, manyTools(round+4, 999)...)
		}
		counts(r, 0, 999)
		if n := len(store.kept["https://a.example/mcp"]); n > 1<<20 {
			t.Errorf("%d bytes are stored", n)
		}
	})
}

// A riskyDef is a definition that is held when it is new.
type riskyDef struct{ registry.Raw }

func (riskyDef) Risky(context.Context) bool { return true }

func TestSuspectNewTools(t *testing.T) {
	for _, row := range []struct {
		name          string
		before, after []string
		held          []string
	}{
		{"renamed and changed", []string{"x:one"}, []string{"z:two"}, []string{"z renamed from x: name description" + wasX}},
		{"no tool is gone", []string{"x:one"}, []string{"x:one", "z:two"}, nil},
		{"risky", []string{"x:one"}, []string{"x:one", "risky:two"}, []string{"risky new"}},
		{"risky from the start", []string{"risky:one"}, []string{"risky:one", "x:two"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &harbour{}
				r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
				for _, tools := range [][]string{row.before, row.after} {
					page, _ := pinnedPage(t, tools...)(t.Context(), nil)
					for i, d := range page.Tools {
						if d.Name == "risky" {
							page.Tools[i].Def = riskyDef{d.Def.(registry.Raw)}
						}
					}
					h.list = func(context.Context, *string) (*registry.ToolPage, error) { return page, nil }
					if err := r.Discover(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(row.held, said(r)); diff != "" {
					t.Errorf("held (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestARenamedToolThatComesBackIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		relist(t, r, h, "x:one")
		relist(t, r, h, "z:one")
		if err := r.ApproveTools("a"); err != nil {
			t.Fatal(err)
		}
		relist(t, r, h, "x:two", "z:one")
		want(t, r, []string{"a__z"}, []string{"x changed"})
	})
}

func TestApprovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memoryPins{}
		var asked []string
		say := registry.Once
		opts := registry.Options{Pins: store, Approve: func(_ context.Context, q registry.ApprovalRequest) (registry.Approval, error) {
			asked = append(asked, q.Server+" "+q.Tool.RawName+" "+string(q.Arguments)+" "+strconv.FormatBool(q.Trusted))
			return say, nil
		}}
		h := &harbour{}
		r := chart(t, opts, map[string]*harbour{"a": h})
		relist(t, r, h, "x:one")
		call := func(answer registry.Approval, wantAsked bool, wantErr error) {
			t.Helper()
			say, asked = answer, nil
			_, err := r.Dispatch(t.Context(), registry.Call{Name: "a__x", Arguments: []byte(`{"k":1}`)})
			if !errors.Is(err, wantErr) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s: %v, want %v", answer, err, wantErr)
			}
			if diff := cmp.Diff(wantAsked, len(asked) == 1); diff != "" {
				t.Errorf("%s: asked %v", answer, asked)
			}
			if wantAsked && asked[0] != `a x {"k":1} false` {
				t.Errorf("asked %q", asked[0])
			}
		}
		call(registry.Once, true, nil)
		call(registry.Deny, true, registry.ErrDenied)
		call("nonsense", true, registry.ErrDenied)
		call(registry.Always, true, nil)
		call(registry.Deny, false, nil)
		relist(t, r, h, "x:two") // another tool now
		if err := r.ApproveTools("a"); err != nil {
			t.Fatal(err)
		}
		call(registry.Never, true, registry.ErrDenied)
		call(registry.Once, false, registry.ErrDenied)
		if n := h.seen().calls; n != 3 {
			t.Errorf("%d calls reached the server", n)
		}
		_ = r.Close()

		r = chart(t, opts, map[string]*harbour{"a": h})
		relist(t, r, h, "x:two")
		call(registry.Once, false, registry.ErrDenied)
		if err := r.ForgetApprovals(""); err != nil {
			t.Fatal(err)
		}
		call(registry.Once, true, nil)

		cfg, _ := r.Config("a")
		cfg.Trust = registry.TrustAll
		if err := r.Update("a", cfg); err != nil {
			t.Fatal(err)
		}
		call(registry.Deny, false, nil)
		cfg.Trust = registry.AskAlways
		if err := r.Update("a", cfg); err != nil {
			t.Fatal(err)
		}
		call(registry.Always, true, nil)
		call(registry.Always, true, nil)
	})
}

func TestApprovalTakesItsTime(t *testing.T) {
	eachWay(t, func(t *testing.T, w way) {
		synctest.Test(t, func(t *testing.T) {
			answer := make(chan registry.Approval)
			asked := make(chan struct{}, 1)
			h := &harbour{starts: w}
			r := chart(t, registry.Options{CallTimeout: 1, IdleTimeout: 1, Approve: func(ctx context.Context, _ registry.ApprovalRequest) (registry.Approval, error) {
				asked <- struct{}{}
				select {
				case a := <-answer:
					return a, nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}}, map[string]*harbour{"a": h})
			relist(t, r, h, "x:one")
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			call := func() {
				_, err := r.Dispatch(ctx, registry.Call{Name: "a__x", Timeout: 1 << 30})
				ended <- err
			}
			go call()
			<-asked
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("a call that is cancelled meanwhile: %v", err)
			}
			ctx = t.Context()
			go call()
			<-asked
			relist(t, r, h, "x:two") // the tool changes while the person thinks
			answer <- registry.Once
			if err := <-ended; !errors.Is(err, registry.ErrHeld) {
				t.Errorf("a call of a tool that changed meanwhile: %v", err)
			}
			if err := r.ApproveTools("a"); err != nil {
				t.Fatal(err)
			}
			go call()
			<-asked
			answer <- registry.Once
			if err := <-ended; err != nil {
				t.Errorf("an approved call: %v", err)
			}
			go call()
			<-asked
			go r.Close()
			if err := <-ended; !errors.Is(err, registry.ErrClosed) && !errors.Is(err, context.Canceled) {
				t.Errorf("a call when the registry is closed: %v", err)
			}
		})
	}, blocks, startsLater)
}

func TestAPanicOfTheHostDeniesTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		r := chart(t, registry.Options{Approve: func(context.Context, registry.ApprovalRequest) (registry.Approval, error) { panic("oops") }}, map[string]*harbour{"a": h})
		relist(t, r, h, "x:")
		if _, err := r.Dispatch(t.Context(), registry.Call{Name: "a__x"}); !errors.Is(err, registry.ErrDenied) || h.seen().calls != 0 {
			t.Errorf("%v, %d calls", err, h.seen().calls)
		}
	})
}

func TestReadResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := strings.Repeat("0123456789", 50) + "😀" + strings.Repeat("ä", 400)
		h := &harbour{call: func(context.Context, registry.ToolCall) (*registry.ToolOutput, error) {
			return &registry.ToolOutput{Result: registry.Raw(`{"content":[{"type":"text","text":"` + whole + `"}]}`)}, nil
		}}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		relist(t, r, h, "x:")
		handle := func() string {
			t.Helper()
			result, err := r.Dispatch(t.Context(), registry.Call{Name: "a__x"})
			if err != nil {
				t.Fatal(err)
			}
			if result.Origin != "https://a.example" {
				t.Errorf("origin %q", result.Origin)
			}
			text, cut, err := result.Text(300)
			_, rest, _ := strings.Cut(text, "; handle ")
			handle, rest, _ := strings.Cut(rest, ", offset ")
			offset, _, _ := strings.Cut(rest, "]")
			if err != nil || !cut || handle == "" || len(text) > 300 {
				t.Fatalf("text %q, %v, %v", text, cut, err)
			}
			at, err := strconv.Atoi(offset)
			if err != nil || whole[:at] != text[:at] {
				t.Errorf("the gap begins at %q in %q", offset, text)
			}
			return handle
		}
		first := handle()
		for _, row := range []struct{ offset, length, wantOffset, wantLength int }{
			{0, 0, 0, len("0123456789")*50 + 2 + 400}, {10, 5, 10, 5}, {499, 1, 499, 1}, {500, 1, 500, 2}, {501, 1, 502, 1}, {900, 10, 900, 2}, {9000, 10, 902, 0}, {-5, 3, 0, 3},
		} {
			part, err := r.ReadResult(first, row.offset, row.length)
			length := 0
			for _, c := range part.Text {
				if length++; c > 0xffff {
					length++
				}
			}
			if err != nil || part.Offset != row.wantOffset || length != row.wantLength || part.Total != 902 {
				t.Errorf("%+v: %+v, %v", row, part, err)
			}
		}
		second := handle()
		for range 49 {
			handle()
		}
		if _, err := r.ReadResult(first, 0, 0); !errors.Is(err, registry.ErrGone) {
			t.Errorf("the oldest: %v", err)
		}
		if _, err := r.ReadResult(second, 0, 0); err != nil {
			t.Errorf("the second: %v", err)
		}
	})
}

func TestNothingHiddenIsSaidUnasked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &harbour{}
		h.call = func(_ context.Context, call registry.ToolCall) (*registry.ToolOutput, error) {
			call.OnProgress(registry.Progress{Progress: 1, Message: "ste\u200bp\x1b[31m"})
			return nil, &registry.RPCError{Code: 1, Message: "bro\u202eken"}
		}
		r := chart(t, registry.Options{}, map[string]*harbour{"a": h})
		relist(t, r, h, "x:")
		var progress string
		_, err := r.Dispatch(t.Context(), registry.Call{Name: "a__x", OnProgress: func(p registry.Progress) { progress = p.Message }})
		if progress != "step" || err == nil || !strings.Contains(err.Error(), "broken") {
			t.Errorf("%+q, %+q", progress, err)
		}
		h.list = func(context.Context, *string) (*registry.ToolPage, error) {
			return nil, registry.Because(registry.ErrNetwork, "n\u2066o\x00")
		}
		_ = r.Discover(t.Context())
		if got := health(t, r, "a").LastError; !strings.HasSuffix(got, ": no") {
			t.Errorf("%+q", got)
		}
	})
}
