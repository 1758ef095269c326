//go:build !js

package registry_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/pin"
)

// A slowDef makes its pin when it is asked, in a millisecond.
type slowDef struct {
	registry.Raw
	made *atomic.Int64
}

func (d slowDef) Pin() string {
	time.Sleep(time.Millisecond)
	d.made.Add(1)
	digest, _ := pin.Of(d.Raw)
	return digest
}

// A longList is one of 150 tools whose pins are left to them.
type longList struct {
	description string // of its first tool
	made        atomic.Int64
}

func (l *longList) page(context.Context, *string) (*registry.ToolPage, error) {
	description := l.description
	p := &registry.ToolPage{Fingerprint: func(context.Context) string { return "print of " + description }}
	for i := range 150 {
		name := "t" + strconv.Itoa(i)
		def := registry.Raw(`{"name":"` + name + `","description":"` + description + `","inputSchema":{"type":"object"}}`)
		description = ""
		p.Tools = append(p.Tools, registry.ToolDef{Name: name, Def: slowDef{def, &l.made}})
	}
	description = l.description
	return p, nil
}

// discover lists again, with tools of that description.
func (l *longList) discover(t *testing.T, r *registry.Registry, description string) {
	t.Helper()
	l.description = description
	if err := r.Discover(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// settled waits until the registry does nothing more by itself, and forgets how many pins were made.
func (l *longList) settled() (made int64) {
	time.Sleep(2 * time.Second)
	synctest.Wait()
	return l.made.Swap(0)
}

func TestPinsOfALongList(t *testing.T) {
	begin := func(t *testing.T, pins registry.PinStore) (*registry.Registry, *longList) {
		l := &longList{}
		return chart(t, registry.Options{Pins: pins}, map[string]*harbour{"a": {list: l.page}}), l
	}
	offered := func(t *testing.T, r *registry.Registry, offered, held int) {
		t.Helper()
		if s := r.Snapshot(); len(s.Tools) != offered || len(s.Held) != held {
			t.Errorf("%d tools, %d held; want %d and %d", len(s.Tools), len(s.Held), offered, held)
		}
	}

	t.Run("are made once it is offered", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &memoryPins{}
			r, l := begin(t, store)
			l.discover(t, r, "one")
			offered(t, r, 150, 0)
			if made := l.made.Load(); made >= 150 {
				t.Errorf("%d pins were waited for", made)
			}
			if made := l.settled(); made != 150 || len(store.fresh) != 1 || len(store.fresh[0].Tools) != 150 {
				t.Errorf("%d pins, saved %v", made, store.fresh)
			}
			want, _ := pin.Of([]byte(`{"name":"t1","description":"","inputSchema":{"type":"object"}}`))
			if got := r.Snapshot().Tools[1].Pin; got != want {
				t.Errorf("pin %q, want %q", got, want)
			}
		})
	})
	t.Run("are known if it is as it was, after a restart too", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &memoryPins{}
			r, l := begin(t, store)
			l.discover(t, r, "one")
			l.settled()
			l.discover(t, r, "one")
			_ = r.Close()
			again, l2 := begin(t, store)
			l2.discover(t, again, "one")
			if made := l.settled() + l2.settled(); made != 0 {
				t.Errorf("%d pins were made", made)
			}
			if pin := again.Snapshot().Tools[149].Pin; pin == "" {
				t.Error("no pin")
			}
			l2.discover(t, again, "two")
			offered(t, again, 149, 1)
			if err := again.ApproveTools("a"); err != nil {
				t.Fatal(err)
			}
			l2.discover(t, again, "one")
			offered(t, again, 149, 1)
		})
	})
	t.Run("hold what changes before they are there", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, l := begin(t, nil)
			l.discover(t, r, "one")
			l.discover(t, r, "two")
			offered(t, r, 149, 1)
		})
	})
	t.Run("hold all of a server that becomes one to ask of", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, l := begin(t, nil)
			l.discover(t, r, "one")
			cfg, _ := r.Config("a")
			cfg.Trust = registry.AskAlways
			if err := r.Update("a", cfg); err != nil {
				t.Fatal(err)
			}
			l.settled()
			offered(t, r, 0, 150)
		})
	})
	t.Run("are saved by a close that comes before them", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := &memoryPins{}
			r, l := begin(t, store)
			l.discover(t, r, "one")
			_ = r.Close()
			if made := l.made.Load(); made != 150 || len(store.fresh) != 1 {
				t.Errorf("%d pins, saved %v", made, store.fresh)
			}
		})
	})
	t.Run("reach subscribers if the server is trusted, although none is saved", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, l := begin(t, nil)
			cfg, _ := r.Config("a")
			cfg.Trust = registry.TrustAll
			if err := r.Update("a", cfg); err != nil {
				t.Fatal(err)
			}
			l.discover(t, r, "one")
			var told atomic.Bool
			r.Subscribe(func(e registry.Event) {
				if e.Tools && r.Snapshot().Tools[149].Pin != "" {
					told.Store(true)
				}
			})
			if l.settled(); !told.Load() {
				t.Error("no event told of the pins")
			}
		})
	})
	t.Run("keep nobody from removing the server, or closing", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r, l := begin(t, nil)
			l.discover(t, r, "one")
			if err := r.Remove("a"); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_ = r.Close()
			if took := time.Since(began); took > time.Second {
				t.Errorf("closing took %v", took)
			}
			offered(t, r, 0, 0)
		})
	})
}

// A list that the limit has cut to nothing has pins to make, too, while the server gets another list.
func TestPinsOfAListThatIsCutToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &longList{}
		one := &harbour{}
		one.list = func(context.Context, *string) (*registry.ToolPage, error) { return one.page("x"), nil }
		r := chart(t, registry.Options{Limits: registry.Limits{Tools: 1}}, map[string]*harbour{"a": one, "b": {list: l.page}})
		if err := r.Discover(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if err := r.Retry("b"); err != nil { // its list is cut
			t.Fatal(err)
		}
		synctest.Wait()
		if err := r.Remove("a"); err != nil {
			t.Fatal(err)
		}
		if err := r.Update("b", registry.ServerConfig{URL: "https://b.example/other"}); err != nil {
			t.Fatal(err)
		}
		l.settled()
		if tools := names(r); len(tools) != 1 || tools[0] != "b__t0" {
			t.Errorf("%v", tools)
		}
	})
}
