package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/validate"
)

// A person at the terminal answers questions of servers.
type person struct {
	mu    sync.Mutex // one question at a time
	lines <-chan string
	out   io.Writer
}

// personAt returns nil if in is no terminal: then nobody can be asked. Input that is closed reads as the null device.
func personAt(in *os.File, out io.Writer) *person {
	info, err := in.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	if null, err := os.Stat(os.DevNull); err == nil && os.SameFile(info, null) {
		return nil
	}
	return personTyping(in, out)
}

func personTyping(in io.Reader, out io.Writer) *person { return &person{lines: linesOf(in), out: out} }

var errNoLine = errors.New("the input ended")

// line asks for one line.
func (t *person) line(ctx context.Context, prompt string) (string, error) {
	fmt.Fprint(t.out, prompt)
	select {
	case line, ok := <-t.lines:
		if !ok {
			return "", errNoLine
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		fmt.Fprintln(t.out)
		return "", ctx.Err()
	}
}

// A formSchema is the requestedSchema of a question, with its properties in their order.
type formSchema struct {
	names    []string
	fields   map[string]formField
	required map[string]bool
}

type formField struct {
	formChoices
	Type, Title, Description string
	Default                  json.RawMessage
	Items                    formChoices
	schema                   []byte // the whole field
}

type formChoices struct {
	Enum         []any
	OneOf, AnyOf []struct{ Const, Title string }
}

func (f *formField) UnmarshalJSON(text []byte) error {
	type plain formField
	f.schema = bytes.Clone(text)
	return json.Unmarshal(text, (*plain)(f))
}

func (f *formSchema) UnmarshalJSON(text []byte) error {
	var s struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	f.required = map[string]bool{}
	for _, name := range s.Required {
		f.required[name] = true
	}
	if len(s.Properties) == 0 {
		return nil
	}
	if err := json.Unmarshal(s.Properties, &f.fields); err != nil {
		return err
	}
	_ = rawjson.Members(s.Properties, func(name string, _ []byte) error { // null has none
		f.names = append(f.names, name)
		return nil
	})
	return nil
}

// An elicitResult is an ElicitResult of the spec.
type elicitResult struct {
	Action  string         `json:"action"`
	Content map[string]any `json:"content,omitempty"`
}

// form answers a question by its fields, one after the other.
func (t *person) form(ctx context.Context, server string, params []byte) ([]byte, error) {
	var question struct {
		Message         string
		RequestedSchema formSchema
	}
	if err := json.Unmarshal(params, &question); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "\nThe server %s asks: %s\nNever give it a password. An empty line takes what is in brackets.\n",
		printable(server), printable(question.Message))
	content := map[string]any{}
	for _, name := range question.RequestedSchema.names {
		value, err := t.field(ctx, name, question.RequestedSchema.fields[name], question.RequestedSchema.required[name])
		if err != nil {
			return nil, err
		}
		if value != nil {
			content[name] = value
		}
	}
	action, err := t.choose(ctx, "Send this? [y]es, [n]o, [c]ancel: ")
	if err != nil {
		return nil, err
	}
	if action != "accept" {
		content = nil
	}
	return json.Marshal(elicitResult{action, content})
}

// message answers sampling/createMessage: the person writes the message in place of a model.
// An empty line declines.
func (t *person) message(ctx context.Context, server string, params []byte) ([]byte, error) {
	type words struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	var request struct {
		SystemPrompt string
		Messages     []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(params, &request); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "\nThe server %s asks a model. You can write the answer.\n", printable(server))
	if request.SystemPrompt != "" {
		fmt.Fprintf(t.out, "  system: %s\n", printable(request.SystemPrompt))
	}
	for _, m := range request.Messages {
		var w words
		if json.Unmarshal(m.Content, &w) != nil || w.Type != "text" {
			w.Text = string(m.Content[:min(len(m.Content), 200)])
		}
		fmt.Fprintf(t.out, "  %s: %s\n", printable(m.Role), printable(w.Text))
	}
	line, err := t.line(ctx, "Your answer, or nothing to decline: ")
	if err != nil {
		return nil, err
	}
	if line == "" {
		return nil, errors.New("the person declined")
	}
	return json.Marshal(map[string]any{"role": "assistant", "model": "a person", "content": words{"text", line}})
}

// field asks for a value until it is one. Without a value it returns nil.
func (t *person) field(ctx context.Context, name string, f formField, required bool) (any, error) {
	label := cmp.Or(f.Title, name)
	if f.Description != "" {
		label += " (" + f.Description + ")"
	}
	if f.Type == "array" {
		label += ", with commas between several"
		f.formChoices = f.Items
	}
	for _, choice := range append(f.OneOf, f.AnyOf...) {
		label += "\n  " + choice.Const + ": " + choice.Title
	}
	if len(f.Enum) > 0 {
		label += fmt.Sprintf(" %v", f.Enum)
	}
	if len(f.Default) > 0 {
		label += " [" + string(f.Default) + "]"
	}
	for {
		line, err := t.line(ctx, printable(label)+": ")
		if err != nil {
			return nil, err
		}
		switch {
		case line == "" && len(f.Default) > 0, line == "" && !required:
			return nil, nil
		case line == "":
			fmt.Fprintln(t.out, "It is required.")
			continue
		}
		value := f.read(line)
		text, err := json.Marshal(value)
		if err == nil {
			err = validate.Schema(f.schema, text)
		}
		if err == nil {
			return value, nil
		}
		why := strings.TrimPrefix(strings.TrimPrefix(err.Error(), validate.ErrArguments.Error()+": "), "the arguments: ")
		fmt.Fprintf(t.out, "That is not what it takes: %s.\n", printable(why))
	}
}

// read reads what was typed for a field. What cannot be read as its type stays a text.
func (f formField) read(line string) any {
	switch f.Type {
	case "integer", "number":
		if n, err := strconv.ParseInt(line, 10, 64); err == nil {
			return n
		}
		if n, err := strconv.ParseFloat(line, 64); err == nil {
			return n
		}
	case "boolean":
		lower := strings.ToLower(line)
		if strings.HasPrefix("yes", lower) || lower == "true" {
			return true
		}
		if strings.HasPrefix("no", lower) || lower == "false" {
			return false
		}
	case "array":
		var list []any
		for part := range strings.SplitSeq(line, ",") {
			list = append(list, strings.TrimSpace(part))
		}
		return list
	}
	return line
}

// address asks the person to open an address. The command opens nothing.
func (t *person) address(ctx context.Context, server string, params []byte) ([]byte, error) {
	var question struct {
		Message, URL string
		AwaitsEnd    bool
	}
	if err := json.Unmarshal(params, &question); err != nil {
		return nil, err
	}
	at, err := url.Parse(question.URL)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(t.out, "\nThe server %s wants you to open a page at %s: %s\n  %s\n",
		printable(server), at.Host, printable(question.Message), printable(question.URL))
	prompt := "Have you opened it? [y]es, [n]o, [c]ancel: "
	if question.AwaitsEnd {
		prompt = "Are you done there? [y]es, [n]o, [c]ancel: "
	}
	action, err := t.choose(ctx, prompt)
	if err != nil {
		return nil, err
	}
	return json.Marshal(elicitResult{Action: action})
}

func (t *person) choose(ctx context.Context, prompt string) (action string, err error) {
	for {
		line, err := t.line(ctx, prompt)
		if err != nil {
			return "", err
		}
		switch strings.ToLower(line) {
		case "y", "yes":
			return "accept", nil
		case "n", "no":
			return "decline", nil
		case "c", "cancel":
			return "cancel", nil
		}
	}
}
