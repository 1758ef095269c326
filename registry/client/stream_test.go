//go:build !js

package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

func TestReconnectDelay(t *testing.T) {
	for _, row := range []struct {
		retry time.Duration
		stuck int
		want  time.Duration
	}{
		{-1, 0, time.Second}, {-1, -1, time.Second}, {-1, 3, 8 * time.Second}, {-1, 60, 30 * time.Second},
		{0, 0, 500 * time.Millisecond}, {700 * time.Millisecond, 4, 700 * time.Millisecond}, {time.Hour, 0, 30 * time.Second},
	} {
		if got := reconnectDelay(row.retry, row.stuck); got != row.want {
			t.Errorf("reconnectDelay(%v, %d) = %v, want %v", row.retry, row.stuck, got, row.want)
		}
	}
}

// closing answers every GET with an event stream that ends at once.
func closing(event string) registrytest.Step { return registrytest.Body("text/event-stream", event) }

// However a server ends the optional stream, it is not asked again and again.
func TestStreamBackoff(t *testing.T) {
	ids := 0
	for name, row := range map[string]struct {
		step registrytest.Step
		most int // GETs in an hour
	}{
		"empty":      {closing(": hi\n\n"), maxQuiet},
		"retry 1 ms": {closing("retry: 1\n\n"), maxQuiet},
		"fresh ids": {func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			ids++
			closing("retry: 1\nid: "+strings.Repeat("x", ids)+"\n\n")(w, req, m)
		}, 140},
		"500":     {registrytest.Status(500, ""), maxQuiet},
		"429":     {registrytest.Status(429, ""), maxQuiet},
		"405":     {registrytest.Status(405, ""), 1},
		"404":     {registrytest.Status(404, ""), 1},
		"HTML":    {registrytest.Body("text/html", "hello"), 1},
		"aborted": {registrytest.Abort, maxQuiet},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := (&registrytest.Script{Session: "s", ListChanged: true}).On("GET", row.step)
				b := newBench(t, s, Options{})
				session := b.connect(registry.ServerConfig{}, nil)
				time.Sleep(time.Hour)
				if n := len(s.Received("GET")); n == 0 || n > row.most {
					t.Errorf("%d GETs in an hour, want at most %d", n, row.most)
				}
				session.Close(t.Context())
			})
		})
	}
}

// A stream that brings too much is not opened again, unless it took its time.
func TestStreamOfTooMuch(t *testing.T) {
	for _, row := range []struct {
		after time.Duration
		gets  int // in a minute and a half
	}{{0, 1}, {30 * time.Second, 3}} {
		synctest.Test(t, func(t *testing.T) {
			s := (&registrytest.Script{Session: "s", ListChanged: true}).On("GET", func(w http.ResponseWriter, req *http.Request, _ registrytest.Message) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, ": hi\n\n")
				w.(http.Flusher).Flush()
				time.Sleep(row.after)
				io.WriteString(w, "data: "+strings.Repeat("x", 2000)+"\n\n")
			})
			b := newBench(t, s, Options{Limits: registry.Limits{EventBytes: 1000}})
			session := b.connect(registry.ServerConfig{}, nil)
			time.Sleep(90 * time.Second)
			if n := len(s.Received("GET")); n != row.gets {
				t.Errorf("%d GETs, want %d", n, row.gets)
			}
			session.Close(t.Context())
		})
	}
}

// A stream that has worked is tried again by the first answer after an outage, however long that was.
func TestStreamAfterAnOutage(t *testing.T) {
	for method, isModern := range map[string]bool{"GET": false, "subscriptions/listen": true} {
		for _, lasts := range []time.Duration{0, time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				s := &registrytest.Script{ListChanged: true, Modern: isModern}
				s.On(method, func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
					closing(": hi\n\n")(w, req, m)
					_ = http.NewResponseController(w).Flush()
					time.Sleep(lasts)
				})
				session := newBench(t, s, Options{}).connect(registry.ServerConfig{}, nil)
				time.Sleep(time.Second)
				s.On(method, registrytest.Status(503, ""))
				time.Sleep(time.Hour)
				before := len(s.Received(method))
				if before > maxQuiet+1 {
					t.Errorf("%s: %d streams in the outage", method, before)
				}
				s.On(method, registrytest.Silent)
				for range 2 {
					if _, err := session.CallTool(t.Context(), registry.ToolCall{Tool: "t"}); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Minute)
				}
				want := 0
				if lasts > 0 {
					want = 1
				}
				if n := len(s.Received(method)) - before; n != want {
					t.Errorf("%s that had lasted for %v: %d streams after the outage, want %d", method, lasts, n, want)
				}
				session.Close(t.Context())
			})
		}
	}
}

// The server may describe itself while requests and streams begin.
func TestInformedMeanwhile(t *testing.T) {
	for range 20 {
		hints := NewHints(map[string]Hint{testEndpoint: {Transport: "streamable-http", Version: modern, ListChanged: true}}, nil)
		b := newBench(t, &registrytest.Script{Modern: true, ListChanged: true}, Options{Hints: hints})
		s := b.connect(registry.ServerConfig{}, nil)
		var all sync.WaitGroup
		for _, work := range []func(){
			func() { _, _ = s.(registry.Offerer).Capabilities(b.ctx) },
			func() { _, _ = s.ListTools(b.ctx, nil) },
			func() { _, _ = s.CallTool(b.ctx, registry.ToolCall{Tool: "t"}) },
			func() { _, _ = s.(registry.Offerer).Follow(b.ctx, registry.Following{Prompts: true}) },
		} {
			all.Go(work)
		}
		all.Wait()
	}
}

// A stream that worked and is then refused with 404 has lost its session.
func TestStreamFindsSessionGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gets := 0
		s := (&registrytest.Script{Session: "s", ListChanged: true}).On("GET", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
			if gets++; gets == 1 {
				closing(": hi\n\n")(w, req, m)
				return
			}
			w.WriteHeader(404)
		})
		b := newBench(t, s, Options{})
		notices := make(chan registry.Notice, 9)
		session := b.connect(registry.ServerConfig{}, func(n registry.Notice) { notices <- n })
		if n := <-notices; !errors.Is(n.Err, registry.ErrSessionExpired) {
			t.Errorf("notice %+v", n)
		}
		if _, err := session.ListTools(t.Context(), nil); !errors.Is(err, registry.ErrSessionExpired) {
			t.Errorf("list: %v, want ErrSessionExpired", err)
		}
		session.Close(t.Context())
	})
}

// Streams never take more than two of an origin's six connections, and a place
// that becomes free is used.
func TestStreamBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		s := (&registrytest.Script{Session: "s", ListChanged: true}).On("GET", func(w http.ResponseWriter, req *http.Request, _ registrytest.Message) {
			most.Store(max(most.Load(), open.Add(1)))
			defer open.Add(-1)
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, ": hi\n\n")
			<-req.Context().Done()
		})
		b := newBench(t, s, Options{})
		var sessions []registry.Session
		var changes atomic.Int32 // that may have been missed by those that waited for a place
		for range 5 {
			sessions = append(sessions, b.connect(registry.ServerConfig{}, func(n registry.Notice) {
				if n.ToolsChanged {
					changes.Add(1)
				}
			}))
			time.Sleep(time.Second) // the first two have a place
		}
		time.Sleep(time.Minute)
		if n := most.Load(); n != 2 || changes.Load() != 0 {
			t.Errorf("%d streams at once, want 2; %d changes", n, changes.Load())
		}
		for i, session := range sessions {
			session.Close(t.Context())
			time.Sleep(time.Minute)
			if want := int32(min(2, len(sessions)-i-1)); open.Load() != want {
				t.Errorf("after %d closed: %d streams, want %d", i+1, open.Load(), want)
			}
			if want := len(s.Received("GET")) - 2; int(changes.Load()) != want {
				t.Errorf("after %d closed: %d changes, want %d", i+1, changes.Load(), want)
			}
		}
	})
}

func TestTooManyNeededStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, registrytest.NewServer(nil), Options{})
		cfg := registry.ServerConfig{URL: testOrigin + "/sse"}
		var sessions []registry.Session
		for range neededStreams {
			sessions = append(sessions, b.connect(cfg, nil))
		}
		if _, err := b.Connect(t.Context(), "a", cfg, nil); !errors.Is(err, registry.ErrNetwork) {
			t.Errorf("one more: %v, want ErrNetwork", err)
		}
		sessions[0].Close(t.Context())
		sessions[0] = b.connect(cfg, nil)
		for _, session := range sessions {
			session.Close(t.Context())
		}
	})
}

// A call whose stream breaks off is resumed from its last event, after the time
// that the server asked for, and not for ever.
func TestResume(t *testing.T) {
	const answer = `data: {"jsonrpc":"2.0","id":$id,"result":{"content":[]}}` + "\n\n"
	for _, row := range []struct {
		name  string
		first string
		then  []registrytest.Step // answers to the GETs, the last for ever
		want  error
		took  time.Duration
		gets  int
	}{
		{"as asked", "id: 1\nretry: 700\ndata:\n\n", []registrytest.Step{closing(answer)}, nil, 700 * time.Millisecond, 1},
		{"by default", "id: 1\ndata:\n\n", []registrytest.Step{closing(answer)}, nil, time.Second, 1},
		{"again with news", "id: 1\nretry: 500\n\n", []registrytest.Step{closing("id: 2\nretry: 500\n\n"), closing(answer)}, nil, time.Second, 2},
		{"no news", "id: 1\nretry: 500\n\n", []registrytest.Step{closing("retry: 500\n\n")}, registry.ErrNetwork, 3 * time.Second, maxStuck + 1},
		{"refused", "id: 1\nretry: 500\n\n", []registrytest.Step{registrytest.Status(405, "")}, registry.ErrNetwork, 500 * time.Millisecond, 1},
		{"a fault passes", "id: 1\nretry: 500\n\n", []registrytest.Step{registrytest.Status(503, ""), closing(answer)}, nil, 2500 * time.Millisecond, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var call registrytest.Message
				s := (&registrytest.Script{Session: "s"}).On("tools/call", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
					call = m
					closing(row.first)(w, req, m)
				})
				gets := 0
				s.On("GET", func(w http.ResponseWriter, req *http.Request, m registrytest.Message) {
					step := row.then[min(gets, len(row.then)-1)]
					gets++
					m.ID = call.ID
					step(w, req, m)
				})
				b := newBench(t, s, Options{})
				session := b.connect(registry.ServerConfig{}, nil)
				began := time.Now()
				_, err := session.CallTool(t.Context(), registry.ToolCall{Tool: "t"})
				if !errors.Is(err, row.want) {
					t.Errorf("error %v, want %v", err, row.want)
				}
				if took := time.Since(began); took != row.took || gets != row.gets {
					t.Errorf("%d GETs in %v, want %d in %v", gets, took, row.gets, row.took)
				}
				if n := len(s.Received("tools/call")); n != 1 {
					t.Errorf("the call was sent %d times", n)
				}
				session.Close(t.Context())
			})
		})
	}
}

// After Close nothing is held: no exchange, no table, and (synctest sees to it) no goroutine.
func TestCloseFreesEverything(t *testing.T) {
	real := registrytest.NewServer(nil)
	script := func(s *registrytest.Script) *registrytest.Script {
		return s.On("tools/call", registrytest.Silent).On("GET", registrytest.Silent).On("DELETE", registrytest.Silent)
	}
	for name, server := range map[string]http.Handler{
		"/mcp":      script(&registrytest.Script{Session: "s", ListChanged: true}),
		"/mcp2026":  script(&registrytest.Script{Modern: true, ListChanged: true}),
		"/sse":      real,
		"/sse/gone": http.NotFoundHandler(),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := registrytest.NewNet(t)
				net.Handle(testOrigin, server)
				p := NewPlatform(t, net)
				s, err := New(p, nil).Connect(t.Context(), "a", registry.ServerConfig{URL: testOrigin + name}, nil)
				if err == nil {
					use(t, s)
				}
				synctest.Wait()
				if tables, exchanges := p.Held(); tables != 0 || exchanges != 0 {
					t.Errorf("%d tables and %d exchanges are held", tables, exchanges)
				}
			})
		})
	}
}

// use lists, leaves a call open, and closes.
func use(t *testing.T, s registry.Session) {
	page, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	if s.Info().Transport != "sse" {
		go func() {
			_, err := s.CallTool(t.Context(), registry.ToolCall{Tool: "t"})
			failed <- err
		}()
	} else {
		failed <- errClosed
	}
	time.Sleep(time.Minute)
	s.Close(t.Context())
	if err := <-failed; !errors.Is(err, errClosed) {
		t.Errorf("the open call: %v, want %v", err, errClosed)
	}
	page.Release()
}
