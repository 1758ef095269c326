// Package toolserver is the MCP server that the extension runs for the bridge, on
// go-sdk. Its tools are JavaScript's: it is given their definitions as JSON, lists
// them byte for byte, checks arguments where it is told to, and passes calls on
// with their progress and cancellation.
//
//	s := toolserver.New("1.0.0", run)
//	s.Offer(tools)
//	err := s.Serve(ctx, transport)
package toolserver
