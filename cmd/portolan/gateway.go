package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/portolan-mcp/portolan/bridge/gateway"
	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// defaultConfigs are the files in the working directory that are read without --config.
// The first that exists counts.
var defaultConfigs = []string{".mcp.json", "mcp.json", filepath.Join(".vscode", "mcp.json"), filepath.Join(".cursor", "mcp.json")}

// gatewayCommand offers stdio programs to pages, or runs one of its subcommands.
func gatewayCommand(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "origins":
			return gatewayOrigins(args[1:], stdout)
		case "revoke":
			return gatewayRevoke(args[1:], stdout)
		}
	}
	return runGateway(ctx, args, os.Stdin, stdout, stderr)
}

func runGateway(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	var command []string
	if i := slices.Index(args, "--"); i >= 0 {
		args, command = args[:i], args[i+1:]
		if len(command) == 0 || command[0] == "" {
			return fmt.Errorf("%w: want a command behind --", errUsage)
		}
	}
	flags := newFlags("gateway")
	opts := new(gateway.Options)
	flags.StringVar(&opts.Address, "listen", gateway.DefaultAddress, "")
	flags.StringVar(&opts.Dir, "dir", "", "")
	flags.BoolVar(&opts.Shared, "shared", false, "")
	flags.DurationVar(&opts.Idle, "idle", 10*time.Minute, "")
	config, verbose := flags.String("config", "", ""), flags.Bool("verbose", false, "")
	var allowed []string
	listFlag(flags, &allowed, "allow")
	err := parseAll(flags, args)
	switch {
	case err != nil:
		return err
	case opts.Idle < time.Second:
		return fmt.Errorf("%w: --idle: want a time such as 10m, at least 1s", errUsage)
	case command != nil && *config != "":
		return fmt.Errorf("%w: want --config, or a command behind --", errUsage)
	}
	if err := loopbackOnly("--listen", opts.Address); err != nil {
		return err
	}
	servers, err := gatewayServers(command, *config, stderr)
	if err != nil {
		return err
	}
	lines := linesOf(stdin)
	opts.Pair = func(ctx context.Context, origin, digits string, confirmed <-chan struct{}) error {
		return gatewayPair(ctx, lines, stdout, origin, digits, confirmed)
	}
	opts.Paired = func(origin string, err error) {
		if err != nil {
			fmt.Fprintf(stdout, "It was not paired: %v\n", err)
			return
		}
		fmt.Fprintf(stdout, "Paired. portolan gateway revoke %s takes that back.\n", origin)
	}
	if *verbose {
		opts.Logger = slog.New(slog.NewTextHandler(stderr, nil))
		opts.Stderr = func(server, line string) { fmt.Fprintf(stderr, "%s: %s\n", server, line) }
	}
	g, err := gateway.New(servers, opts)
	if err != nil {
		return err
	}
	tokens := make([]string, len(allowed))
	for i, origin := range allowed {
		if tokens[i], err = g.Allow(origin); err != nil {
			return fmt.Errorf("%w: --allow: %v", errUsage, err)
		}
	}
	if err := g.Listen(); errors.Is(err, loopback.ErrPortTaken) {
		return fmt.Errorf("%w: a gateway may be running there; end it, or choose another port with --listen", err)
	} else if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "The gateway is at http://%s\n", g.Addr())
	for _, s := range g.Servers() {
		fmt.Fprintf(stdout, "  %s  http://%s%s\n", s.Name, g.Addr(), s.Path)
	}
	for i, origin := range allowed {
		fmt.Fprintf(stdout, "Token of %s for this run: %s\n", origin, tokens[i])
	}
	if !signal.Ignored(syscall.SIGHUP) { // the terminal was closed
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	fmt.Fprintln(stdout, `To let a page in, choose "Find a running gateway" in its panel.`)
	ended := make(chan struct{})
	defer close(ended)
	defer context.AfterFunc(ctx, func() { // a second signal would leave programs behind
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		defer signal.Stop(again)
		select {
		case <-again:
			g.Hurry()
		case <-ended:
		}
	})()
	return bounded(ctx, g.Serve)
}

// gatewayServers returns the servers of the command line, of the file, or of the first
// file that MCP clients use here.
func gatewayServers(command []string, config string, stderr io.Writer) ([]gateway.Server, error) {
	if command != nil {
		return []gateway.Server{gateway.CommandServer(command)}, nil
	}
	if config == "" {
		i := slices.IndexFunc(defaultConfigs, func(path string) bool { _, err := os.Stat(path); return err == nil })
		if i < 0 {
			return nil, fmt.Errorf("%w: there is no %s here: want --config FILE, or a command behind --", errUsage,
				strings.Join(defaultConfigs, ", "))
		}
		config = defaultConfigs[i]
	}
	servers, notes, err := gateway.ReadConfig(config)
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		fmt.Fprintf(stderr, "%s: %s\n", config, note)
	}
	if len(servers) == 0 {
		return nil, fmt.Errorf("%s has no server with a command", config)
	}
	return servers, nil
}

// gatewayPair asks the person about one page.
func gatewayPair(ctx context.Context, lines <-chan string, out io.Writer, origin, digits string, confirmed <-chan struct{}) error {
	fmt.Fprintf(out, "\nThe page at %s wants to use these programs. Type these digits there:\n\n    %s %s\n\n",
		origin, digits[:3], digits[3:])
	select {
	case <-confirmed:
	case <-ctx.Done():
		fmt.Fprintln(out, "That attempt ended without pairing.")
		return ctx.Err()
	}
	if !confirm(ctx, lines, out, fmt.Sprintf("Does the page at %s say that the digits are right?", origin)) {
		fmt.Fprintln(out, "It was not paired.")
		return errors.New("not confirmed")
	}
	return nil
}

// gatewayOrigins lists the origins that were paired.
func gatewayOrigins(args []string, stdout io.Writer) error {
	flags := newFlags("gateway origins")
	dir := flags.String("dir", "", "")
	if err := parseAll(flags, args); err != nil {
		return err
	}
	all, err := gateway.Origins(*dir)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintln(stdout, "No origin was paired.")
	}
	for _, o := range all {
		fmt.Fprintf(stdout, "%s  paired %s\n", o.Origin, o.At.Format(time.DateOnly))
	}
	return nil
}

// gatewayRevoke takes the tokens of an origin away.
func gatewayRevoke(args []string, stdout io.Writer) error {
	flags := newFlags("gateway revoke")
	dir := flags.String("dir", "", "")
	rest, err := parseSome(flags, args, 1, 1, "want one origin, as portolan gateway origins prints it")
	if err != nil {
		return err
	}
	if err := gateway.Revoke(*dir, rest[0]); err != nil {
		return err
	}
	fmt.Fprintln(stdout, "Revoked.")
	return nil
}
