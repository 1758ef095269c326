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
// to the person at the terminal, if there is one.
func call(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("call")
	headers := headersFlag(flags)
	roots := rootsFlag(flags)
	asJSON := flags.Bool("json", false, "")
	rest, err := parse(flags, args)
	switch {
	case err != nil:
		return err
	case len(rest) < 2 || len(rest) > 3:
		return fmt.Errorf("%w: want URL TOOL and JSON arguments", errUsage)
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
	result, err := dispatch(ctx, r, rest[1], arguments, stderr)
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

func dispatch(
	ctx context.Context, r *registry.Registry, tool string, arguments []byte, stderr io.Writer,
) (*registry.Result, error) {
	if err := r.Discover(ctx); err != nil {
		return nil, err
	}
	name := ""
	for _, t := range r.Tools(registry.Filter{}) {
		if t.RawName == tool || t.Name == tool {
			name = t.Name
		}
	}
	if name == "" {
		return nil, registry.Because(registry.ErrUnknownTool, tool)
	}
	return r.Dispatch(ctx, registry.Call{Name: name, Arguments: arguments, OnProgress: func(p registry.Progress) {
		if p.Message != "" {
			fmt.Fprintln(stderr, printable(p.Message))
		}
	}})
}
