package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/portolan-mcp/portolan/bridge/rawmsg"
)

type callKey struct{}

// longTools says of tools that they may be tasks, or must be.
var longTools = map[string]string{
	"slow_compute": "optional", "failing_job": "required", "protocol_error_job": "optional", "confirm_delete": "optional",
	"multi_input": "optional",
}

// taskServer returns an extension with the tools that the suite's scenarios about tasks call.
func taskServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tasks", Version: "1"}, nil)
	s.AddReceivingMiddleware(markCalls, markLong)
	s.AddSendingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			if call := ctx.Value(callKey{}); call != nil && method == "elicitation/create" {
				req.GetParams().SetMeta(map[string]any{rawmsg.MetaCall: call})
			}
			return next(ctx, method, req)
		}
	})
	add := func(name string, answer func(ctx context.Context, req *mcp.CallToolRequest, in input) (string, error)) {
		schema := json.RawMessage(`{"type":"object"}`)
		s.AddTool(&mcp.Tool{Name: name, InputSchema: schema}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in input
			if len(req.Params.Arguments) > 0 {
				if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
					return nil, err
				}
			}
			said, err := answer(ctx, req, in)
			var wire *jsonrpc.Error
			if errors.As(err, &wire) {
				return nil, wire
			}
			if err != nil {
				said = err.Error()
			}
			return &mcp.CallToolResult{IsError: err != nil, Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil
		})
	}
	add("greet", func(_ context.Context, _ *mcp.CallToolRequest, in input) (string, error) {
		return "Hello, " + in.Name + "!", nil
	})
	add("slow_compute", func(ctx context.Context, _ *mcp.CallToolRequest, in input) (string, error) {
		return "computed", wait(ctx, time.Duration(in.Seconds*float64(time.Second)))
	})
	add("failing_job", func(ctx context.Context, _ *mcp.CallToolRequest, _ input) (string, error) {
		return "", errors.Join(wait(ctx, time.Second), errors.New("the job failed"))
	})
	add("protocol_error_job", func(context.Context, *mcp.CallToolRequest, input) (string, error) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "a fault"}
	})
	add("confirm_delete", func(ctx context.Context, req *mcp.CallToolRequest, _ input) (string, error) {
		return confirm(ctx, req, "Delete it?")
	})
	add("multi_input", func(ctx context.Context, req *mcp.CallToolRequest, _ input) (string, error) {
		var both sync.WaitGroup
		var said [2]string
		var errs [2]error
		for i := range 2 {
			both.Go(func() { said[i], errs[i] = confirm(ctx, req, fmt.Sprint("Part ", i)) })
		}
		both.Wait()
		return said[0] + ", " + said[1], errors.Join(errs[:]...)
	})
	return s
}

type input struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

func confirm(ctx context.Context, req *mcp.CallToolRequest, message string) (string, error) {
	answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{
		Message:         message,
		RequestedSchema: json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean"}}}`),
	})
	if err != nil {
		return "", err
	}
	return answer.Action, nil
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// markCalls keeps the mark of a call for its questions.
func markCalls(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok {
			ctx = context.WithValue(ctx, callKey{}, call.Params.Meta[rawmsg.MetaCall])
		}
		return next(ctx, method, req)
	}
}

// markLong adds to the list of tools which may be tasks. go-sdk has no field for it.
func markLong(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		result, err := next(ctx, method, req)
		list, ok := result.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return result, err
		}
		var tools []map[string]any
		for _, t := range list.Tools {
			tool := map[string]any{"name": t.Name, "inputSchema": t.InputSchema}
			if support := longTools[t.Name]; support != "" {
				tool["execution"] = map[string]string{"taskSupport": support}
			}
			tools = append(tools, tool)
		}
		text, err := json.Marshal(map[string]any{"tools": tools})
		return &rawmsg.Result{Text: text}, err
	}
}
