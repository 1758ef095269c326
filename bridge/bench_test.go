package bridge_test

import (
	"context"
	"io"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkCall measures a small call directly in memory, and over the bridge's
// two hops: HTTP or stdio lines, and the WebSocket.
func BenchmarkCall(b *testing.B) {
	measure := func(name string, connect func(b *testing.B) *mcp.ClientSession) {
		b.Run(name, func(b *testing.B) {
			s := connect(b)
			for b.Loop() {
				params := &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "x"}} // go-sdk marks them
				if _, err := s.CallTool(context.Background(), params); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	measure("memory", func(b *testing.B) *mcp.ClientSession {
		client, server := mcp.NewInMemoryTransports()
		session, err := newExtension("Work").server.Connect(context.Background(), server, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { session.Close() })
		return newDesktop(b, client, nil).ClientSession
	})
	measure("lines", func(b *testing.B) *mcp.ClientSession {
		bridge, _, _ := paired(b, nil)
		clientIn, bridgeOut := io.Pipe()
		bridgeIn, clientOut := io.Pipe()
		ended := make(chan error, 1)
		go func() { ended <- bridge.ServeClient(context.Background(), "", bridgeIn, bridgeOut) }()
		d := newDesktop(b, &mcp.IOTransport{Reader: clientIn, Writer: clientOut}, nil)
		b.Cleanup(func() { clientOut.Close(); <-ended; clientIn.Close() })
		return d.ClientSession
	})
	measure("http", func(b *testing.B) *mcp.ClientSession {
		_, _, d := paired(b, nil)
		return d.ClientSession
	})
}
