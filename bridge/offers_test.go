package bridge_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

//lint:file-ignore SA1019 log messages belong to the versions that the bridge speaks

// offering returns an extension with a resource, a template and a prompt that asks.
func offering(name string) *extension {
	e := newExtension(name)
	read := func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, Text: "hé"}}}, nil
	}
	e.server.AddResource(&mcp.Resource{Name: "a", URI: "file:///a"}, read)
	e.server.AddResourceTemplate(&mcp.ResourceTemplate{Name: "t", URITemplate: "file:///t/{x}"}, read)
	e.server.AddPrompt(&mcp.Prompt{Name: "s__greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}},
		func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
				Message: "Which tone?", Meta: mcp.Meta{"portolan/call": req.Params.Meta["portolan/call"]},
			})
			if err != nil {
				return nil, err
			}
			words := &mcp.TextContent{Text: "Greet " + req.Params.Arguments["who"] + ": " + answer.Action}
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: words}}}, nil
		})
	return e
}

// Resources and prompts of the extension reach a client, and its errors too. A question
// during a prompt goes to the client that asked for it.
func TestOffersOfTheExtension(t *testing.T) {
	b := start(t, nil)
	e := offering("Work")
	e.pair(t, b)
	e.connect(t, b)
	quiet := newDesktop(t, overHTTP(t, b, ""), nil)
	d := newDesktop(t, overHTTP(t, b, ""), &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "decline"}, nil
	}})
	d.names(t, true)
	ctx := t.Context()
	resources, err := d.ListResources(ctx, nil)
	if err != nil || len(resources.Resources) != 1 || resources.Resources[0].URI != "file:///a" {
		t.Errorf("resources %v, %v", resources, err)
	}
	templates, err := d.ListResourceTemplates(ctx, nil)
	if err != nil || len(templates.ResourceTemplates) != 1 {
		t.Errorf("templates %v, %v", templates, err)
	}
	read, err := d.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///t/7"})
	if err != nil || read.Contents[0].Text != "hé" {
		t.Errorf("read %v, %v", read, err)
	}
	var rpc *jsonrpc.Error
	if _, err = d.ReadResource(ctx, &mcp.ReadResourceParams{URI: "file:///none"}); !errors.As(err, &rpc) || rpc.Code != mcp.CodeResourceNotFound {
		t.Errorf("an unknown resource: %v", err)
	}
	prompts, err := quiet.ListPrompts(ctx, nil)
	if err != nil || len(prompts.Prompts) != 1 {
		t.Errorf("prompts %v, %v", prompts, err)
	}
	args := &mcp.GetPromptParams{Name: "s__greet", Arguments: map[string]string{"who": "Ada"}}
	prompt, err := d.GetPrompt(ctx, args)
	if err != nil || prompt.Messages[0].Content.(*mcp.TextContent).Text != "Greet Ada: decline" {
		t.Errorf("prompt %v, %v", prompt, err)
	}
	if _, err := quiet.GetPrompt(ctx, args); err == nil {
		t.Error("a client that cannot answer got a prompt")
	}
}

// A client hears that lists changed, and what servers write to their logs.
func TestChangesAndLogsReachClients(t *testing.T) {
	b := start(t, nil)
	e := offering("Work")
	e.pair(t, b)
	e.connect(t, b)
	changed, logs := make(chan string, 100), make(chan string, 100)
	d := newDesktop(t, overHTTP(t, b, ""), &mcp.ClientOptions{
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { changed <- "prompts" },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { changed <- "resources" },
		LoggingMessageHandler: func(_ context.Context, req *mcp.LoggingMessageRequest) {
			text, _ := req.Params.Data.(string)
			logs <- req.Params.Logger + " " + string(req.Params.Level) + " " + text
		},
	})
	d.names(t, true)
	if err := d.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "warning"}); err != nil {
		t.Fatal(err)
	}
	e.server.RemovePrompts("s__greet")
	e.server.RemoveResources("file:///a")
	heard := map[string]bool{}
	for !heard["prompts"] || !heard["resources"] {
		select {
		case what := <-changed:
			heard[what] = true
		case <-time.After(patience):
			t.Fatalf("heard %v", heard)
		}
	}
	for session := range e.server.Sessions() {
		for _, level := range []mcp.LoggingLevel{"info", "error"} {
			err := session.Log(t.Context(), &mcp.LoggingMessageParams{Logger: "files/quay", Level: level, Data: "sinking"})
			if err != nil {
				t.Error(err)
			}
		}
	}
	select {
	case got := <-logs:
		if got != "files/quay error sinking" {
			t.Errorf("heard %q", got)
		}
	case <-time.After(patience):
		t.Fatal("nothing was heard")
	}
}

// Without a browser the lists are empty, and the rest says why.
func TestOffersWithoutExtension(t *testing.T) {
	b := start(t, nil)
	d := newDesktop(t, overHTTP(t, b, ""), nil)
	resources, err := d.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 0 {
		t.Errorf("resources %v, %v", resources, err)
	}
	if _, err := d.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "a"}); err == nil || !strings.Contains(err.Error(), "No browser") {
		t.Errorf("a prompt: %v", err)
	}
}
