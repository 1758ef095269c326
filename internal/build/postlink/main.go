// Postlink makes modules of Go smaller and faster:
//
//	postlink FILE...
//
// It is the one step after Go's linker. Each file is rewritten in place, and one that Go did not link is left alone. The
// program does the same as before. The lines of stack traces stay, because Go's tables number functions and blocks, and
// not bytes.
//
// # Functions
//
// Go's compiler adds up each address on the stack by instructions, though a load or store has room for an offset. It
// also jumps between blocks through a table at the begin of the function. V8 optimizes neither in its first tier, which
// runs all code of a first visit. Postlink writes offsets, and branches to blocks that come later. Where a call says
// that the goroutine stops, the function returns at once. docs/design/module-size.md has the gain of each.
//
// # Data
//
// Go's linker ends a data segment at every run of eight zero bytes. That makes about 40,000 segments, whose headers
// compress worse than the zeros they save. Postlink joins segments that less than 32 zero bytes separate.
package main

import (
	"fmt"
	"os"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := rewrite(name); err != nil {
			fmt.Fprintf(os.Stderr, "postlink: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func rewrite(name string) error {
	module, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if module, err = rewritten(module); err != nil {
		return err
	}
	return os.WriteFile(name, module, 0o777)
}
