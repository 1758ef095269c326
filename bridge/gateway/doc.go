// Package gateway offers local stdio MCP programs to approved pages, as streamable HTTP on
// loopback addresses.
//
//	servers, notes, err := gateway.ReadConfig(file)
//	g, err := gateway.New(servers, nil)
//	if err == nil {
//		err = g.Listen()
//	}
//	if err == nil {
//		err = g.Serve(ctx) // until ctx ends
//	}
//
// The server called files is at http://127.0.0.1:55157/s/files/mcp. Its program starts
// with the first request of a client, and ends when no client uses it any more. Clients
// up to 2025-11-25 get a process for each session. Clients from 2026-07-28 on have no
// session, and get one for each origin. A shared server has one process for all.
//
// # Messages
//
// The gateway is a relay of JSON-RPC messages. It passes each one on as the text that it
// is, and changes three values only: the id of a client's request, its progress token, and
// the ids that notifications name. It changes them back on the way out. Several clients of
// one process can then use the same ids.
//
// The StreamableHTTPHandler of go-sdk cannot do this. Its transport refuses methods that it
// does not know. Only its own server may attach a message to the stream of a request. Its
// CommandTransport ends one process, not those that this one started. So the gateway has
// transports of its own, and go-sdk is the other side in its tests.
//
// A program does not say which request a message belongs to, except for progress. A
// question goes to the client that has a request under way. It goes on the response of that
// request if it is the only one, else on the client's standalone stream. If several
// clients of a shared process have requests under way, a question is refused.
//
// # Admission
//
// Every request to a server needs a token, and its Host header has to be the gateway's
// address. A page gets the token of its origin by pairing (handshake, over a WebSocket at
// /pair). The person who ran the gateway has it, too, if the origin is allowed. A token
// works for its origin only, or without an Origin header, as programs send requests.
package gateway
