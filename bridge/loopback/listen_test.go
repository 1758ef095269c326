package loopback_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

type oneConn struct {
	net.Listener
	conn net.Conn
}

func (l oneConn) Accept() (net.Conn, error) { return l.conn, nil }

// Others wait while a message is written to a peer.
func TestAPeerThatDoesNotReadIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer, own := net.Pipe()
		defer peer.Close()
		c, err := loopback.Capped(oneConn{conn: own}).Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		time.AfterFunc(time.Hour, func() { peer.Close() })
		began := time.Now()
		_, err = c.Write([]byte("a message"))
		if took := time.Since(began); err == nil || took > time.Minute {
			t.Errorf("the write took %v: %v", took, err)
		}
	})
}

// A stranger that sends no body keeps no connection, of which there are few. A client has time for its body.
func TestBodiesThatDoNotCome(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/stranger", func(w http.ResponseWriter, _ *http.Request) {
		loopback.Deny(http.StatusForbidden, "no").Write(w)
	})
	mux.HandleFunc("/client", func(w http.ResponseWriter, req *http.Request) {
		loopback.Admitted(w)
		body, err := io.ReadAll(req.Body)
		fmt.Fprintf(w, "%s %v", body, err)
	})
	server := loopback.Server(t.Context(), loopback.Guard(mux))
	go func() { _ = server.Serve(loopback.Capped(l)) }()
	defer server.Close()
	dial := func(path string) net.Conn {
		t.Helper()
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 4\r\n\r\nab", path, l.Addr())
		return c
	}
	client, stranger := dial("/client"), dial("/stranger")
	defer client.Close()
	defer stranger.Close()
	if text, err := io.ReadAll(stranger); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 403") {
		t.Errorf("the stranger got %q, %v", text, err)
	}
	fmt.Fprintf(client, "cdGET / HTTP/1.1\r\nHost: %s\r\n\r\n", l.Addr())
	if text, err := io.ReadAll(client); err != nil || !strings.Contains(string(text), "abcd <nil>") {
		t.Errorf("the client got %q, %v", text, err)
	}
}
