package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/bridge"
	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// bridgeFlags parses the arguments of a command that uses a bridge. One of them is no flag
// if wanted says what it is.
func bridgeFlags(flags *flag.FlagSet, args []string, wanted string) (*bridge.Options, []string, error) {
	opts := new(bridge.Options)
	environment := os.Getenv("PORTOLAN_ADDR")
	flags.StringVar(&opts.Address, "listen", cmp.Or(environment, bridge.DefaultAddress), "")
	if !strings.HasPrefix(flags.Name(), "bridge ") { // its subcommands serve no client
		flags.StringVar(&opts.Profile, "profile", "", "")
		flags.StringVar(&opts.Project, "project", startProject(), "")
		flags.StringVar(&opts.DebugDir, "debug-dir", "", "")
		listFlag(flags, &opts.Origins, "origin")
	}
	flags.StringVar(&opts.Discovery, "discovery", bridge.DiscoveryAddress, "")
	flags.StringVar(&opts.Dir, "dir", "", "")
	rest, err := parse(flags, args)
	switch {
	case err != nil:
		return nil, nil, err
	case wanted == "" && len(rest) > 0:
		return nil, nil, fmt.Errorf("%w: unexpected %q", errUsage, rest[0])
	case wanted != "" && len(rest) != 1:
		return nil, nil, fmt.Errorf("%w: want %s", errUsage, wanted)
	}
	for _, origin := range opts.Origins {
		if !loopback.PageOrigin(origin) {
			return nil, nil, fmt.Errorf("%w: --origin: %q is not an origin of a page, such as https://app.example", errUsage, origin)
		}
	}
	if opts.Discovery != "-" {
		if err := loopbackOnly("--discovery", opts.Discovery); err != nil {
			return nil, nil, err
		}
	}
	source := "--listen"
	if environment != "" && opts.Address == environment {
		source = "PORTOLAN_ADDR"
	}
	return opts, rest, loopbackOnly(source, opts.Address)
}

// startProject returns the project of a stdio client by where it was started: $PORTOLAN_PROJECT,
// else the folder's name. The home folder is no project.
func startProject() string {
	if project := os.Getenv("PORTOLAN_PROJECT"); project != "" {
		return project
	}
	folder, err := os.Getwd()
	if home, _ := os.UserHomeDir(); err != nil || folder == home {
		return ""
	}
	return bridge.ProjectName(folder)
}

// bridgeCommand runs the local bridge, or one of its subcommands.
func bridgeCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "pair":
			return bridgePair(ctx, args[1:], os.Stdin, stdout)
		case "clients":
			return bridgeClients(ctx, args[1:], stdout)
		case "revoke":
			return bridgeRevoke(ctx, args[1:], stdout)
		case "token":
			return bridgeToken(args[1:], stdout)
		}
	}
	flags := newFlags("bridge")
	stdio, ephemeral := flags.Bool("stdio", false, ""), flags.Bool("ephemeral", false, "")
	file := flags.String("log-file", "", "")
	var level slog.Level
	flags.TextVar(&level, "log-level", slog.LevelInfo, "")
	opts, _, err := bridgeFlags(flags, args, "")
	if err != nil {
		return err
	}
	if !*stdio && opts.Project != flags.Lookup("project").DefValue {
		return fmt.Errorf("%w: --project needs --stdio; a client over HTTP sends the header %s", errUsage, bridge.HeaderProject)
	}
	log := stderr
	if *file != "" {
		l, err := openLog(*file)
		if err != nil {
			return err
		}
		defer l.Close()
		log = l
	}
	opts.Ephemeral = *ephemeral
	opts.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: level}))
	if *stdio {
		profile := opts.Profile
		opts.Profile = "" // clients that attach have their own choice, whichever process has the port
		return bridgeStdio(ctx, opts, profile, os.Stdin, stdout, stderr)
	}
	b, err := listen(ctx, opts)
	if err != nil {
		return err
	}
	if *file != "" {
		opts.Logger.Info("the bridge listens", "address", b.Addr())
	}
	if err := printAddress(b, opts, stdout); err != nil {
		return err
	}
	return bounded(ctx, b.Serve)
}

// listen returns a bridge that has opened its port. The error says which program has
// the port.
func listen(ctx context.Context, opts *bridge.Options) (*bridge.Bridge, error) {
	b, err := bridge.New(opts)
	if err != nil {
		return nil, err
	}
	err = b.Listen()
	if errors.Is(err, bridge.ErrPortTaken) {
		other, dialErr := bridge.Dial(ctx, opts)
		if dialErr != nil {
			return nil, fmt.Errorf("%w: %w; free it, or choose another with --listen", err, dialErr)
		}
		other.Close()
		return nil, fmt.Errorf("%w: a bridge of yours is running there; MCP clients start one, too", err)
	}
	return b, err
}

func printAddress(b *bridge.Bridge, opts *bridge.Options, w io.Writer) error {
	fmt.Fprintf(w, "The bridge is at http://%s/mcp\n", b.Addr())
	if opts.Ephemeral {
		token, err := b.Token()
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "Token for this run, for the extension and for MCP clients: %s\n", token)
		return nil
	}
	fmt.Fprintln(w, "MCP clients send the bearer token that portolan bridge token prints")
	paired, err := b.Clients()
	if err == nil && len(paired) == 0 {
		fmt.Fprintln(w, "No browser is paired yet: run portolan bridge pair")
	}
	return err
}

// bridgeStdio serves the client at stdin and stdout, so that stdout has MCP messages only.
// If another bridge of the user has the port, it passes the client's messages to that one.
func bridgeStdio(ctx context.Context, opts *bridge.Options, profile string, stdin io.ReadCloser, stdout, stderr io.Writer) error {
	b, err := bridge.New(opts)
	if err != nil {
		return err
	}
	taken := b.Listen()
	if taken != nil && (!errors.Is(taken, bridge.ErrPortTaken) || opts.Ephemeral) {
		return taken
	}
	if taken != nil {
		other, err := bridge.Dial(ctx, opts)
		if err != nil { // it may be a bridge that is about to end, as of a client that starts its servers again
			var late error
			if other, b, late = successor(ctx, opts); late != nil {
				return fmt.Errorf("%w: %w; free it, or choose another with --listen", taken, err)
			}
		}
		if other != nil {
			return bounded(ctx, func(ctx context.Context) error { return attachStdio(ctx, other, opts, profile, stdin, stdout) })
		}
	}
	if err := printAddress(b, opts, stderr); err != nil {
		return err
	}
	return bounded(ctx, func(ctx context.Context) error {
		return serveWith(ctx, b, func(ctx context.Context) error {
			return b.ServeClient(ctx, profile, stdin, writeCloser{stdout})
		})
	})
}

// serveWith serves other clients while f serves the one at stdin.
func serveWith(ctx context.Context, b *bridge.Bridge, f func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- b.Serve(ctx) }()
	err := f(ctx)
	exitSoon()
	cancel()
	return errors.Join(err, <-served)
}

// attachStdio passes the client at stdin on to the bridge that has the port. When that one ends, another one goes on:
// one that has taken the port meanwhile, or this process.
func attachStdio(
	ctx context.Context, other *bridge.Local, opts *bridge.Options, profile string, stdin io.ReadCloser, stdout io.Writer,
) error {
	client := bridge.KeepClient(stdin, stdout)
	defer client.Close()
	for {
		opts.Logger.Info("another bridge has the port and serves this client; its own --origin, --debug-dir and log are used",
			"address", opts.Address)
		ended, err := client.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
			defer other.Close()
			return other.Attach(ctx, profile, opts.Project, in, out)
		})
		if ended || ctx.Err() != nil || !errors.Is(err, bridge.ErrEnded) {
			return err
		}
		opts.Logger.Info("that bridge has ended")
		var own *bridge.Bridge
		if other, own, err = successor(ctx, opts); err != nil {
			return err
		}
		if own != nil {
			opts.Logger.Info("this bridge has the port now", "address", own.Addr())
			return serveWith(ctx, own, func(ctx context.Context) error {
				_, err := client.Serve(func(in io.ReadCloser, out io.WriteCloser) error {
					return own.ServeClient(ctx, profile, in, out)
				})
				return err
			})
		}
	}
}

// successorWait is the time for a bridge that is started again to take its port.
const successorWait = 2 * time.Second

// successor returns the bridge that takes the port of one that has ended, or else one of this process.
func successor(ctx context.Context, opts *bridge.Options) (other *bridge.Local, own *bridge.Bridge, err error) {
	for deadline := time.Now().Add(successorWait); ; {
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
		if other, err = bridge.Dial(ctx, opts); err == nil {
			return other, nil, nil
		}
		if time.Now().Before(deadline) {
			continue
		}
		if own, err = bridge.New(opts); err != nil {
			return nil, nil, err
		}
		if err = own.Listen(); err == nil {
			return nil, own, nil
		}
		if !errors.Is(err, bridge.ErrPortTaken) || time.Now().After(deadline.Add(successorWait)) {
			return nil, nil, err
		}
	}
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// forcedExit is the time until a process that cannot clean up is ended.
const forcedExit = 5 * time.Second

// bounded runs f, and ends the process if f has not returned 5 s after ctx ended. A
// second signal ends it at once.
func bounded(ctx context.Context, f func(context.Context) error) error {
	defer context.AfterFunc(ctx, exitSoon)()
	return f(ctx)
}

func exitSoon() { exitIn(forcedExit) }

// exitIn ends the process after that time, unless it has ended by then.
func exitIn(d time.Duration) { time.AfterFunc(d, func() { os.Exit(1) }) }
