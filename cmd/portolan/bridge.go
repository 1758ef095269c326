package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/portolan-mcp/portolan/bridge"
)

// bridgeFlags parses the flags that all bridge commands share.
func bridgeFlags(name string, args []string, more func(*bridgeSettings, func(*bool, string))) (*bridgeSettings, []string, error) {
	flags := newFlags(name)
	s := new(bridgeSettings)
	flags.StringVar(&s.Address, "listen", bridge.DefaultAddress, "")
	flags.StringVar(&s.Profile, "profile", "", "")
	flags.StringVar(&s.Discovery, "discovery", bridge.DiscoveryAddress, "")
	flags.StringVar(&s.Dir, "dir", "", "")
	flags.Var((*listFlag)(&s.Origins), "origin", "")
	if more != nil {
		more(s, func(p *bool, name string) { flags.BoolVar(p, name, false, "") })
	}
	rest, err := parse(flags, args)
	if err == nil {
		err = loopbackOnly(s.Address)
	}
	return s, rest, err
}

type bridgeSettings struct {
	bridge.Options
	stdio bool
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
	s, rest, err := bridgeFlags("bridge", args, func(s *bridgeSettings, flag func(*bool, string)) {
		flag(&s.stdio, "stdio")
		flag(&s.Ephemeral, "ephemeral")
	})
	switch {
	case err != nil:
		return err
	case len(rest) > 0:
		return fmt.Errorf("%w: unexpected %q", errUsage, rest[0])
	}
	s.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	if !s.stdio {
		return bridgeServe(ctx, s, stdout)
	}
	// Its client reads stdout: only MCP goes there.
	return bridgeStdio(ctx, s, os.Stdin, stdout, stderr)
}

func bridgeServe(ctx context.Context, s *bridgeSettings, stdout io.Writer) error {
	b, err := listen(ctx, &s.Options)
	if err != nil {
		return err
	}
	if err := printAddress(b, s, stdout); err != nil {
		return err
	}
	return bounded(ctx, func(ctx context.Context) error { return b.Serve(ctx) })
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
		return nil, fmt.Errorf("%w: a bridge of yours is running there", err)
	}
	return b, err
}

func printAddress(b *bridge.Bridge, s *bridgeSettings, w io.Writer) error {
	fmt.Fprintf(w, "The bridge is at http://%s/mcp\n", b.Addr())
	if s.Ephemeral {
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

// bridgeStdio serves the client at stdin and stdout. If another bridge of the user has
// the port, it passes the client's messages to that one.
func bridgeStdio(ctx context.Context, s *bridgeSettings, stdin io.ReadCloser, stdout, stderr io.Writer) error {
	b, err := bridge.New(&s.Options)
	if err != nil {
		return err
	}
	err = b.Listen()
	switch {
	case errors.Is(err, bridge.ErrPortTaken) && !s.Ephemeral:
		other, dialErr := bridge.Dial(ctx, &s.Options)
		if dialErr != nil {
			return fmt.Errorf("%w: %w; free it, or choose another with --listen", err, dialErr)
		}
		return bounded(ctx, func(ctx context.Context) error {
			defer other.Close()
			return other.Attach(ctx, s.Profile, stdin, stdout)
		})
	case err != nil:
		return err
	}
	if err := printAddress(b, s, stderr); err != nil {
		return err
	}
	return bounded(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithCancel(ctx)
		served := make(chan error, 1)
		go func() { served <- b.Serve(ctx) }()
		err := b.ServeClient(ctx, stdin, writeCloser{stdout})
		exitSoon()
		cancel()
		return errors.Join(err, <-served)
	})
}

type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

// forcedExit is the time until a process that cannot clean up is ended.
const forcedExit = 5 * time.Second

// bounded runs f, and ends the process if f has not returned 5 s after ctx ended. A
// second signal ends it at once.
func bounded(ctx context.Context, f func(context.Context) error) error {
	defer context.AfterFunc(ctx, func() {
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		exitSoon()
	})()
	return f(ctx)
}

// exitSoon ends the process in 5 s, unless it has ended by then.
func exitSoon() { time.AfterFunc(forcedExit, func() { os.Exit(1) }) }
