// Command portolan is Portolan's local binary: it lists and calls the tools of MCP
// servers with the same registry as the browser, serves the demo page, runs the
// CORS proxy and the local bridge, and checks proxies and servers.
//
//	portolan tools URL… [--header 'K: V'] [--format DIALECT] [--json]
//	portolan call URL TOOL '{"json":"arguments"}' [--header 'K: V'] [--json]
//	portolan up [--listen 127.0.0.1:0] [--check]
//	portolan proxy --listen ADDR --origin ORIGIN… [--host HOST…] [--key KEY] [--insecure-allow-private]
//	portolan proxy ticket|seal --origin ORIGIN --host HOST …
//	portolan doctor [--proxy URL] [--server URL] [--origin ORIGIN] [--key KEY]
//	portolan bridge [--listen 127.0.0.1:55156] [--stdio] [--ephemeral] [--profile NAME] [--origin ORIGIN…]
//	portolan bridge pair|clients|token
//	portolan bridge revoke INSTALL-ID
//
// It exits with 0 if the operation succeeded, 1 if it failed, and 2 for wrong usage. The
// message of a failure is on stderr. With --json the output on stdout is complete all the
// same.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const usage = `usage:
  portolan tools URL… [--header 'K: V'] [--format openai|anthropic|gemini|openai-responses] [--json]
  portolan call URL TOOL '{"json":"arguments"}' [--header 'K: V'] [--json]
  portolan up [--listen 127.0.0.1:0] [--check]
  portolan proxy --listen ADDR --origin ORIGIN… [--host HOST…] [--key KEY] [--insecure-allow-private]
  portolan proxy ticket --origin ORIGIN --host HOST [--header NAME…] [--days 30]      (key: $TICKET_KEYS)
  portolan proxy seal --origin ORIGIN --host HOST --header 'K: V'…                    (key: $SEAL_KEYS)
  portolan doctor [--proxy URL] [--server URL] [--origin ORIGIN] [--key KEY]
  portolan bridge [--listen 127.0.0.1:55156] [--stdio] [--ephemeral] [--profile NAME] [--origin ORIGIN…]
  portolan bridge pair|clients|token
  portolan bridge revoke INSTALL-ID
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errUsage is the error of a command for wrong arguments.
var errUsage = errors.New("wrong usage")

// A command runs with its arguments. It writes results to stdout, and messages to
// stderr.
type command func(ctx context.Context, args []string, stdout, stderr io.Writer) error

var commands = map[string]command{
	"tools": tools, "call": call, "up": up, "proxy": proxy, "doctor": doctor, "bridge": bridgeCommand,
}

// An exitCode is the exit code of a program that this one ran, and becomes its own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	cmd, ok := commands[args[0]]
	if !ok {
		if args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
			fmt.Fprint(stdout, usage)
			return 0
		}
		fmt.Fprintf(stderr, "portolan: unknown command %q\n%s", args[0], usage)
		return 2
	}
	err := cmd(ctx, args[1:], stdout, stderr)
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "portolan %s: %v\n%s", args[0], err, usage)
		return 2
	default:
		fmt.Fprintf(stderr, "portolan %s: %v\n", args[0], err)
		return 1
	}
}
