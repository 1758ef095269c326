// Package registry is a client registry of MCP servers. It discovers the tools of many
// servers at once, and gives each tool a name of its own. It converts them to the forms
// that models take, and dispatches a model's call to the right server.
//
//	r := registry.New(&registry.Options{Connect: client.New(nethttp.New(nil), nil).Connect})
//	defer r.Close()
//	_ = r.Add("docs", registry.ServerConfig{URL: "https://example.com/mcp"})
//	if err := r.Discover(ctx); err != nil {
//		log.Print(err) // names each server that failed; the others work
//	}
//	tools, _ := r.Export(convert.OpenAI, registry.Filter{})
//	result, err := r.Dispatch(ctx, registry.Call{Name: "docs__search", Arguments: args})
//
// # The pipeline
//
// Discover connects to all enabled servers in parallel, through [Options.Connect],
// and follows the pages of tools/list under [Limits]. Package names gives each tool a
// name that depends on nothing but its server's name and its own. [Registry.Export]
// writes the four dialects of package convert. [Registry.Dispatch] looks the name up,
// calls the tool under a deadline, and returns the result whole.
//
// The package knows no transport and no JSON-RPC. [Session] is the seam to the
// client; definitions and results cross it unopened as [Payload].
//
// # Approvals
//
// Package approvals compares each list with what the user has approved. A tool that
// changed is held: models do not see it before [Registry.ApproveTools].
//
// # Concurrency
//
// All methods of [Registry] may be called from several goroutines at once. One lock
// guards the state of all servers. Callbacks run with no lock held, except [Call.OnQueue]
// and [Call.OnRetry]. [Registry.Close] waits for all goroutines, five seconds at most.
//
// # Health
//
// Three failures in a row suspend a server, and its tools leave the list that models
// see. It is probed again after a cooldown that grows from 5 s to 5 min with
// jitter. Transport errors, 5xx, timeouts and answers that are not MCP count.
// Results with isError, other 4xx, the caller's own abort and being offline do not,
// and neither do deadlines that pass while the page is frozen.
//
// # Errors
//
// Errors wrap the sentinels Err…, [*ServerError], [*StatusError] and [*RPCError];
// [Explain] turns any of them into a stable code and a hint.
package registry
