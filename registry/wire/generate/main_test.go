package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/portolan-mcp/portolan/registry/wire"
)

func TestGeneratedFilesAreFresh(t *testing.T) {
	for name, want := range map[string][]byte{output: typescript(), goOutput: keywords()} {
		got, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: run go generate ./registry/wire (-want +got):\n%s", name, diff)
		}
	}
}

// TestPublishedTypes holds the words of types.ts to the tables. The file is published as
// it is and imports no generated one.
func TestPublishedTypes(t *testing.T) {
	b, err := os.ReadFile("../../../wasm/js/shared/types.ts")
	if err != nil {
		t.Fatal(err)
	}
	types := string(b)
	union := func(words []string) string { return "'" + strings.Join(words, "' | '") + "'" }
	for _, want := range []string{
		"status: " + union(wire.ServerStatuses[:]) + "\n",
		"status: " + union(wire.RegistryStatuses[:]) + "\n",
	} {
		if !strings.Contains(types, want) {
			t.Errorf("types.ts lacks %s", want)
		}
	}
	for _, field := range wire.ConfigFields {
		if !strings.Contains(types, "\n  "+field+": ") && !strings.Contains(types, "\n  "+field+"?: ") {
			t.Errorf("types.ts lacks the field %s", field)
		}
	}
}
