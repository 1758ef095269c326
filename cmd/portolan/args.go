package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/nethttp"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/validate"
)

// headersFlag defines --header 'K: V', which may be given several times.
func headersFlag(flags *flag.FlagSet) map[string]string {
	headers := make(map[string]string)
	flags.Func("header", "", func(text string) error {
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return errors.New("want 'Name: value'")
		}
		headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
		return nil
	})
	return headers
}

// rootsFlag defines --root FOLDER, which may be given several times. A folder is a path or a
// file: URL.
func rootsFlag(flags *flag.FlagSet) *[]registry.Root {
	roots := new([]registry.Root)
	flags.Func("root", "", func(folder string) error {
		if !strings.HasPrefix(folder, "file://") {
			path, err := filepath.Abs(folder)
			if err != nil {
				return err
			}
			folder = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
		}
		*roots = append(*roots, registry.Root{URI: folder, Name: path.Base(folder)})
		return nil
	})
	return roots
}

// listFlag defines a flag that may be given several times. Its values go behind list.
func listFlag(flags *flag.FlagSet, list *[]string, name string) {
	flags.Func(name, "", func(text string) error {
		*list = append(*list, text)
		return nil
	})
}

// newFlags returns a flag set that reports its errors to its caller only.
func newFlags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	return flags
}

// parse reads flags before, between and after the other arguments, which it returns.
func parse(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for len(args) > 0 {
		if err := flags.Parse(args); err != nil {
			if err == flag.ErrHelp {
				return nil, err
			}
			text := err.Error()
			if name, unknown := strings.CutPrefix(text, "flag provided but not defined: -"); unknown {
				var names []string
				flags.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
				if near := nearest(name, names); near != "" {
					text += "; did you mean --" + near + "?"
				}
			}
			if i := strings.LastIndex(text, " for flag "); i >= 0 {
				text = text[i+1:] // without the value, which may hold a key
			}
			if name, bad := strings.CutSuffix(text, ": parse error"); bad {
				want := "a number"
				value := flags.Lookup(strings.TrimPrefix(name, "for flag -")).Value.(flag.Getter).Get()
				if _, isTime := value.(time.Duration); isTime {
					want = "a time such as 10m"
				}
				text = name + ": want " + want
			}
			return nil, fmt.Errorf("%w: %s", errUsage, text)
		}
		if args = flags.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	return rest, nil
}

// nearest returns the word that differs least from what was written: in two letters at most. Without one it returns "".
func nearest(written string, words []string) string {
	best, found := min(3, len(written)-1), ""
	if len(written) > 40 {
		return ""
	}
	for _, word := range slices.Sorted(slices.Values(words)) {
		if d := distance(written, word); d < best {
			best, found = d, word
		}
	}
	return found
}

// distance returns how many letters have to be added, removed or changed to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			changed := diagonal
			if a[i] != b[j] {
				changed++
			}
			diagonal = row[j+1]
			row[j+1] = min(changed, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

// parseSome reads flags and from least to most other arguments, which it returns. An error of usage says what is
// wanted.
func parseSome(flags *flag.FlagSet, args []string, least, most int, wanted string) ([]string, error) {
	rest, err := parse(flags, args)
	if err == nil && (len(rest) < least || len(rest) > most) {
		err = fmt.Errorf("%w: %s", errUsage, wanted)
	}
	return rest, err
}

// parseAll reads the flags of a command that has no other arguments.
func parseAll(flags *flag.FlagSet, args []string) error {
	rest, err := parse(flags, args)
	if err == nil && len(rest) > 0 {
		err = fmt.Errorf("%w: unexpected %q", errUsage, rest[0])
	}
	return err
}

// newRegistry returns a registry with one server for each URL, and their names in
// the order of the URLs. The demo server ends with ctx. Questions of servers go to ask; nil:
// nobody can be asked. Servers of 2025-11-25 and before may read the roots.
func newRegistry(ctx context.Context, urls []string, headers map[string]string, ask *person, roots ...registry.Root) (*registry.Registry, []string, error) {
	options := client.Options{
		ClientName: "portolan-cli", OAuth: oauth.New(oauth.Options{Crypto: nethttp.Crypto(), ClientName: "portolan-cli"}),
		Roots: roots,
	}
	if ask != nil {
		options.Elicit, options.ElicitURL, options.Validate = ask.form, ask.address, validate.Schema
		options.Sample = ask.message
	}
	c := client.New(nethttp.New(nil), &options)
	r := registry.New(&registry.Options{Connect: c.Connect})
	var names []string
	taken := make(map[string]bool)
	for _, u := range urls {
		name := serverName(u, taken)
		taken[name] = true
		if u == registry.Demo {
			var err error
			if u, err = startDemo(ctx); err != nil {
				r.Close()
				return nil, nil, err
			}
		}
		err := r.Add(name, registry.ServerConfig{URL: u, Headers: headers})
		if _, unread := url.Parse(u); err == nil && unread != nil {
			err = errors.New("the URL cannot be read: " + unread.(*url.Error).Err.Error())
		}
		if err != nil {
			r.Close()
			return nil, nil, fmt.Errorf("%w: %v", errUsage, err)
		}
		names = append(names, name)
	}
	return r, names, nil
}

// startDemo serves the demo server on this machine until ctx ends, and returns its URL.
func startDemo(ctx context.Context) (url string, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: demoHandler(), ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	go server.Serve(listener)
	return "http://" + listener.Addr().String() + "/mcp", nil
}

// serverName returns a name for a server: the host of its URL, with a number if another
// server has that name.
func serverName(rawURL string, taken map[string]bool) string {
	base := "server"
	if rawURL == registry.Demo {
		base = "demo"
	} else if u, err := url.Parse(rawURL); err == nil && u.Hostname() != "" {
		base = hostName(u.Hostname())
	}
	name := base
	for i := 2; taken[name]; i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	return name
}

// hostName writes a host so that a tool's name can begin with it. Such names begin with
// a letter and hold no dots.
func hostName(host string) string {
	if ip := net.ParseIP(host); ip != nil {
		if ip.IsLoopback() {
			return "localhost"
		}
		host = "ip-" + host
	}
	host = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '_'
	}, host)
	if host[0] >= '0' && host[0] <= '9' {
		host = "host-" + host
	}
	return host[:min(len(host), 32)]
}
