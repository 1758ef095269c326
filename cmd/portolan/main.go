// Command portolan is Portolan's local binary. It lists and uses the tools, resources and prompts of MCP servers, with
// the same registry as the browser. It runs the demo page, the CORS proxy, the local bridge and the gateway of stdio
// programs. It checks proxies and servers. portolan help prints the commands with their flags.
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
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

const usage = `usage:
  portolan tools URL… [--header 'K: V'] [--format openai|anthropic|gemini|openai-responses] [--json]
  portolan call URL TOOL '{"json":"arguments"}' [--header 'K: V'] [--root FOLDER] [--timeout 10m] [--json]
  portolan resources URL… [--header 'K: V'] [--json]
  portolan read URL URI [--header 'K: V'] [--output FILE] [--json]
  portolan prompts URL… [--header 'K: V'] [--json]
  portolan skills URL… [--header 'K: V'] [--json]
  portolan prompt URL NAME [name=value…] [--header 'K: V'] [--json]
  portolan up [--listen 127.0.0.1:8640] [--origin URL]... [--check]
  portolan proxy --listen ADDR --origin ORIGIN… [--host HOST…] [--key KEY] [--insecure-allow-private]
      [--trusted-proxy ADDR…] [--log-file FILE]
  portolan proxy ticket --origin ORIGIN --host HOST [--header NAME…] [--days 30]      (key: $TICKET_KEYS)
  portolan proxy seal --origin ORIGIN --host HOST --header 'K: V'…                    (key: $SEAL_KEYS)
  portolan doctor [--proxy URL] [--server URL] [--origin ORIGIN] [--key KEY] [--ticket TICKET] [--header 'K: V']
  portolan bridge [--listen 127.0.0.1:55156] [--stdio [--project NAME]] [--ephemeral] [--profile NAME] [--origin ORIGIN…] [--debug-dir DIR]
      [--dir DIR] [--discovery ADDRESS|-] [--log-file FILE] [--log-level debug|info|warn|error]
  portolan bridge pair|clients|token
  portolan bridge revoke INSTALL-ID
  portolan ask [--site SITE…|all] [--consensus|--compare] [--profile NAME] [--listen ADDR] [--dir DIR] [--json] QUESTION
  portolan chats check [--site SITE…|all] [--id ID…] [--tag TAG…] [--file SCENARIOS] [--report DIR] [--list] [--debug] [--json] [--yes]
      [--profile NAME] [--listen ADDR] [--dir DIR]
  portolan gateway [--config FILE] [--listen 127.0.0.1:55157] [--allow ORIGIN…] [--shared] [--idle 10m] [--verbose] [--dir DIR]
  portolan gateway [FLAGS] -- COMMAND [ARGUMENT…]
  portolan gateway origins [--dir DIR]
  portolan gateway revoke ORIGIN [--dir DIR]
  portolan help [COMMAND]
  portolan version

URL is the http or https endpoint of an MCP server, or builtin:demo.
`

// longestEnd is the time until a process that does not end is ended. A gateway may need 10 s to end its programs.
const longestEnd = 15 * time.Second

func main() {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // the terminal was closed
		ends = append(ends, syscall.SIGHUP)
	}
	// A write to a pipe that nobody reads fails. It would end this process, and leave sessions and programs behind.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, func() {
		stop()             // a second signal ends the process
		exitIn(longestEnd) // a command may be reading a pipe that has no end
	})
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
	"tools": tools, "call": call, "read": read, "prompt": prompt, "up": up, "proxy": proxy, "doctor": doctor,
	"bridge": bridgeCommand, "ask": askChats, "chats": chats, "gateway": gatewayCommand,
	"resources": lists("resources",
		kind{"resources", (*registry.Registry).Resources}, kind{"resourceTemplates", (*registry.Registry).ResourceTemplates}),
	"prompts": lists("prompts", kind{"prompts", (*registry.Registry).Prompts}),
	"skills":  lists("skills", kind{"skills", (*registry.Registry).Skills}),
}

// An exitCode is the exit code of a program that this one ran, and becomes its own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// version is that of the package, which a test compares.
const version = "0.1.0"

// help returns the lines of usage about a verb, or all of them for any other word.
func help(verb string) string {
	lines, own := "usage:\n", false
	for line := range strings.Lines(usage) {
		if !strings.HasPrefix(line, "    ") { // else it goes on
			own = strings.HasPrefix(line, "  portolan "+verb+" ")
		}
		if own {
			lines += line
		}
	}
	if commands[verb] == nil {
		return usage
	}
	return lines
}

// A resultWriter keeps the first error of a writer.
type resultWriter struct {
	io.Writer
	err atomic.Pointer[error]
}

func (w *resultWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil {
		w.err.CompareAndSwap(nil, &err)
	}
	return n, err
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return 2
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	verb := args[0]
	results := &resultWriter{Writer: stdout}
	var err error
	switch verb {
	case "help", "--help", "-h":
		fmt.Fprint(results, help(strings.Join(args[1:min(2, len(args))], "")))
	case "version", "--version", "-v":
		fmt.Fprintln(results, "portolan", version)
	default:
		if commands[verb] == nil {
			asked := ""
			if near := nearest(verb, slices.Collect(maps.Keys(commands))); near != "" {
				asked = "; did you mean " + near + "?"
			}
			fmt.Fprintf(stderr, "portolan: unknown command %q%s (usage: portolan help)\n", verb, asked)
			return 2
		}
		err = commands[verb](ctx, args[1:], results, stderr)
	}
	if lost := results.err.Load(); lost != nil && errors.Is(*lost, syscall.EPIPE) { // such as of head, which has enough
		return 1
	} else if err == nil && lost != nil { // such as on a disk that is full
		err = *lost
	}
	code, isCode := errors.AsType[exitCode](err)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, help(verb))
		return 0
	case isCode:
		return int(code)
	case errors.Is(err, errUsage):
		fmt.Fprintf(stderr, "portolan %s: %v (usage: portolan help %s)\n", verb, err, verb)
		return 2
	default:
		if err == context.Canceled && ctx.Err() != nil {
			err = context.Cause(ctx) // such as "interrupt signal received"
		}
		fmt.Fprintf(stderr, "portolan %s: %v\n", verb, err)
		if hint := hintFor(err); hint != "" {
			fmt.Fprintf(stderr, "hint: %s\n", hint)
		}
		return 1
	}
}

// hintFor says what to do about an error of a server, in the words of this command.
func hintFor(err error) string {
	x := registry.Explain(err)
	switch x.Code {
	case "unknown_tool":
		return "see the names with: portolan tools URL"
	case "unknown_prompt":
		return "see the names with: portolan prompts URL"
	case "unknown_resource":
		return "see the URIs with: portolan resources URL"
	}
	if _, ok := errors.AsType[*registry.ServerError](err); !ok {
		return ""
	}
	const checkProxy = "check the proxy that HTTPS_PROXY or HTTP_PROXY names; NO_PROXY leaves hosts out"
	if x.Status == http.StatusProxyAuthRequired {
		return checkProxy
	}
	switch x.Code {
	case "unauthorized", "forbidden", "sign_in_needed":
		return "send the server's token: --header 'Authorization: Bearer TOKEN'"
	case "network":
		if strings.Contains(err.Error(), "proxyconnect ") || strings.Contains(err.Error(), "Proxy Authentication Required") {
			return checkProxy
		}
		for _, name := range []string{"HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"} {
			proxy := os.Getenv(name) // net/http takes one that is no URL for none
			if _, err := url.Parse(proxy); err != nil {
				if _, err := url.Parse("http://" + proxy); err != nil {
					return name + " is no address that can be read, so no proxy is used; write % as %25"
				}
			}
		}
		if strings.Contains(err.Error(), "x509: ") {
			return "this machine does not trust the server's certificate; SSL_CERT_FILE names a file with its issuer"
		}
		return "check the URL, and that the server runs"
	case "timeout":
		return "the server did not answer in time; try again, or give a call more: --timeout 10m"
	case "aborted":
		return ""
	}
	return x.Hint
}
