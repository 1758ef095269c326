// Package socket carries MCP over a WebSocket: one JSON-RPC message in each text
// frame, with limits on what a peer may send. It is an [mcp.Transport] for either
// end, in either build of coder/websocket, and the pipe of a handshake before
// that.
package socket
