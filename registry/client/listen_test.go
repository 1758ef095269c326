//go:build !js

package client_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// A server that ends its stream at once, asking to be called back in a
// millisecond, is called back a few times at a walking pace.
func TestReconnectsAreBounded(t *testing.T) {
	for name, s := range map[string]*registrytest.Script{
		"GET": (&registrytest.Script{ListChanged: true}).
			On("GET", registrytest.Body("text/event-stream", "retry: 1\nid: 1\ndata:\n\n")),
		"subscriptions/listen": (&registrytest.Script{ListChanged: true, Modern: true}).
			On("subscriptions/listen", registrytest.Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}\n\n")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
				session, err := c.Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
				if n := len(s.Received(name)); n < 2 || n > 10 {
					t.Errorf("%d streams in ten seconds", n)
				}
				time.Sleep(time.Hour)
				if n := len(s.Received(name)); n > 10 {
					t.Errorf("%d streams in an hour", n)
				}
				if _, err := session.ListTools(t.Context(), nil); err != nil {
					t.Error(err)
				}
				session.Close(t.Context())
			})
		})
	}
}

func TestStreamsResumeWhereTheyEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &registrytest.Script{ListChanged: true}
		s.On("GET", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			registrytest.Body("text/event-stream", "id: e7\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")(w, req, m)
			if m.Header.Get("Last-Event-Id") != "" {
				registrytest.Silent(w, req, m)
			}
		})
		changes := 0
		session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).
			Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, func(n registry.Notice) { changes++ })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		streams := s.Received("GET")
		if len(streams) != 2 || streams[1].Header.Get("Last-Event-Id") != "e7" {
			t.Errorf("%d streams, the last from %q", len(streams), streams[len(streams)-1].Header.Get("Last-Event-Id"))
		}
		session.Close(t.Context())
		synctest.Wait()
		if changes != 2 {
			t.Errorf("%d changes, want 2", changes)
		}
	})
}

// Each ping costs a POST in return, so they are worth more than notifications.
func TestFloodsOfRequestsAreBounded(t *testing.T) {
	s := new(registrytest.Script)
	s.On("tools/call", registrytest.Body("text/event-stream",
		strings.Repeat("data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}\n\n", 10000)+"data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{}}\n\n"))
	c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
	session, err := c.Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.CallTool(t.Context(), registry.ToolCall{Tool: "t"}); err != nil {
		t.Error(err)
	}
	session.Close(t.Context())
	if n := len(s.Received("")); n > 100 {
		t.Errorf("%d pings were answered", n)
	}
}

// Over HTTP/1.1 a browser has six connections to an origin.
func TestStreamsOfOneOriginAreFew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&registrytest.Script{ListChanged: true}).On("GET", registrytest.Then(registrytest.Body("text/event-stream", ": open\n\n"), registrytest.Silent))
		c := client.New(client.NewPlatform(t, newNet(t, s)), nil)
		var sessions []registry.Session
		for _, path := range []string{"/a", "/b", "/c", "/d"} {
			session, err := c.Connect(t.Context(), path, registry.ServerConfig{URL: "https://server.example" + path}, nil)
			if err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, session)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(s.Received("GET")); n != 2 {
			t.Errorf("%d streams to one origin, want 2", n)
		}
		for _, session := range sessions {
			session.Close(t.Context())
		}
	})
}

// Nothing is left of a session that was closed: synctest fails if a goroutine is.
func TestCloseLeavesNothing(t *testing.T) {
	for name, cfg := range map[string]registry.ServerConfig{
		"streamable": {URL: "https://server.example/mcp"},
		"legacy":     {URL: "https://server.example/sse", Transport: "sse"},
	} {
		t.Run(name, func(t *testing.T) {
			s := registrytest.NewServer(nil)
			synctest.Test(t, func(t *testing.T) {
				session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).Connect(t.Context(), "a", cfg, nil)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := session.CallTool(t.Context(), registry.ToolCall{Tool: "echo"}); err != nil {
					t.Error(err)
				}
				if err := session.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// acknowledging opens a listen stream that reports what it was asked for.
func acknowledging(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
	var asked struct{ Notifications json.RawMessage }
	_ = json.Unmarshal(m.Params, &asked)
	registrytest.Body("text/event-stream", `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":`+
		string(asked.Notifications)+"}}\n\n")(w, req, m)
	registrytest.Silent(w, req, m)
}

// A new subscription does not wait until a stream that failed is opened again.
func TestASubscriptionWakesAStream(t *testing.T) {
	// After 130 s the stream waits for the last time.
	for _, slept := range []time.Duration{20 * time.Second, 130 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := (&registrytest.Script{ListChanged: true, Modern: true}).On("subscriptions/listen", registrytest.Status(500, ""))
			session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).
				Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(slept)
			before := len(s.Received("subscriptions/listen"))
			s.On("subscriptions/listen", acknowledging)
			began := time.Now()
			if _, err := session.(registry.Offerer).Follow(t.Context(), registry.Following{URIs: []string{"a:1"}}); err != nil {
				t.Error(err)
			}
			if waited := time.Since(began); waited > time.Second || len(s.Received("subscriptions/listen")) != before+1 {
				t.Errorf("%v, %d streams", waited, len(s.Received("subscriptions/listen"))-before)
			}
			session.Close(t.Context())
		})
	}
}

// Without a network nobody has refused anything. When it is back, the same is asked for again.
func TestASubscriptionWithoutANetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&registrytest.Script{ListChanged: true, Modern: true}).On("subscriptions/listen", acknowledging)
		net := newNet(t, s)
		session, err := client.New(client.NewPlatform(t, net), nil).
			Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
		if err != nil {
			t.Fatal(err)
		}
		net.Handle("https://server.example", nil)
		wanted := registry.Following{URIs: []string{"a:1"}}
		for range 2 { // the second time the stream has given up
			if _, err := session.(registry.Offerer).Follow(t.Context(), wanted); !errors.Is(err, registry.ErrNetwork) {
				t.Errorf("%v, want ErrNetwork", err)
			}
			time.Sleep(time.Hour)
		}
		net.Handle("https://server.example", s)
		if _, err := session.(registry.Offerer).Follow(t.Context(), wanted); err != nil {
			t.Error(err)
		}
		session.Close(t.Context())
	})
}

// A change may be missed between two streams. What was listed or is watched counts as changed when a stream is open again.
func TestChangesAfterAStreamThatEnded(t *testing.T) {
	for method, isModern := range map[string]bool{"GET": false, "subscriptions/listen": true} {
		synctest.Test(t, func(t *testing.T) {
			s := &registrytest.Script{ListChanged: true, Modern: isModern}
			breaks := make(chan struct{})
			s.On("resources/subscribe", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) { registrytest.Reply(w, m, "{}") })
			s.On(method, func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
				ctx, end := context.WithCancel(req.Context())
				defer end()
				go func() {
					select {
					case <-breaks:
						end()
					case <-ctx.Done():
					}
				}()
				if isModern {
					acknowledging(w, req.WithContext(ctx), m)
				} else {
					registrytest.Then(registrytest.Body("text/event-stream", ": open\n\n"), registrytest.Silent)(w, req.WithContext(ctx), m)
				}
			})
			changed := map[string]int{}
			session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).
				Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, func(n registry.Notice) {
					changed[cmp.Or(n.Updated, fmt.Sprint(n.ToolsChanged, n.PromptsChanged, n.ResourcesChanged))]++
				})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := session.ListTools(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			if _, err := session.(registry.Offerer).Follow(t.Context(), registry.Following{Prompts: true, Resources: true, URIs: []string{"a:1"}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if len(changed) > 0 {
				t.Errorf("%s: %v before a stream ended", method, changed)
			}
			for range 2 {
				clear(changed)
				breaks <- struct{}{}
				time.Sleep(time.Minute)
				synctest.Wait()
				want := map[string]int{"true false false": 1, "false true false": 1, "false false true": 1, "a:1": 1}
				if !maps.Equal(changed, want) {
					t.Errorf("%s: %v after a stream ended, want %v", method, changed, want)
				}
			}
			session.Close(t.Context())
		})
	}
}

// Until 2025-11-25 a server may agree before the stream is open on which it reports updates.
func TestAnUpdateBeforeTheFirstStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &registrytest.Script{ListChanged: true}
		agreed := make(chan struct{})
		s.On("resources/subscribe", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) { registrytest.Reply(w, m, "{}") })
		s.On("GET", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			<-agreed
			registrytest.Then(registrytest.Body("text/event-stream", ": open\n\n"), registrytest.Silent)(w, req, m)
		})
		var notices []registry.Notice
		session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).
			Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, func(n registry.Notice) { notices = append(notices, n) })
		if err != nil {
			t.Fatal(err)
		}
		what := registry.Following{Prompts: true, Resources: true, URIs: []string{"a:1"}}
		if _, err := session.(registry.Offerer).Follow(t.Context(), what); err != nil {
			t.Fatal(err)
		}
		close(agreed) // and the resource has changed: nobody hears of it
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []registry.Notice{{Updated: "a:1"}}; !reflect.DeepEqual(notices, want) {
			t.Errorf("%+v, want %+v", notices, want)
		}
		session.Close(t.Context())
	})
}

// A multiplexed platform has no bound on streams, as over HTTP/2.
type multiplexed struct{ client.Platform }

func (multiplexed) Multiplexed(string) bool { return true }

// A new subscription is another stream (2026-07-28). The one before it reports changes until the server has agreed.
func TestChangesWhileAStreamIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &registrytest.Script{ListChanged: true, Modern: true}
		asked, said := make(chan struct{}), make(chan struct{})
		var open, changes atomic.Int32
		s.On("subscriptions/listen", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			if len(s.Received("subscriptions/listen")) > 1 {
				close(asked)
				<-said
			} else {
				ctx := req.Context()
				go func() {
					select {
					case <-asked:
						registrytest.Body("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")(w, req, m)
						time.Sleep(time.Second) // it is on its way
					case <-ctx.Done():
						<-asked
					}
					close(said)
				}()
			}
			open.Add(1)
			acknowledging(w, req, m)
			open.Add(-1)
		})
		session, err := client.New(multiplexed{client.NewPlatform(t, newNet(t, s))}, nil).
			Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, func(registry.Notice) { changes.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := session.(registry.Offerer).Follow(t.Context(), registry.Following{URIs: []string{"a:1"}}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if changes.Load() != 1 || open.Load() != 1 {
			t.Errorf("%d changes, %d open streams", changes.Load(), open.Load())
		}
		session.Close(t.Context())
	})
}

// A server that allows one stream at a time refuses the second one. It gets it once the first has ended.
func TestStreamsOfAServerThatAllowsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &registrytest.Script{ListChanged: true, Modern: true}
		var open atomic.Int32
		s.On("subscriptions/listen", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			if open.Load() > 0 {
				registrytest.Status(409, "")(w, req, m)
				return
			}
			open.Add(1)
			defer open.Add(-1)
			acknowledging(w, req, m)
		})
		session, err := client.New(multiplexed{client.NewPlatform(t, newNet(t, s))}, nil).
			Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		for _, uris := range [][]string{{"a:1"}, {"a:1", "a:2"}} {
			reported, err := session.(registry.Offerer).Follow(t.Context(), registry.Following{URIs: uris})
			if err != nil || !slices.Equal(reported, uris) {
				t.Errorf("%q, %v", reported, err)
			}
			time.Sleep(time.Minute)
		}
		session.Close(t.Context())
	})
}

// A server may refuse all because of one resource. It is left out, and the others are reported.
func TestRefusedResourcesLeaveTheOthers(t *testing.T) {
	for _, gone := range [][]string{{"a:1"}, {"a:2", "a:4"}, {"a:1", "a:2", "a:3"}, {"a:1", "a:2", "a:3", "a:4"}} {
		for _, isModern := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				refuse := func(w http.ResponseWriter, m registrytest.Message) bool {
					isGone := slices.ContainsFunc(gone, func(uri string) bool { return strings.Contains(string(m.Params), uri) })
					if isGone {
						registrytest.ReplyError(w, m, http.StatusOK, -32002, "gone")
					}
					return isGone
				}
				s := &registrytest.Script{Modern: isModern, ListChanged: true}
				s.On("GET", registrytest.Silent)
				s.On("subscriptions/listen", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
					if !refuse(w, m) {
						acknowledging(w, req, m)
					}
				})
				s.On("resources/subscribe", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
					if !refuse(w, m) {
						registrytest.Reply(w, m, "{}")
					}
				})
				session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).
					Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					all := []string{"a:1", "a:2", "a:3", "a:4"}
					reported, err := session.(registry.Offerer).Follow(t.Context(), registry.Following{URIs: all})
					for _, uri := range all {
						if err != nil || slices.Contains(reported, uri) == slices.Contains(gone, uri) {
							t.Errorf("modern %v, without %v: reported %v, %v", isModern, gone, reported, err)
						}
					}
				}
				if n := len(s.Received("subscriptions/listen")); n > 20 {
					t.Errorf("%d streams", n)
				}
				session.Close(t.Context())
			})
		}
	}
}

// Resources may go one after the other. Each time the others are reported by the next stream.
func TestResourcesGoOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &registrytest.Script{Modern: true}
		var gone []string
		var end context.CancelFunc
		open := ""
		s.On("subscriptions/listen", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			open = ""
			if slices.ContainsFunc(gone, func(uri string) bool { return strings.Contains(string(m.Params), uri) }) {
				registrytest.ReplyError(w, m, http.StatusOK, -32002, "gone")
				return
			}
			var ctx context.Context
			ctx, end = context.WithCancel(req.Context())
			open = string(m.Params)
			acknowledging(w, req.WithContext(ctx), m)
		})
		session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).
			Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := []string{"a:1", "a:2", "a:3", "a:4"}
		if _, err := session.(registry.Offerer).Follow(t.Context(), registry.Following{URIs: all}); err != nil {
			t.Fatal(err)
		}
		for _, uri := range []string{"a:2", "a:1", "a:4"} {
			gone = append(gone, uri)
			end()
			time.Sleep(time.Minute)
			synctest.Wait()
			for _, uri := range all {
				if strings.Contains(open, uri) == slices.Contains(gone, uri) {
					t.Errorf("without %v a stream is open for %s", gone, open)
				}
			}
		}
		// A server that agrees and then refuses is not asked for ever.
		s.On("subscriptions/listen", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			registrytest.Body("text/event-stream", `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["a:3"]}}}`+
				"\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32002,\"message\":\"gone\"}}\n\n")(w, req, m)
		})
		before := len(s.Received("subscriptions/listen"))
		end()
		time.Sleep(time.Hour)
		if n := len(s.Received("subscriptions/listen")) - before; n > 30 {
			t.Errorf("%d streams in an hour", n)
		}
		session.Close(t.Context())
	})
}

// A subscription that a server of the older versions refused is asked for again.
func TestRefusedSubscriptionIsAskedForAgain(t *testing.T) {
	s := new(registrytest.Script)
	s.On("resources/subscribe", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		registrytest.ReplyError(w, m, http.StatusOK, -32002, "unknown resource")
	})
	session, err := client.New(client.NewPlatform(t, newNet(t, s)), nil).
		Connect(t.Context(), "a", registry.ServerConfig{URL: endpoint}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		reported, err := session.(registry.Offerer).Follow(t.Context(), registry.Following{URIs: []string{"a:1"}})
		if err != nil || slices.Contains(reported, "a:1") {
			t.Errorf("%v, %v", reported, err)
		}
	}
	if n := len(s.Received("resources/subscribe")); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
	session.Close(t.Context())
}
