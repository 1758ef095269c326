// Wasmdata lays out the data of a module so that it compresses better:
//
//	wasmdata FILE...
//
// Go's linker ends a data segment at every run of eight zero bytes. That makes
// about 40,000 segments, whose headers compress worse than the zeros they save.
// Wasmdata joins segments that less than 32 zero bytes separate. The memory of
// the module is the same when it starts, and no other section changes. Each file
// is rewritten in place. A file without such a data section is left alone.
package main

import (
	"fmt"
	"os"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := rewrite(name); err != nil {
			fmt.Fprintf(os.Stderr, "wasmdata: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func rewrite(name string) error {
	module, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	p, err := split(module)
	if err != nil {
		return err
	}
	return os.WriteFile(name, p.module(), 0o777)
}
