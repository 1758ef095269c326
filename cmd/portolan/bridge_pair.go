package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/bridge"
)

// bridgePair pairs one browser profile through the running bridge. If none runs, it
// runs one until the profile is paired.
func bridgePair(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	opts, _, err := bridgeFlags(newFlags("bridge pair"), args, "")
	if err != nil {
		return err
	}
	local, err := bridge.Dial(ctx, opts)
	if errors.Is(err, bridge.ErrNoBridge) {
		b, err := listen(ctx, opts)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		served := make(chan error, 1)
		go func() { served <- b.Serve(ctx) }()
		defer func() { cancel(); <-served }()
		opts.Address = b.Addr() // if the port was 0
		local, err = bridge.Dial(ctx, opts)
		if err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	defer local.Close()
	lines := linesOf(stdin)
	who, err := local.Pair(ctx, &terminal{ctx, lines, stdout})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Paired with %q (%s).\n", who.Label, who.InstallID)
	return nil
}

// A terminal asks the person who runs the command.
type terminal struct {
	ctx   context.Context
	lines <-chan string
	out   io.Writer
}

func (t *terminal) Ready() {
	fmt.Fprintln(t.out, "Open the extension's side panel in the browser and choose Pair.")
}

func (t *terminal) Code(who bridge.Pairing, code string) {
	fmt.Fprintf(t.out, "%q (%s) wants to be paired. Type these digits there:\n\n    %s %s\n\n",
		who.Label, who.Origin, code[:3], code[3:])
}

func (t *terminal) Left() { fmt.Fprintln(t.out, "That attempt ended without pairing.") }

func (t *terminal) Accepted(who bridge.Pairing) bool {
	return confirm(t.ctx, t.lines, t.out, fmt.Sprintf("Does the side panel of %q say that the digits are right?", who.Label))
}

// linesOf reads lines until r or the process ends.
func linesOf(r io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		scanner := bufio.NewScanner(r)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		close(lines)
	}()
	return lines
}

// confirm asks a question in the terminal. Only yes is a yes.
func confirm(ctx context.Context, lines <-chan string, out io.Writer, question string) bool {
	for waiting := true; waiting; { // lines typed before the question do not count
		select {
		case _, waiting = <-lines:
		default:
			waiting = false
		}
	}
	fmt.Fprintf(out, "%s [y/N] ", question)
	select {
	case line := <-lines:
		answer := strings.ToLower(strings.TrimSpace(line))
		return answer == "y" || answer == "yes"
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false
	}
}

// bridgeClients lists the paired browser profiles.
func bridgeClients(ctx context.Context, args []string, stdout io.Writer) error {
	opts, _, err := bridgeFlags(newFlags("bridge clients"), args, "")
	if err != nil {
		return err
	}
	paired, connected, err := clientsOf(ctx, opts)
	if err != nil {
		return err
	}
	if len(paired) == 0 {
		fmt.Fprintln(stdout, "No browser profile is paired: run portolan bridge pair")
	}
	for _, p := range paired {
		state := "Not connected"
		if connected[p.InstallID] {
			state = "Connected"
		}
		day := p.PairedAt.Format(time.DateOnly)
		fmt.Fprintf(stdout, "%s  %q  %s  paired %s  %s\n", p.InstallID, p.Label, p.Origin, day, state)
	}
	return nil
}

// clientsOf asks the running bridge. If none runs, it reads the file.
func clientsOf(ctx context.Context, opts *bridge.Options) ([]bridge.Pairing, map[string]bool, error) {
	local, err := bridge.Dial(ctx, opts)
	if err == nil {
		defer local.Close()
		return local.Clients(ctx)
	}
	b, newErr := bridge.New(opts)
	if newErr != nil {
		return nil, nil, newErr
	}
	paired, err := b.Clients()
	return paired, nil, err
}

// bridgeRevoke forgets a paired profile; a running bridge ends its connection.
func bridgeRevoke(ctx context.Context, args []string, stdout io.Writer) error {
	opts, rest, err := bridgeFlags(newFlags("bridge revoke"), args, "one install id, as portolan bridge clients prints it")
	if err != nil {
		return err
	}
	local, err := bridge.Dial(ctx, opts)
	if err == nil {
		defer local.Close()
		err = local.Revoke(ctx, rest[0])
	} else {
		var b *bridge.Bridge
		if b, err = bridge.New(opts); err == nil {
			err = b.Revoke(rest[0])
		}
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "Revoked.")
	return nil
}

// bridgeToken prints the bearer token of HTTP clients.
func bridgeToken(args []string, stdout io.Writer) error {
	opts, _, err := bridgeFlags(newFlags("bridge token"), args, "")
	if err != nil {
		return err
	}
	b, err := bridge.New(opts)
	if err != nil {
		return err
	}
	token, err := b.Token()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, token)
	return err
}
