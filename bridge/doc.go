// Package bridge lets desktop MCP clients use the tools of a browser extension.
//
// The extension dials the bridge over a loopback WebSocket. Both sides prove that
// they are paired ([github.com/portolan-mcp/portolan/bridge/handshake]). The
// extension then runs an MCP server on that socket, and the bridge is its client.
// For desktop clients the bridge is an MCP server: over stdio, and as streamable HTTP
// at /mcp.
//
//	b, err := bridge.New(nil)
//	if err == nil {
//		err = b.Listen()
//	}
//	if err == nil {
//		err = b.Serve(ctx) // until ctx ends
//	}
//
// Tools are defined in the extension. The bridge passes their list and their results
// on unchanged. Progress, log messages, questions and cancellation of a call go to and
// from the one client that made the call.
package bridge
