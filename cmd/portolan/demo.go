package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// demoServer returns an MCP server for trials. Each tool shows one feature of calls or
// results.
func demoServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "portolan-demo", Version: "1"}, &mcp.ServerOptions{
		Instructions:       "A server to try Portolan with. Nothing here has an effect.",
		CompletionHandler:  completeTide,
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	addOffers(s)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "Returns the text that it is given."},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			Text string `json:"text" jsonschema:"what to return"`
		}) (*mcp.CallToolResult, any, error) {
			return textResult(in.Text), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "Adds two numbers."},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			A float64 `json:"a"`
			B float64 `json:"b"`
		}) (*mcp.CallToolResult, any, error) {
			return textResult(fmt.Sprint(in.A + in.B)), nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "reverse",
		Description: "Reverses a text and counts its letters; the answer is structured."},
		func(_ context.Context, _ *mcp.CallToolRequest, in struct {
			Text string `json:"text"`
		}) (*mcp.CallToolResult, reversed, error) {
			runes := []rune(in.Text)
			slices.Reverse(runes)
			return nil, reversed{string(runes), len(runes)}, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "countdown", Description: "Counts down slowly and reports progress."}, countdown)
	mcp.AddTool(s, &mcp.Tool{Name: "picture", Description: "Returns a small picture."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			data, err := base64.StdEncoding.DecodeString(pixel)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/png", Data: data}}}, nil, err
		})
	mcp.AddTool(s, &mcp.Tool{Name: "ask", Description: "Asks for your name during the call."}, ask)
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Description: "Always answers that it failed."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			result := textResult("This tool fails on purpose.")
			result.IsError = true
			return result, nil, nil
		})
	return s
}

// addOffers adds a resource, a template with completion, and a prompt.
func addOffers(s *mcp.Server) {
	s.AddResource(&mcp.Resource{
		URI: "demo://harbour", Name: "harbour", Title: "The harbour", Description: "A text about the harbour.", MIMEType: "text/markdown",
	}, readDemo)
	s.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: "demo://tide/{day}", Name: "tide", Title: "The tide of a day", MIMEType: "text/plain",
	}, readDemo)
	s.AddPrompt(&mcp.Prompt{
		Name: "greet", Title: "Greet somebody", Description: "Asks the model for a greeting.",
		Arguments: []*mcp.PromptArgument{{Name: "who", Description: "Whom to greet.", Required: true}, {Name: "language"}},
	}, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		words := "Greet " + req.Params.Arguments["who"] + " in one sentence."
		if language := req.Params.Arguments["language"]; language != "" {
			words += " Write " + language + "."
		}
		message := &mcp.PromptMessage{Role: "user", Content: &mcp.TextContent{Text: words}}
		return &mcp.GetPromptResult{Description: "A greeting.", Messages: []*mcp.PromptMessage{message}}, nil
	})
}

// tides are the heights of the tide, in metres, by day.
var tides = map[string]string{"monday": "1.2", "tuesday": "1.4", "wednesday": "1.5", "thursday": "1.3", "friday": "1.1"}

func readDemo(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	contents := &mcp.ResourceContents{URI: uri, MIMEType: "text/markdown", Text: "# The harbour\n\nEight metres deep, and open all night.\n"}
	if day, ok := strings.CutPrefix(uri, "demo://tide/"); ok {
		height, known := tides[strings.ToLower(day)]
		if !known {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		contents = &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "High water on " + day + ": " + height + " m"}
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

// completeTide completes the day of the tide and the language of the greeting.
func completeTide(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	known := map[string][]string{
		"day":      slices.Sorted(maps.Keys(tides)),
		"language": {"English", "French", "German", "Portuguese", "Spanish"},
	}
	values := slices.DeleteFunc(known[req.Params.Argument.Name], func(value string) bool {
		return !strings.HasPrefix(strings.ToLower(value), strings.ToLower(req.Params.Argument.Value))
	})
	return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}

type reversed struct {
	Text   string `json:"text"`
	Length int    `json:"length"`
}

func textResult(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}

func countdown(ctx context.Context, req *mcp.CallToolRequest, in struct {
	From    int `json:"from,omitempty" jsonschema:"1 to 60; 5 if left out"`
	DelayMs int `json:"delayMs,omitempty" jsonschema:"0 to 1000; 200 if left out"`
}) (*mcp.CallToolResult, any, error) {
	from, delay := in.From, time.Duration(in.DelayMs)*time.Millisecond
	if from < 1 || from > 60 {
		from = 5
	}
	if delay <= 0 || delay > time.Second {
		delay = 200 * time.Millisecond
	}
	ticks := time.Tick(delay)
	for i := range from {
		if token := req.Params.GetProgressToken(); token != nil {
			req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: float64(i + 1), Total: float64(from), Message: fmt.Sprint(from - i),
			})
		}
		select {
		case <-ticks:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	return textResult("Lift-off."), nil, nil
}

func ask(ctx context.Context, req *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
		Message:         "What is your name?",
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
	})
	if err != nil {
		return nil, nil, err
	}
	if answer.Action != "accept" {
		return textResult("Hello, stranger."), nil, nil
	}
	return textResult(fmt.Sprintf("Hello, %v.", answer.Content["name"])), nil, nil
}

// pixel is a PNG of one transparent pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
