package registry_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
)

func TestLogs(t *testing.T) {
	l := &library{harbour: new(harbour), has: `{"tools":{},"logging":{}}`}
	l.answer = func(context.Context, registry.Request) (string, error) { return `{}`, nil }
	shelves(t, map[string]*library{"a": l}, registry.Limits{MessageBytes: 20}, func(t *testing.T, r *registry.Registry) {
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		var heard []string
		cancel := r.SubscribeLogs(func(e registry.LogEntry) { heard = append(heard, e.Text) })
		r.SubscribeLogs(func(registry.LogEntry) { panic("a fault of the listener") })
		say := func(level, text string) { l.say(registry.Notice{Log: &registry.LogEntry{Level: level, Text: text}}) }
		say("debug", "one")
		say("error", strings.Repeat("x", 100))
		l.say(registry.Notice{Dropped: 3})
		l.say(registry.Notice{Dropped: 4})
		cancel()
		say("info", "two")
		var all []string
		for _, e := range r.Logs("") {
			all = append(all, e.Level+" "+e.Text)
			if e.Dropped != 0 && e.Dropped != 7 {
				t.Errorf("%d dropped", e.Dropped)
			}
		}
		if d := cmp.Diff([]string{"debug one", "error xxxxxxxxxxxxxxxxx…", "warning ", "info two"}, all); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"one", "xxxxxxxxxxxxxxxxx…", "", ""}, heard); d != "" {
			t.Error(d)
		}
		if n := len(r.Logs("error", "a")); n != 1 || len(r.Logs("", "b")) != 0 {
			t.Errorf("%d errors", n)
		}
		for range 600 {
			say("info", "again")
		}
		if n := len(r.Logs("")); n != 500 {
			t.Errorf("%d entries are kept", n)
		}
		cfg, _ := r.Config("a")
		cfg.LogLevel = "warning"
		if err := r.Update("a", cfg); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		l.say(registry.Notice{Err: registry.ErrNetwork})
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := l.count("logging/setLevel"); n != 2 {
			t.Errorf("the level was set %d times, want after the change and on the new session", n)
		}
	})
}

// Entries of several servers are ordered by time.
func TestLogsOfSeveralServers(t *testing.T) {
	libraries := map[string]*library{}
	for _, name := range []string{"a", "b", "c"} {
		libraries[name] = &library{harbour: new(harbour), has: `{"tools":{},"logging":{}}`}
	}
	shelves(t, libraries, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		if err := r.Discover(t.Context()); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, name := range strings.Split("b a c c a b b a", " ") {
			time.Sleep(time.Second)
			level := []string{"error", "info"}[i%2]
			libraries[name].say(registry.Notice{Log: &registry.LogEntry{Level: level, Text: strconv.Itoa(i)}})
			if level == "error" && name != "c" {
				want = append(want, name+strconv.Itoa(i))
			}
		}
		var got []string
		for _, e := range r.Logs("error", "a", "b") {
			got = append(got, e.Server+e.Text)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
	})
}
