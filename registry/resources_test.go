//go:build !js

// A page keeps approvals itself; e2e/web/skills.test.ts tests that, and what the page verifies.

package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/portolan-mcp/portolan/registry"
)

const skilled = `{"tools":{},"resources":{"listChanged":true},"extensions":{"io.modelcontextprotocol/skills":{"listChanged":true}}}`

func TestSkillsAreListed(t *testing.T) {
	long := strings.Repeat("x", 300<<10) // more than a tool's definition may have
	l := &library{harbour: new(harbour), has: skilled}
	lists := 0
	ttl := `0`
	l.answer = func(_ context.Context, req registry.Request) (string, error) {
		if string(req.Params) == "{}" {
			lists++
			return `{"skills":[{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a"}},7,{"uri":"skill://h\u200b/SKILL.md"}],"nextCursor":"2","ttlMs":` + ttl + `}`, nil
		}
		return `{"skills":[{"uri":"skill://b/SKILL.md","x":"` + long + `"},{"uri":"skill://c/SKILL.md","x":"` + long + long + long + long + `"},{"uri":"skill://a/SKILL.md"}],"ttlMs":` + ttl + `}`, nil
	}
	none := &library{harbour: new(harbour), has: everything}
	off := &library{harbour: new(harbour), has: `{"extensions":{"io.modelcontextprotocol/skills":false}}`}
	shelves(t, map[string]*library{"a": l, "none": none, "off": off}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		list := func(wantLists int) {
			t.Helper()
			offers, err := r.Skills(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{"a skill://a/SKILL.md", "a skill://b/SKILL.md"}, keys(offers)); d != "" {
				t.Error(d)
			}
			if lists != wantLists {
				t.Errorf("%d lists, want %d", lists, wantLists)
			}
		}
		began := time.Now()
		list(1)
		list(1) // no server says that its skills changed: a list without a time to live has a second
		time.Sleep(time.Second)
		ttl = `60000`
		list(2)
		time.Sleep(59 * time.Second)
		list(2)
		time.Sleep(time.Second)
		list(3)
		if took := time.Since(began); took > 62*time.Second {
			t.Errorf("lists waited: %v", took)
		}
		if h, _ := r.Health("a"); len(h.Warnings) != 3 {
			t.Errorf("warnings %q", h.Warnings)
		}
		if n := none.count("skills/list") + off.count("skills/list"); n != 0 {
			t.Errorf("servers without the extension were asked %d times", n)
		}
		synctest.Wait()
		if len(l.followed) != 0 {
			t.Errorf("followed %v: the extension has no list_changed", l.followed)
		}
	})
}

func TestAskSkill(t *testing.T) {
	l := &library{harbour: new(harbour), has: skilled}
	l.answer = func(_ context.Context, req registry.Request) (string, error) {
		if strings.Contains(string(req.Params), "none") {
			return "", &registry.RPCError{Code: -32602, Message: "no such skill"}
		}
		return `{"asked":"` + req.Method + `"}`, nil
	}
	directories := &library{harbour: new(harbour), has: strings.Replace(skilled, `"listChanged":true}}`, `"directoryRead":true}}`, 1), answer: l.answer}
	none := &library{harbour: new(harbour), has: everything}
	shelves(t, map[string]*library{"a": l, "d": directories, "none": none}, registry.Limits{}, func(t *testing.T, r *registry.Registry) {
		for _, c := range []struct {
			server, uri string
			directory   bool
			want        string
		}{
			{"a", "skill://a/SKILL.md", false, `{"asked":"skills/get"}`},
			{"a", "skill://a", true, registry.ErrUnsupported.Error()},
			{"d", "skill://a", true, `{"asked":"resources/directory/read"}`},
			{"a", "skill://none/SKILL.md", false, "no such skill"},
			{"none", "skill://a/SKILL.md", false, registry.ErrUnsupported.Error()},
			{"nobody", "skill://a/SKILL.md", false, registry.ErrUnknownServer.Error()},
		} {
			result, err := r.AskSkill(t.Context(), c.server, fmt.Appendf(nil, `{"uri":%q}`, c.uri), c.directory)
			got := fmt.Sprint(err)
			if err == nil {
				text, _ := result.Payload.JSON()
				got = string(text)
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%v: %s", c, got)
			}
			if strings.Contains(c.uri, "none") && (!errors.Is(err, registry.ErrUnknownSkill) || registry.Explain(err).Code != "unknown_skill") {
				t.Errorf("an unknown skill: %v", err)
			}
		}
	})
}

func TestChangedSkillsAreHeld(t *testing.T) {
	pins := &memoryPins{}
	const a, b = "skill://a/SKILL.md", "skill://b/SKILL.md"
	visit := func(config registry.ServerConfig, approve bool, skills []string, want ...string) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			l := &library{harbour: new(harbour), has: skilled, answer: func(context.Context, registry.Request) (string, error) { return `{"skills":[]}`, nil }}
			r := registry.New(&registry.Options{Pins: pins, Connect: func(_ context.Context, _ string, _ registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
				l.harbour.notify = notify
				return l, nil
			}})
			config.URL = "https://a.example/mcp"
			if err := r.Add("a", config); err != nil {
				t.Fatal(err)
			}
			if _, err := r.Skills(t.Context()); err != nil { // it loads the approvals
				t.Fatal(err)
			}
			got, err := r.ReviewSkills("a", approve, skills...)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%q, %v, want %q", got, err, want)
			}
			if _, err := r.ReviewSkills("nobody", false); !errors.Is(err, registry.ErrUnknownServer) {
				t.Error(err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	ask := registry.ServerConfig{}
	visit(ask, false, []string{a, "1", b, "1"}, "", "")
	visit(ask, false, []string{a, "2", b, "1"}, "changed", "")
	visit(registry.ServerConfig{Trust: registry.TrustAll}, false, []string{a, "2"}, "")
	visit(ask, false, []string{a, "1", b, "1", "skill://c/SKILL.md", "1"}, "", "", "")
	visit(ask, true, []string{a, "2"}, "")
	visit(ask, false, []string{a, "2", b, "1", a, "1"}, "", "", "changed")
	visit(registry.ServerConfig{HoldNewTools: true}, false, []string{b, "1", "skill://d/SKILL.md", "1", "odd"}, "", "new")
	pins.kept = nil
	visit(registry.ServerConfig{Trust: registry.AskAlways}, false, []string{a, "1"}, "new")
	// Prompts do not count: the first list of skills is the first one.
	pins.kept = nil
	visit(registry.ServerConfig{HoldNewTools: true}, false, []string{a, "1"}, "")
}
