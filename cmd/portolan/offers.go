package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/resulttext"
	"github.com/portolan-mcp/portolan/registry/text"
)

// An offerEntry is a resource, a template, a prompt or a skill in the output with --json.
type offerEntry struct {
	Server     string          `json:"server"`
	Name       string          `json:"name,omitempty"` // of a prompt, in the registry
	Definition json.RawMessage `json:"definition"`
}

// A kind is one kind of offers, by its member in the output with --json.
type kind struct {
	name string
	list func(*registry.Registry, context.Context, ...string) ([]registry.Offer, error)
}

// lists returns a command that prints a line for each offer of all named servers, or with --json all of them by kind.
// If one server fails, what the others offer is printed all the same. The failure is in the JSON, too. No file of a
// skill is read.
func lists(verb string, kinds ...kind) command {
	return func(ctx context.Context, args []string, stdout, _ io.Writer) error {
		flags := newFlags(verb)
		headers := headersFlag(flags)
		asJSON := flags.Bool("json", false, "")
		urls, err := parseSome(flags, args, 1, math.MaxInt, "name at least one URL")
		if err != nil {
			return err
		}
		r, _, err := newRegistry(ctx, urls, headers, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		var failed error
		all := make(map[string]any)
		for _, k := range kinds {
			offers, err := k.list(r, ctx)
			if failed == nil || err != nil && err.Error() != failed.Error() { // a server that does not answer has no kind
				failed = errors.Join(failed, err)
			}
			entries := []offerEntry{}
			for _, o := range offers {
				entries = append(entries, offerEntry{o.Server, o.Name, o.Def})
				if *asJSON {
					continue
				}
				var def struct {
					Title, Name, Description string
					Frontmatter              struct{ Description string } // of a skill
				}
				json.Unmarshal(o.Def, &def) // what is no text is not shown
				line, _, _ := strings.Cut(strings.TrimSpace(cmp.Or(def.Description, def.Frontmatter.Description)), "\n")
				if _, err := fmt.Fprintf(stdout, "%-40s %s\n", printable(o.Key), printable(cmp.Or(line, def.Title))); err != nil {
					return err
				}
			}
			all[k.name] = entries
		}
		if *asJSON {
			if failed != nil {
				all["error"] = explained(failed)
			}
			if err := printJSON(stdout, all); err != nil {
				return err
			}
		}
		return failed
	}
}

// read prints a resource: its text, or with --json the result as the server wrote it. Bytes
// go to the file of --output.
func read(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("read")
	headers := headersFlag(flags)
	asJSON := flags.Bool("json", false, "")
	output := flags.String("output", "", "")
	rest, err := parseSome(flags, args, 2, 2, "want URL and the URI of a resource")
	if err != nil {
		return err
	}
	r, names, err := newRegistry(ctx, rest[:1], headers, personAt(os.Stdin, stderr))
	if err != nil {
		return err
	}
	defer r.Close()
	result, err := r.ReadResource(ctx, names[0], rest[1])
	if err != nil {
		return failure(stdout, *asJSON, err)
	}
	raw, err := result.Payload.JSON()
	if err != nil {
		return err
	}
	if *asJSON {
		if err := printJSON(stdout, json.RawMessage(raw)); err != nil || *output == "" {
			return err
		}
	}
	var read struct {
		Contents []struct{ URI, MimeType, Text, Blob string }
	}
	if err := json.Unmarshal(raw, &read); err != nil {
		return registry.Because(registry.ErrProtocol, err.Error())
	}
	var whole []byte
	for _, c := range read.Contents {
		bytes, err := base64.StdEncoding.DecodeString(c.Blob)
		switch {
		case err != nil:
			return registry.Because(registry.ErrProtocol, "the bytes of "+clean(c.URI)+" are not base64")
		case *output != "":
			whole = append(append(whole, c.Text...), bytes...)
		case c.Blob != "":
			fmt.Fprintf(stdout, "[%s, %s, %d bytes: --output FILE writes them]\n", clean(c.URI), clean(c.MimeType), len(bytes))
		default:
			fmt.Fprintln(stdout, clean(c.Text))
		}
	}
	if *output != "" {
		return os.WriteFile(*output, whole, 0o600)
	}
	return nil
}

// prompt prints the messages of a prompt. Arguments are written as name=value.
func prompt(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := newFlags("prompt")
	headers := headersFlag(flags)
	asJSON := flags.Bool("json", false, "")
	rest, err := parseSome(flags, args, 2, math.MaxInt, "want URL, NAME and arguments")
	if err != nil {
		return err
	}
	given := make(map[string]string)
	for _, word := range rest[2:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return fmt.Errorf("%w: an argument is name=value", errUsage)
		}
		given[key] = value
	}
	arguments, _ := json.Marshal(given) // texts have JSON texts
	r, _, err := newRegistry(ctx, rest[:1], headers, personAt(os.Stdin, stderr))
	if err != nil {
		return err
	}
	defer r.Close()
	result, err := getPrompt(ctx, r, rest[1], arguments)
	if err != nil {
		return failure(stdout, *asJSON, err)
	}
	raw, err := result.Payload.JSON()
	if err != nil {
		return err
	}
	if *asJSON {
		return printJSON(stdout, json.RawMessage(raw))
	}
	var got struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return registry.Because(registry.ErrProtocol, err.Error())
	}
	for _, m := range got.Messages {
		words, _, err := resulttext.Of(append(append([]byte(`{"content":[`), m.Content...), "]}"...), 0, nil)
		if err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s: %s\n", clean(m.Role), printable(words))
	}
	return nil
}

// getPrompt looks a prompt up by either of its names.
func getPrompt(ctx context.Context, r *registry.Registry, name string, arguments []byte) (*registry.Result, error) {
	offers, err := r.Prompts(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range offers {
		if o.Key == name {
			return r.GetPrompt(ctx, o.Name, arguments)
		}
	}
	return r.GetPrompt(ctx, name, arguments)
}

// clean returns a server's text without what is hidden or controls a terminal.
func clean(s string) string {
	visible, _ := text.Clean(s)
	return printable(visible)
}

// failure prints an error with --json, and returns it.
func failure(stdout io.Writer, asJSON bool, err error) error {
	if !asJSON {
		return err
	}
	return errors.Join(printJSON(stdout, map[string]callFailure{"error": explained(err)}), err)
}

func explained(err error) callFailure {
	x := registry.Explain(err)
	return callFailure{x.Code, err.Error(), x.Status, cmp.Or(hintFor(err), x.Hint), x.Retryable}
}
