// Command validate reads cases {"schema":…,"args":…}, one JSON text a line, and
// writes for each, as a JSON string, what registry.Validate finds; "" for
// nothing. wasm/js/page/validate.test.ts compares that with the TypeScript check:
//
//	go run ./testdata/validate <cases >findings
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
		var c struct{ Schema, Args json.RawMessage }
		if err := in.Decode(&c); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		finding := ""
		if err := registry.Validate(c.Schema, c.Args); err != nil {
			finding = err.Error()
		}
		if err := out.Encode(finding); err != nil {
			log.Fatal(err)
		}
	}
}
