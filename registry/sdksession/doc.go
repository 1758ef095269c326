// Package sdksession implements the seam [registry.Session] on the MCP project's
// own Go SDK. It speaks every protocol version that the SDK speaks, over
// streamable HTTP, legacy HTTP with SSE, and any [mcp.Transport].
//
//	connector := sdksession.New(nil)
//	r := registry.New(&registry.Options{Connect: connector.Connect})
//
// The SDK decides the protocol: versions, the handshake, JSON-RPC, requests that
// a server makes. What it must not see are payloads and surprises. Definitions
// and results pass it as raw bytes (see method.go). A chain of small
// RoundTrippers stands between it and the network and turns what would end its
// session (a page of HTML, a truncated body, an odd event stream, an event that
// is too large) into the failure of the one request concerned.
package sdksession
