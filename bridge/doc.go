// Package bridge lets desktop MCP clients use the tools of a browser extension.
//
// The extension dials out to the bridge over a loopback WebSocket, both prove that
// they are paired ([github.com/portolan-mcp/portolan/bridge/handshake]), and the
// extension then runs an MCP server on that socket. The bridge is its client, and
// relays as an MCP server itself: over stdio, and as streamable HTTP at /mcp.
//
//	b, err := bridge.New(nil)
//	if err == nil {
//		err = b.Listen()
//	}
//	if err == nil {
//		err = b.Serve(ctx) // until ctx ends
//	}
//
// Tools are defined in the extension. The bridge passes their list and their
// results on as they came, and what belongs to a call (progress, log messages,
// questions to the person, cancellation) to and from the one client that made it.
package bridge
