// Command hygiene reads JSON strings, one a line, and writes for each what
// registry.Clean makes of it, as [text, at]. wasm/js/fetch/hygiene.test.ts compares that
// with the TypeScript:
//
//	go run ./testdata/hygiene <texts >cleaned
package main

import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	"github.com/portolan-mcp/portolan/registry"
)

func main() {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var s string
		if err := in.Decode(&s); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		text, at := registry.Clean(s)
		if err := out.Encode([]any{text, at}); err != nil {
			log.Fatal(err)
		}
	}
}
