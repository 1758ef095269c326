package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge"
)

// chatsOptions are the flags of portolan chats check.
type chatsOptions struct {
	bridge                  *bridge.Options
	sites, ids, tags        []string
	file, report            string
	list, debug, json, sure bool
}

// chats runs scenarios of the chats through the running bridge.
func chats(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 || args[0] != "check" {
		if _, err := parse(newFlags("chats"), args); err != nil { // such as for --help
			return err
		}
		return fmt.Errorf("%w: want portolan chats check", errUsage)
	}
	opts, err := chatsFlags(args[1:])
	if err != nil {
		return err
	}
	all, err := readScenarios(opts.file)
	if err != nil {
		return unasked(ctx, stdout, opts.json, "NO_SCENARIOS", err)
	}
	chosen := choose(all, opts)
	if opts.list && opts.json {
		return json.NewEncoder(stdout).Encode(chosen)
	}
	if opts.list {
		for _, s := range chosen {
			fmt.Fprintf(stdout, "%-16s %-24s %s\n", s.ID, strings.Join(s.Tags, ","), printable(s.Prompts[0]))
		}
		return nil
	}
	if len(chosen) == 0 {
		return fmt.Errorf("%w: no scenario has this id, tag and site", errUsage)
	}
	if opts.report != "" { // before any prompt is sent
		if err := os.MkdirAll(opts.report, 0o700); err != nil {
			return unasked(ctx, stdout, opts.json, "NO_REPORT", err)
		}
	}
	session, end, err := attach(ctx, opts.bridge, "portolan chats check", nil)
	if err != nil {
		return unasked(ctx, stdout, opts.json, "NOT_CONNECTED", err)
	}
	defer end()
	c := &checker{session: session, every: promptEvery, debug: opts.debug, log: stderr}
	if c.times, err = timesFile(opts.bridge.Dir); err != nil {
		return unasked(ctx, stdout, opts.json, "NO_TIMES", err)
	}
	c.readTimes()
	plan, err := c.plan(ctx, chosen, opts.sites)
	if err != nil {
		return unasked(ctx, stdout, opts.json, "CHAT_DISABLED", err)
	}
	if err := agreed(ctx, plan, opts.sure, os.Stdin, stderr); err != nil {
		return unasked(ctx, stdout, opts.json, "CANCELLED", err)
	}
	report := c.run(ctx, plan)
	if err := report.write(opts, stdout); err != nil {
		return err
	}
	if report.Failed > 0 {
		return fmt.Errorf("%d of %d checks failed", report.Failed, len(report.Results))
	}
	return nil
}

func chatsFlags(args []string) (*chatsOptions, error) {
	o := new(chatsOptions)
	flags := newFlags("chats")
	listFlag(flags, &o.sites, "site")
	listFlag(flags, &o.ids, "id")
	listFlag(flags, &o.tags, "tag")
	flags.StringVar(&o.file, "file", "", "")
	flags.StringVar(&o.report, "report", "", "")
	flags.BoolVar(&o.list, "list", false, "")
	flags.BoolVar(&o.debug, "debug", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.BoolVar(&o.sure, "yes", false, "")
	var err error
	o.bridge, _, err = bridgeFlags(flags, args, "")
	o.sites = namedSites(o.sites)
	return o, err
}

// attach returns an MCP session with the running bridge, as a client of that name. Step gets
// the progress of calls, and may be nil.
func attach(ctx context.Context, opts *bridge.Options, name string, step func(string)) (*mcp.ClientSession, func(), error) {
	local, err := bridge.Dial(ctx, opts)
	if errors.Is(err, bridge.ErrNoBridge) {
		return nil, nil, fmt.Errorf("%w: start portolan bridge, and open the browser that is paired with it", err)
	}
	if err != nil {
		return nil, nil, err
	}
	bridgeIn, clientOut := io.Pipe()
	clientIn, bridgeOut := io.Pipe()
	ctx, cancel := context.WithCancel(ctx)
	attached := make(chan error, 1)
	go func() {
		err := local.Attach(ctx, opts.Profile, opts.Project, bridgeIn, bridgeOut)
		_ = bridgeOut.CloseWithError(io.EOF)
		attached <- err
	}()
	end := func() {
		cancel()
		_ = clientOut.Close()
		<-attached
		local.Close()
	}
	client := mcp.NewClient(&mcp.Implementation{Name: name, Version: version}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
			if step != nil {
				step(req.Params.Message)
			}
		},
	})
	session, err := client.Connect(ctx, &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
	if err != nil {
		end()
		return nil, nil, err
	}
	return session, end, nil
}

// agreed asks before prompts go to the accounts of the person.
func agreed(ctx context.Context, plan []step, sure bool, in *os.File, out io.Writer) error {
	var sites []string
	prompts := 0
	for _, s := range plan {
		prompts += len(s.scenario.Prompts) * len(s.sites)
		for _, site := range s.sites {
			if !slices.Contains(sites, site) {
				sites = append(sites, site)
			}
		}
	}
	fmt.Fprintf(out, "This sends %d prompts to %s with the accounts in your browser, at most one a minute to each.\n",
		prompts, strings.Join(sites, ", "))
	if sure {
		return nil
	}
	nobody := fmt.Errorf("%w: nobody can be asked here; pass --yes if the accounts may be used", errUsage)
	t := personAt(in, out)
	if t == nil {
		return nobody
	}
	line, err := t.line(ctx, "Go on? [y/N] ")
	switch {
	case errors.Is(err, errNoLine):
		return nobody
	case err != nil:
		return err
	case !strings.HasPrefix(strings.ToLower(line), "y"):
		return errors.New("nothing was sent")
	}
	return nil
}

// callText calls a tool, and returns its result with the error's code.
func callText(ctx context.Context, session *mcp.ClientSession, tool string, arguments map[string]any) (*mcp.CallToolResult, string, error) {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, "", lost(ctx, err)
	}
	var meta struct {
		Error struct{ Code string } `json:"portolan/error"`
	}
	if text, err := json.Marshal(result.Meta); err == nil {
		_ = json.Unmarshal(text, &meta)
	}
	if result.IsError && meta.Error.Code == "" {
		meta.Error.Code = "UNKNOWN"
	}
	return result, meta.Error.Code, nil
}
