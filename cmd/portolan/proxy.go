package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	corsproxy "github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

// proxy runs the CORS proxy natively until ctx ends, or makes a ticket or a seal.
func proxy(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "ticket":
			return ticket(args[1:], stdout)
		case "seal":
			return seal(args[1:], stdout)
		}
	}
	// The flags add to the variables that the Worker reads, too.
	cfg, err := corsproxy.Env(os.Getenv)
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	flags := newFlags("proxy")
	listen := flags.String("listen", "127.0.0.1:0", "")
	private := flags.Bool("insecure-allow-private", false, "")
	file := flags.String("log-file", "", "")
	listFlag(flags, &cfg.Origins, "origin")
	listFlag(flags, &cfg.Hosts, "host")
	listFlag(flags, &cfg.Keys, "key")
	var before []string
	listFlag(flags, &before, "trusted-proxy")
	err = parseAll(flags, args)
	for _, text := range before {
		network, wrong := corsproxy.Network(text)
		if wrong != nil && err == nil {
			err = fmt.Errorf("%w: --trusted-proxy wants an IP address or a network such as 10.0.0.0/8", errUsage)
		}
		cfg.TrustedProxies = append(cfg.TrustedProxies, network)
	}
	switch {
	case err != nil:
		return err
	case len(cfg.Origins) == 0:
		return fmt.Errorf("%w: the proxy is closed without --origin", errUsage)
	case len(cfg.Hosts) == 0 && len(cfg.Keys) == 0 && len(cfg.TicketKeys) == 0:
		return fmt.Errorf("%w: the proxy is closed without --host or --key", errUsage)
	}
	if _, err := hostOf("--listen", *listen); err != nil {
		return err
	}
	if *private {
		cfg.Private, cfg.HTTP = true, true
	}
	if *file != "" {
		log, err := openLog(*file)
		if err != nil {
			return err
		}
		defer log.Close()
		cfg.OnRefusal = refusalLog(slog.New(slog.NewTextHandler(log, nil)))
	}
	cfg.BindingKeys = []string{rand.Text()} // bindings end with this process
	policy, err := corsproxy.New(cfg)
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	listener, err := net.Listen("tcp", *listen)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	stop := serve(ctx, listener, policy.Handler(corsproxy.Transport(cfg.Private)), served)
	url := "http://" + listener.Addr().String() + "/"
	fmt.Fprintf(stdout, "The proxy is at %s\nThe registry's option: proxy: '%s?url={href}'\n", url, url)
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	return errors.Join(err, stop())
}

// refusalLog returns a security log: a line for each refusal, without paths and queries.
func refusalLog(log *slog.Logger) func(corsproxy.Outcome) {
	return func(o corsproxy.Outcome) {
		log.Warn("refused", "code", o.Code, "origin", o.Origin, "host", o.Host, "client", o.Client)
	}
}

// keyFrom reads a secret from an environment variable, because lists of processes show
// arguments.
func keyFrom(name string) (string, error) {
	keys := corsproxy.List(os.Getenv(name))
	if len(keys) == 0 {
		return "", fmt.Errorf("%w: put the proxy's key into the environment variable %s", errUsage, name)
	}
	if len(keys[0]) < 22 {
		return "", fmt.Errorf("%w: the key in %s is shorter than 22 characters, which no proxy accepts", errUsage, name)
	}
	return keys[0], nil
}

// ticket makes a ticket that lets one origin use a proxy for one host.
func ticket(args []string, stdout io.Writer) error {
	flags := newFlags("proxy ticket")
	origin, host := flags.String("origin", "", ""), flags.String("host", "", "")
	days := flags.Int("days", 30, "")
	var headers []string
	listFlag(flags, &headers, "header")
	rest, err := parse(flags, args)
	switch {
	case err != nil:
		return err
	case len(rest) > 0 || *origin == "" || *host == "" || *days <= 0:
		return fmt.Errorf("%w: want --origin, --host and perhaps --header NAME and --days N", errUsage)
	}
	if err := corsproxy.CheckParties(*origin, *host, headers...); err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	key, err := keyFrom("TICKET_KEYS")
	if err != nil {
		return err
	}
	t := corsproxy.Ticket{Origin: *origin, Host: *host, Headers: headers, Expires: time.Now().AddDate(0, 0, *days)}
	_, err = fmt.Fprintln(stdout, t.Sign(key))
	return err
}

// seal encrypts headers for one origin and one host. Their values are read from
// environment variables, or from the flag if they are no secrets.
func seal(args []string, stdout io.Writer) error {
	flags := newFlags("proxy seal")
	origin, host := flags.String("origin", "", ""), flags.String("host", "", "")
	var fields []string
	listFlag(flags, &fields, "header")
	rest, err := parse(flags, args)
	switch {
	case err != nil:
		return err
	case len(rest) > 0 || *origin == "" || *host == "" || len(fields) == 0:
		return fmt.Errorf("%w: want --origin, --host and --header 'Name: value' or 'Name: $VARIABLE'", errUsage)
	}
	if err := corsproxy.CheckParties(*origin, *host); err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	key, err := keyFrom("SEAL_KEYS")
	if err != nil {
		return err
	}
	var header []corsproxy.Pair
	for _, field := range fields {
		name, value, ok := strings.Cut(field, ":")
		if !ok {
			return fmt.Errorf("%w: --header wants 'Name: value'", errUsage)
		}
		value = strings.TrimSpace(value)
		if variable, ok := strings.CutPrefix(value, "$"); ok {
			if value = os.Getenv(variable); value == "" {
				return fmt.Errorf("%w: the environment variable %s is empty", errUsage, variable)
			}
		}
		header = append(header, corsproxy.Pair{Name: strings.TrimSpace(name), Value: value})
	}
	sealed, err := corsproxy.Seal(key, *origin, *host, header, rand.Reader)
	if err != nil {
		return fmt.Errorf("%w: %v", errUsage, err)
	}
	_, err = fmt.Fprintln(stdout, sealed)
	return err
}
