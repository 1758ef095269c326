//go:build !js

package client

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

var update = flag.Bool("update", false, "write the first requests for TypeScript")

// A recorder is a platform that answers nothing.
type recorder struct {
	nowhere
	started chan *Exchange
}

func (r *recorder) Start(x *Exchange) {
	select {
	case r.started <- x:
	default:
	}
}

// firstRequest writes the first request to a server of that hint for wasm/js/fetch/early.ts.
func firstRequest(t *testing.T, name string, hint Hint) string {
	record := func(elicit, elicitURL registry.Elicit) *Exchange {
		const url = "https://a.example/mcp"
		r := &recorder{started: make(chan *Exchange, 1)}
		c := New(r, &Options{
			ClientName: "portolan", ClientVersion: "{version}", Elicit: elicit, ElicitURL: elicitURL, Early: []string{url},
			Hints: NewHints(map[string]Hint{url: hint}, nil),
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = c.Connect(ctx, "a", registry.ServerConfig{URL: url}, nil)
		}()
		x := <-r.started
		cancel()
		<-ended
		if x.Method != "POST" || x.URL != url || x.ID != opStep || x.Awaits != opStep || x.Once {
			t.Fatalf("not a first request: %+v", x)
		}
		return x
	}
	answers := func(context.Context, string, []byte) ([]byte, error) { return nil, nil }
	var x *Exchange
	var body, variants string
	for _, host := range [][2]registry.Elicit{{nil, nil}, {answers, nil}, {nil, answers}, {answers, answers}} {
		x = record(host[0], host[1])
		given := rawjson.Get(rawjson.Get(x.Body, "params"), "capabilities")
		if given == nil {
			given = rawjson.Get(rawjson.Get(rawjson.Get(x.Body, "params"), "_meta"), "io.modelcontextprotocol/clientCapabilities")
		}
		template := strings.Replace(strings.Replace(string(x.Body), `"id":4,`, `"id":{id},`, 1), string(given), "{capabilities}", 1)
		if body != "" && template != body {
			t.Fatalf("%s differs from %s", template, body)
		}
		body = template
		variants += fmt.Sprintf("      '%s',\n", given)
	}
	text := "  " + name + ": {\n    headers: [\n"
	for i := 0; i < len(x.Header); i += 2 {
		text += fmt.Sprintf("      ['%s', '%s'],\n", x.Header[i], x.Header[i+1])
	}
	return text + fmt.Sprintf("    ],\n    body:\n      '%s',\n    capabilities: [\n%s    ],\n  },\n", body, variants)
}

func TestFirstRequestsOfTypeScript(t *testing.T) {
	want := "// Written by registry/client/first_test.go with -update.\n\n" +
		"/**\n * The first request to a server of an unknown era, and to one of a version until 2025-11-25. The capabilities are those\n" +
		" * of a host that answers no questions, forms, addresses, or both.\n */\n" +
		"export const firstRequests = {\n" +
		firstRequest(t, "unknown", Hint{}) +
		firstRequest(t, "legacy", Hint{Transport: "streamable-http", Version: legacy}) +
		"}\n"
	const file = "../../wasm/js/fetch/first.gen.ts"
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("stale, run with -update (-want +got):\n%s", diff)
	}
}
