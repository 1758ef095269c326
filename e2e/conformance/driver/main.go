// Command driver is the client that the official conformance suite tests: the
// registry on net/http. The suite names the scenario in
// MCP_CONFORMANCE_SCENARIO and gives the server's URL as the last argument.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: driver URL")
		os.Exit(2)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
	defer cancel()
	if err := run(ctx, os.Args[len(os.Args)-1], os.Getenv("MCP_CONFORMANCE_SCENARIO")); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

// answers are what the user of this client says when a scenario's tool asks.
var answers = map[string]string{
	"elicitation-sep1034-client-defaults": `{"action":"accept","content":{}}`,
	"sep-2322-client-request-state":       `{"action":"accept","content":{"confirmed":true}}`,
}

// calls are the tools that a scenario wants called, with their arguments.
var calls = map[string][]call{
	"tools_call":                          {{"add_numbers", `{"a":5,"b":3}`}},
	"elicitation-sep1034-client-defaults": {{"test_client_elicitation_defaults", `{}`}},
	"sse-retry":                           {{"test_reconnection", `{}`}},
	"sep-2322-client-request-state": {
		{"test_mrtr_echo_state", `{}`}, {"test_mrtr_no_state", `{}`}, {"test_mrtr_unrelated", `{}`}, {"test_mrtr_no_result_type", `{}`},
	},
}

type call struct{ tool, arguments string }

func run(ctx context.Context, url, scenario string) error {
	options := &client.Options{OAuth: oauth.New(person)}
	if answer, ok := answers[scenario]; ok {
		options.Elicit = func(context.Context, string, []byte) ([]byte, error) { return []byte(answer), nil }
	}
	auth, err := identity(scenario)
	if err != nil {
		return err
	}
	c := client.New(nethttp.New(nil), options)
	r := registry.New(&registry.Options{Connect: c.Connect, SignIns: c})
	defer r.Close()
	if err := r.Add("peer", registry.ServerConfig{URL: url, Auth: auth}); err != nil {
		return err
	}
	err = signingIn(ctx, r, func() error { return r.Discover(ctx) })
	if err != nil && scenario != "request-metadata" {
		return err
	}
	todo, err := wanted(r, scenario)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range todo {
		name, err := find(r, c.tool)
		if err == nil {
			err = signingIn(ctx, r, func() error {
				_, err := r.Dispatch(ctx, registry.Call{Name: name, Arguments: []byte(c.arguments)})
				return err
			})
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	if scenario == "tools_call" || scenario == "sse-retry" || strings.HasPrefix(scenario, "auth/") {
		return errors.Join(errs...)
	}
	for _, err := range errs { // some scenarios refuse calls to see what follows
		fmt.Fprintln(os.Stderr, "driver:", err)
	}
	return nil
}

func wanted(r *registry.Registry, scenario string) ([]call, error) {
	switch scenario {
	case "http-custom-headers":
		var given struct {
			ToolCalls []struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given); err != nil {
			return nil, fmt.Errorf("read context: %w", err)
		}
		var todo []call
		for _, c := range given.ToolCalls {
			todo = append(todo, call{c.Name, string(c.Arguments)})
		}
		return todo, nil
	case "http-standard-headers", "http-invalid-tool-headers":
		var todo []call
		for _, tool := range r.Tools(registry.Filter{}) {
			todo = append(todo, call{tool.RawName, `{"region":"us-west1"}`})
		}
		return todo, nil
	case "json-schema-2020-12-preservation":
		for _, tool := range r.Tools(registry.Filter{}) {
			if tool.RawName == "json_schema_2020_12_tool" {
				def, err := tool.Def.JSON()
				if err != nil {
					return nil, err
				}
				var parts struct{ InputSchema json.RawMessage }
				if err := json.Unmarshal(def, &parts); err != nil {
					return nil, err
				}
				return []call{{"json_schema_echo", `{"schema":` + string(parts.InputSchema) + `}`}}, nil
			}
		}
		return nil, errors.New("the schema tool is not listed")
	}
	if strings.HasPrefix(scenario, "auth/") {
		return []call{{"test-tool", `{}`}}, nil
	}
	return calls[scenario], nil
}

func find(r *registry.Registry, tool string) (string, error) {
	for _, t := range r.Tools(registry.Filter{}) {
		if t.RawName == tool {
			return t.Name, nil
		}
	}
	return "", fmt.Errorf("tool %s is not listed", tool)
}
