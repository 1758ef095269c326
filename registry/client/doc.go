// Package plane is the lean [registry.Session] of the page's wasm module: Go
// decides, the platform moves and parses bytes. It links neither go-sdk nor
// net/http nor encoding/json.
//
// All protocol state and every decision live here: versions and eras, sessions,
// headers, request ids, fallback, cancellation, resumption, stream budgets. What
// is below, a [Platform], runs HTTP exchanges, frames and parses what comes
// back, and keeps payloads (tool definitions, results) in tables of its own, so
// that they never cross into Go.
//
//	connector := plane.New(plane.JS(host.Get("plane")), &plane.Options{ClientName: "portolan"})
//	r := registry.New(&registry.Options{Connect: connector.Connect})
//
// It speaks the tools part of MCP 2024-11-05 to 2026-07-28 over streamable HTTP
// and the older HTTP+SSE transport. It does not speak sampling, roots, prompts,
// resources, tasks or OAuth; a server that asks for one is told so.
package client
