// Package socket carries MCP over a WebSocket: one JSON-RPC message in each text
// frame, with limits on a peer's messages. [Conn] is an [mcp.Transport] for either end,
// in both builds of coder/websocket. The handshake before MCP uses it as its pipe.
package socket
