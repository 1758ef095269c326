package farm_test

import (
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/registrytest/farm"
	"github.com/portolan-mcp/portolan/registry/sdksession"
)

func connect(limits registry.Limits) registry.Connect {
	return sdksession.New(&sdksession.Options{Limits: limits}).Connect
}

func TestHostileServers(t *testing.T) {
	f, err := farm.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	for _, c := range farm.Cases() {
		t.Run(c.Area+": "+c.Name, func(t *testing.T) {
			t.Parallel()
			for _, problem := range f.Judge(c.Name, "go", farm.Visit(connect, f.Task(c, "go"))) {
				t.Error(problem)
			}
		})
	}
}
