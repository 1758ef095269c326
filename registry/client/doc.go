// Package client is the MCP client: it opens sessions ([registry.Session]) over a
// [Platform], which moves bytes. It links neither net/http nor encoding/json, so that
// the page's module can contain it.
//
//	c := client.New(nethttp.New(nil), nil)
//	r := registry.New(&registry.Options{Connect: c.Connect})
//
// All protocol state and every decision live here: versions and eras, sessions, headers,
// request ids, fallback, cancellation, resumption, stream budgets and sign-in. The
// platform runs HTTP exchanges, frames and parses what comes back, and keeps tool
// definitions and results in tables. The client holds handles to them.
//
// There are two platforms. Package nethttp is for native hosts. Package browser is for
// the page's module; wasm/js/fetch is its other half.
//
// The client speaks MCP 2024-11-05 to 2026-07-28 over streamable HTTP and HTTP+SSE: tools,
// resources, prompts, completion, tasks, skills, logs, elicitation by forms and addresses, and
// OAuth. Servers of 2025-11-25 and before may ask for sampling and roots, if [Options] has them.
package client
