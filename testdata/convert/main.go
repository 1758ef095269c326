// Command convert reads tool definitions, one JSON text a line, and writes for
// each a JSON array of what every dialect makes of it. wasm/js/page/convertdiff.test.ts
// compares that with the TypeScript conversion:
//
//	go run ./testdata/convert <definitions >tools
package main

import (
	"bufio"
	"log"
	"os"

	"github.com/portolan-mcp/portolan/registry"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		separator := byte('[')
		for _, d := range registry.Dialects() {
			tool, _, err := registry.Convert(d, "name", "server", in.Bytes())
			if err != nil {
				log.Fatal(err)
			}
			out.WriteByte(separator)
			out.Write(tool)
			separator = ','
		}
		out.WriteString("]\n")
	}
	if err := in.Err(); err != nil {
		log.Fatal(err)
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}
