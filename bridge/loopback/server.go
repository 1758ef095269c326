package loopback

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

type connKey struct{}

// Server returns a server with limits on the headers of requests. Requests end with ctx.
func Server(ctx context.Context, h http.Handler) *http.Server {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, c)
		},
	}
}

// Shutdown lets requests end for a second, then closes what is still open.
func Shutdown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return server.Close()
}

// Upgrade makes a request to a [Server] a WebSocket, and returns the connection below it.
// The caller has checked the request's origin: the library does not.
func Upgrade(w http.ResponseWriter, req *http.Request) (*websocket.Conn, net.Conn, error) {
	ws, err := websocket.Accept(w, req, &websocket.AcceptOptions{
		InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled,
	})
	below, _ := req.Context().Value(connKey{}).(net.Conn)
	return ws, below, err
}
