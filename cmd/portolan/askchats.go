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

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxQuestion limits a question from stdin, in bytes.
const maxQuestion = 200_000

// askChats puts a question to chats of the browser, through the running bridge, and prints
// the answers. Progress goes to stderr. A chat that fails fails the command, but the
// answers of the others are printed.
func askChats(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("ask")
	var sites []string
	listFlag(flags, &sites, "site")
	consensus, compare := flags.Bool("consensus", false, ""), flags.Bool("compare", false, "")
	asJSON := flags.Bool("json", false, "")
	opts, rest, err := bridgeFlags(flags, args, "one question in quotes, or - for stdin")
	if err != nil {
		return err
	}
	if *consensus && *compare {
		return fmt.Errorf("%w: --consensus compares too; want one of --consensus and --compare", errUsage)
	}
	question := rest[0]
	if question == "-" {
		if question, err = readQuestion(ctx, os.Stdin); err != nil {
			return unasked(ctx, stdout, *asJSON, "CANCELLED", err)
		}
	}
	if question = strings.TrimSpace(question); question == "" || len(question) > maxQuestion {
		return fmt.Errorf("%w: the question is empty, or has more than %d bytes", errUsage, maxQuestion)
	}
	session, end, err := attach(ctx, opts, "portolan ask", func(message string) {
		fmt.Fprintln(stderr, printable(firstLine(message)))
	})
	if err != nil {
		return unasked(ctx, stdout, *asJSON, "NOT_CONNECTED", err)
	}
	defer end()
	offered, err := offeredChats(ctx, session)
	if err != nil {
		return unasked(ctx, stdout, *asJSON, "CHAT_DISABLED", err)
	}
	services, err := chosenSites(namedSites(sites), offered)
	if err != nil {
		return unasked(ctx, stdout, *asJSON, "CHAT_DISABLED", err)
	}
	if len(services) == 1 && (*consensus || *compare) {
		return fmt.Errorf("%w: a comparison needs two chats or more, and has only %s", errUsage, services[0])
	}
	tool, arguments := chatToolFor(services, *consensus, *compare)
	arguments["prompt"] = question
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken("ask")
	result, err := session.CallTool(ctx, params)
	if err != nil {
		return unasked(ctx, stdout, *asJSON, "NOT_CONNECTED", lost(ctx, err))
	}
	return printAnswer(result, *asJSON, stdout)
}

// lost says in an error what became of a question if the bridge has ended meanwhile.
func lost(ctx context.Context, err error) error {
	if _, refused := errors.AsType[*jsonrpc.Error](err); refused || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("the bridge ended meanwhile (%w): the question may have been sent, so look at the chat before you ask again", err)
}

// readQuestion reads until the end of in, or until ctx ends: a read of a terminal goes on after an interrupt.
func readQuestion(ctx context.Context, in io.Reader) (string, error) {
	type reading struct {
		text []byte
		err  error
	}
	read := make(chan reading, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(in, maxQuestion+1))
		read <- reading{text, err}
	}()
	select {
	case r := <-read:
		return string(r.text), r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// unasked prints with --json why there is no answer, and returns it.
func unasked(ctx context.Context, stdout io.Writer, asJSON bool, code string, err error) error {
	if ctx.Err() != nil {
		code, err = "CANCELLED", context.Cause(ctx) // such as "interrupt signal received"
	}
	if !asJSON {
		return err
	}
	if u, ok := errors.AsType[unreachable](err); ok {
		code = u.code
	}
	return errors.Join(printJSON(stdout, map[string]callFailure{"error": {Code: code, Message: err.Error()}}), err)
}

// namedSites returns the sites that --site names, each once. A flag may name several, with
// commas. None are left with "all", which means the same as no name.
func namedSites(flags []string) (sites []string) {
	for _, names := range flags {
		for site := range strings.SplitSeq(names, ",") {
			site = strings.TrimSpace(site)
			if site == "all" {
				return nil
			}
			if !slices.Contains(sites, site) {
				sites = append(sites, site)
			}
		}
	}
	return sites
}

// chosenSites returns the named sites if the browser offers them, or else all that it offers.
func chosenSites(named, offered []string) ([]string, error) {
	if lacking := missing(named, offered); len(lacking) > 0 {
		return nil, fmt.Errorf("the browser does not offer %q: switch it on in the side panel; it offers %s",
			lacking[0], strings.Join(offered, ", "))
	}
	if len(named) == 0 {
		return offered, nil
	}
	return named, nil
}

// chatToolFor returns the tool that asks these sites, and its arguments without the prompt.
func chatToolFor(services []string, consensus, compare bool) (string, map[string]any) {
	several := map[string]any{"services": services}
	switch {
	case consensus:
		return "chat_consensus", several
	case compare:
		return "chat_compare", several
	case len(services) == 1:
		return "chat_" + services[0], map[string]any{}
	}
	return "chat_all", several
}

// printAnswer prints the texts of a result, or all of it as JSON.
func printAnswer(result *mcp.CallToolResult, asJSON bool, stdout io.Writer) error {
	text := printable(textOf(result))
	if asJSON {
		if err := printJSON(stdout, result); err != nil {
			return err
		}
	} else if !result.IsError {
		fmt.Fprintln(stdout, text)
	}
	if result.IsError {
		return errors.New(text)
	}
	return incomplete(result)
}

// incomplete returns which sites gave no answer, or why the answers were not compared.
func incomplete(result *mcp.CallToolResult) error {
	text, err := json.Marshal(result.StructuredContent)
	var sites map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &sites) != nil {
		return nil
	}
	fault := sites["error"]
	if answers := sites["answers"]; answers != nil { // of chat_consensus
		sites = nil
		_ = json.Unmarshal(answers, &sites)
	}
	var failed []string
	for site, value := range sites {
		var outcome struct{ Answer, Error json.RawMessage }
		if json.Unmarshal(value, &outcome) == nil && outcome.Error != nil && outcome.Answer == nil {
			failed = append(failed, site)
		}
	}
	if len(failed) > 0 {
		slices.Sort(failed)
		return fmt.Errorf("no answer from %s", strings.Join(failed, ", "))
	}
	var why *struct{ Code, Message string }
	if json.Unmarshal(fault, &why) != nil || why == nil {
		return nil
	}
	return errors.New(printable(fmt.Sprintf("%s (%s)", why.Message, why.Code)))
}

// firstLine returns the first line of a text, cut to a line of a terminal.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(line); len(runes) > 120 {
		return string(runes[:120]) + "…"
	}
	return line
}
