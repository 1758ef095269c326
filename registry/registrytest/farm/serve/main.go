// Command serve runs the farm of misbehaving servers for clients in other processes.
// It prints one line, a farm.Manifest as JSON, and serves until its input ends.
//
//	go run ./registry/registrytest/farm/serve
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/portolan-mcp/portolan/registry/registrytest/farm"
)

func main() {
	f, err := farm.Start()
	if err == nil {
		defer f.Close()
		var m *farm.Manifest
		if m, err = f.Serve(); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(m)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
	io.Copy(io.Discard, os.Stdin)
}
