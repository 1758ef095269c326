package farm_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/registrytest/farm"
)

func connect(limits registry.Limits) registry.Connect {
	return client.New(nethttp.New(nil), &client.Options{Limits: limits}).Connect
}

// atOnce is how many servers are visited at the same time: most of it is waiting.
const atOnce = 10

func TestHostileServers(t *testing.T) {
	f, err := farm.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cases := slices.DeleteFunc(farm.Cases(), func(c farm.Case) bool { return leftOut.MatchString(c.Name) })
	problems := make([][]string, len(cases))
	var wg sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, c := range cases {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			task := f.Task(c, "go")
			task.TimeoutMs *= slowness
			problems[i] = f.Judge(c.Name, "go", farm.Visit(connect, task))
		})
	}
	wg.Wait()
	passed := 0
	for i, c := range cases {
		if len(problems[i]) == 0 {
			passed++
			continue
		}
		t.Run(c.Area+": "+c.Name, func(t *testing.T) {
			for _, p := range problems[i] {
				t.Error(p)
			}
		})
	}
	t.Logf("%d of %d", passed, len(cases))
}
