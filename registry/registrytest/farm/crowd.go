package farm

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A CrowdOutcome is how a good server did beside hostile ones.
type CrowdOutcome struct {
	GoodMs []float64 `json:"goodMs"` // of each call
	Errors int       `json:"errors"`
	Error  string    `json:"error"`
}

// Crowd has all servers of the tasks and the good one in one registry. It calls the good one
// so many times, while the others are discovered and called again and again.
func Crowd(connect func(registry.Limits) registry.Connect, good string, bad []Task, calls int) (o CrowdOutcome) {
	r := registry.New(&registry.Options{Connect: connect(registry.Limits{})})
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	var users sync.WaitGroup
	defer users.Wait()
	defer cancel()
	fail := func(err error) {
		if err != nil {
			o.Errors++
			o.Error = err.Error()
		}
	}
	fail(r.Add("good", registry.ServerConfig{URL: good}))
	fail(r.Discover(ctx, "good"))
	rounds := make(chan struct{}, len(bad))
	for i, t := range bad {
		name := "bad" + strconv.Itoa(i)
		timeout := time.Duration(t.TimeoutMs) * time.Millisecond
		fail(r.Add(name, registry.ServerConfig{URL: t.Bad, Transport: t.Transport, Timeout: timeout}))
		users.Go(func() {
			for round := 0; ctx.Err() == nil; round++ {
				r.Discover(ctx, name)
				if tools := r.Tools(registry.Filter{Servers: []string{name}}); len(tools) > 0 {
					r.Dispatch(ctx, registry.Call{Name: tools[0].Name, Timeout: timeout})
				}
				if round == 0 {
					rounds <- struct{}{}
				}
				select {
				case <-time.After(50 * time.Millisecond):
				case <-ctx.Done():
				}
			}
		})
	}
	for used := 0; used < len(bad) || len(o.GoodMs) < calls; {
		began := time.Now()
		_, err := r.Dispatch(ctx, registry.Call{Name: "good__t"})
		fail(err)
		o.GoodMs = append(o.GoodMs, float64(time.Since(began).Microseconds())/1000)
		select {
		case <-rounds:
			used++
		case <-time.After(5 * time.Millisecond):
		}
	}
	return o
}

// Deadlines uses the servers of the tasks in turn, so many runs in all, some at once. It
// returns how long after its deadline each call of the API returned, in ms. Each run adds a
// server, discovers it, calls its first tool, gives such a call up, and removes the server.
func Deadlines(connect func(registry.Limits) registry.Connect, tasks []Task, timeout time.Duration) map[string][]float64 {
	const atOnce, patience = 5, 100 * time.Millisecond
	r := registry.New(&registry.Options{Connect: connect(registry.Limits{})})
	var mu sync.Mutex
	late := make(map[string][]float64)
	timed := func(what string, deadline time.Duration, work func()) {
		began := time.Now()
		work()
		mu.Lock()
		defer mu.Unlock()
		late[what] = append(late[what], float64((time.Since(began)-deadline).Microseconds())/1000)
	}
	var wg sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, t := range tasks {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			name := "bad" + strconv.Itoa(i)
			ctx := context.Background()
			r.Add(name, registry.ServerConfig{URL: t.Bad, Transport: t.Transport, Timeout: timeout})
			timed("discover", 2*timeout, func() { r.Discover(ctx, name) })
			if tools := r.Tools(registry.Filter{Servers: []string{name}}); len(tools) > 0 {
				timed("call", timeout, func() { r.Dispatch(ctx, registry.Call{Name: tools[0].Name, Timeout: timeout}) })
				timed("call, given up", patience, func() {
					ctx, cancel := context.WithTimeout(ctx, patience)
					defer cancel()
					r.Dispatch(ctx, registry.Call{Name: tools[0].Name, Timeout: time.Minute})
				})
			}
			timed("remove", 0, func() { r.Remove(name) })
		})
	}
	wg.Wait()
	timed("close", 0, func() { r.Close() })
	return late
}
