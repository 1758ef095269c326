// Slim makes a module that Go has linked smaller to download, in place:
//
//	slim FILE...
//
// It is for Go 1.26, without whose layout of what the runtime knows of functions
// it refuses. The functions' names stay, so that a stack trace still says where.
package main

import (
	"fmt"
	"os"
)

func main() {
	for _, name := range os.Args[1:] {
		if err := rewrite(name); err != nil {
			fmt.Fprintf(os.Stderr, "slim: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func rewrite(name string) error {
	module, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	before, image, after, err := takeApart(module)
	if err != nil {
		return err
	}
	if err := forgetLines(image); err != nil {
		return err
	}
	return os.WriteFile(name, putTogether(before, image, after), 0o777)
}
