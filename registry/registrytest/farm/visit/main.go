// Command visit is a native client for the farm: it does what each line of its input
// asks for, and prints what came of it as one line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/registrytest/farm"
)

func main() {
	out := json.NewEncoder(os.Stdout)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var line struct {
			Visit     *farm.Task
			Crowd     []farm.Task
			Calls     int
			Good      string
			Deadlines []farm.Task
			TimeoutMs int
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			out.Encode(err.Error())
			continue
		}
		switch {
		case line.Visit != nil:
			out.Encode(farm.Visit(connect, *line.Visit))
		case line.Deadlines != nil:
			out.Encode(farm.Deadlines(connect, line.Deadlines, time.Duration(line.TimeoutMs)*time.Millisecond))
		default:
			out.Encode(farm.Crowd(connect, line.Good, line.Crowd, line.Calls))
		}
	}
}

func connect(limits registry.Limits) registry.Connect {
	return client.New(nethttp.New(nil), &client.Options{Limits: limits}).Connect
}
