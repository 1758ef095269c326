package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/convert"
)

// A listing is the output of tools --json.
type listing struct {
	Servers map[string]serverEntry `json:"servers"`
	// Tools are toolEntry values, or with --format tools of that dialect.
	Tools  []any       `json:"tools"`
	Losses []lossEntry `json:"losses,omitempty"`
}

type serverEntry struct {
	URL             string   `json:"url"`
	Status          string   `json:"status"`
	ToolCount       int      `json:"toolCount"`
	Transport       string   `json:"transport,omitempty"`
	ProtocolVersion string   `json:"protocolVersion,omitempty"`
	Error           string   `json:"error,omitempty"`
	Hint            string   `json:"hint,omitempty"`
	Warnings        []string `json:"warnings,omitempty"`
}

type toolEntry struct {
	Name       string          `json:"name"`
	Server     string          `json:"server"`
	Tool       string          `json:"tool"`
	Definition json.RawMessage `json:"definition"`
}

type lossEntry struct {
	Tool string `json:"tool"`
	Path string `json:"path"`
	What string `json:"what"`
}

// tools lists the tools of all named servers. If one server fails, the others are listed
// all the same.
func tools(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("tools")
	headers := headersFlag(flags)
	format := flags.String("format", "", "")
	asJSON := flags.Bool("json", false, "")
	urls, err := parseSome(flags, args, 1, math.MaxInt, "name at least one URL")
	switch {
	case err != nil:
		return err
	case *format != "" && !slices.Contains(convert.Dialects(), convert.Dialect(*format)):
		return fmt.Errorf("%w: unknown format %q", errUsage, *format)
	}
	r, names, err := newRegistry(ctx, urls, headers, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	failed := r.Discover(ctx)
	list, err := newListing(r, names, urls, convert.Dialect(*format), hintsOf(failed))
	if err != nil {
		return err
	}
	for _, name := range names {
		for _, warning := range list.Servers[name].Warnings {
			fmt.Fprintf(stderr, "portolan tools: server %s: %s\n", name, warning)
		}
	}
	if err := list.print(stdout, *format, *asJSON); err != nil {
		return err
	}
	return failed
}

// hintsOf returns the hints for the servers that an error is about, by name.
func hintsOf(err error) map[string]string {
	hints := make(map[string]string)
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			maps.Copy(hints, hintsOf(one))
		}
	} else if failed, ok := errors.AsType[*registry.ServerError](err); ok {
		hints[failed.Server] = hintFor(err)
	}
	return hints
}

func newListing(
	r *registry.Registry, names, urls []string, format convert.Dialect, hints map[string]string,
) (*listing, error) {
	list := &listing{Servers: make(map[string]serverEntry), Tools: []any{}}
	for i, name := range names {
		health, _ := r.Health(name)
		list.Servers[name] = serverEntry{
			URL: urls[i], Status: health.Status, ToolCount: health.ToolCount, Transport: health.Transport,
			ProtocolVersion: health.ProtocolVersion, Error: health.LastError, Hint: hints[name], Warnings: health.Warnings,
		}
	}
	for _, tool := range r.Tools(registry.Filter{}) {
		def, err := tool.Def.JSON()
		if err != nil {
			return nil, fmt.Errorf("server %s changed its list meanwhile: run the command again: %w", tool.Server, err)
		}
		if format == "" {
			list.Tools = append(list.Tools, toolEntry{tool.Name, tool.Server, tool.RawName, def})
			continue
		}
		converted, losses, err := convert.Tool(format, tool.Name, tool.Server, def)
		if err != nil {
			return nil, err
		}
		list.Tools = append(list.Tools, json.RawMessage(converted))
		for _, loss := range losses {
			list.Losses = append(list.Losses, lossEntry{tool.Name, loss.Path, loss.What})
		}
	}
	return list, nil
}

// print writes the listing: whole with --json, the tools alone with --format, and
// otherwise a line for each tool.
func (list *listing) print(w io.Writer, format string, asJSON bool) error {
	switch {
	case asJSON:
		return printJSON(w, list)
	case format != "":
		return printJSON(w, list.Tools)
	}
	for _, t := range list.Tools {
		entry := t.(toolEntry)
		var def struct{ Description string }
		json.Unmarshal(entry.Definition, &def) // a description that is not a string is not shown
		line, _, _ := strings.Cut(strings.TrimSpace(def.Description), "\n")
		if _, err := fmt.Fprintf(w, "%-40s %s\n", printable(entry.Name), printable(line)); err != nil {
			return err
		}
	}
	return nil
}

// maxIndented bounds the JSON that is indented, in bytes. A list of numbers that lies 120 levels deep gets 120 times as
// long.
const maxIndented = 1 << 20

func printJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return err
	}
	if short := bytes.Clone(text.Bytes()); len(short) <= maxIndented {
		text.Reset()
		_ = json.Indent(&text, short, "", "  ") // it is JSON
	}
	var out strings.Builder
	for _, r := range text.String() { // encoding/json leaves the characters of a server that could control a terminal
		if r >= 0x7f && r < 0xa0 {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// printable removes characters from a server's text that could control a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}
