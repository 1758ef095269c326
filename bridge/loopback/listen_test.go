package loopback_test

import (
	"net"
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
