package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/portolan-mcp/portolan/registry"
)

// A callFailure is the output with --json if there is no result, as "error".
type callFailure struct {
	Code      string `json:"code"`
	Message   string `json:"message"`
	Status    int    `json:"status,omitempty"`
	Hint      string `json:"hint,omitempty"`
	Retryable bool   `json:"retryable"`
}

var errTool = errors.New("the tool answered with an error")

// call calls one tool and prints its result: the text, or with --json the whole result
// as the server wrote it. A result with isError fails the command. A server's question goes
// to the person at the terminal, if there is one. --timeout bounds the call; without it, the
// usual deadline of the registry does.
func call(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("call")
	headers := headersFlag(flags)
	roots := rootsFlag(flags)
	asJSON := flags.Bool("json", false, "")
	timeout := flags.Duration("timeout", 0, "")
	rest, err := parseSome(flags, args, 2, 3, "want URL TOOL and JSON arguments")
	switch {
	case err != nil:
		return err
	case *timeout < 0:
		return fmt.Errorf("%w: --timeout is negative", errUsage)
	}
	arguments := []byte("{}")
	if len(rest) == 3 {
		arguments = []byte(rest[2])
		var object map[string]json.RawMessage
		if json.Unmarshal(arguments, &object) != nil || object == nil {
			return fmt.Errorf("%w: the arguments are not a JSON object", errUsage)
		}
	}
	r, _, err := newRegistry(ctx, rest[:1], headers, personAt(os.Stdin, stderr), *roots...)
	if err != nil {
		return err
	}
	defer r.Close()
	result, err := dispatch(ctx, r, registry.Call{Name: rest[1], Arguments: arguments, Timeout: *timeout}, stderr)
	if err != nil {
		return failure(stdout, *asJSON, err)
	}
	if *asJSON {
		text, err := result.Payload.JSON()
		if err != nil {
			return err
		}
		if err := printJSON(stdout, json.RawMessage(text)); err != nil {
			return err
		}
	} else {
		text, _, err := result.Text(0)
		if err != nil {
			return err
		}
		fmt.Fprintln(stdout, printable(text))
	}
	if result.IsError {
		return errTool
	}
	return nil
}

// dispatch calls the tool whose name, or name for models, the call has.
func dispatch(ctx context.Context, r *registry.Registry, c registry.Call, stderr io.Writer) (*registry.Result, error) {
	if err := r.Discover(ctx); err != nil {
		return nil, err
	}
	tool := c.Name
	c.Name = ""
	for _, t := range r.Tools(registry.Filter{}) {
		if t.RawName == tool || t.Name == tool {
			c.Name = t.Name
		}
	}
	if c.Name == "" {
		return nil, registry.Because(registry.ErrUnknownTool, tool)
	}
	c.OnProgress = func(p registry.Progress) {
		if p.Message != "" {
			fmt.Fprintln(stderr, printable(p.Message))
		}
	}
	return r.Dispatch(ctx, c)
}
