package loopback

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// ErrPortTaken is the error of [Listen] if another process has the port.
var ErrPortTaken = errors.New("the port is taken")

// Listen listens on 127.0.0.1 and ::1 at the port of address. A machine
// without IPv6 has the first only.
func Listen(address string) ([]net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	if host != "localhost" && host != "127.0.0.1" && host != "::1" { // nothing would listen at another
		return nil, fmt.Errorf("listen on %s: not a loopback address of this server; take 127.0.0.1", address)
	}
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return nil, portError(address, err)
	}
	port = strconv.Itoa(four.Addr().(*net.TCPAddr).Port) // if it was 0
	six, err := net.Listen("tcp6", net.JoinHostPort("::1", port))
	switch {
	case errors.Is(err, syscall.EADDRINUSE): // a client that dials localhost could reach that process
		_ = four.Close()
		return nil, portError(address, err)
	case err != nil:
		return []net.Listener{four}, nil
	}
	return []net.Listener{four, six}, nil
}

func portError(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("listen on %s: %w", address, ErrPortTaken)
	}
	return fmt.Errorf("listen on %s: %w", address, err)
}

// maxSockets bounds the connections of one listener. A client that opens many cannot
// use up the file descriptors of this process.
const maxSockets = 128

type cappedListener struct {
	net.Listener
	slots chan struct{}
	done  chan struct{}
	end   func() // closes done, once
}

// Capped returns a listener that accepts no connection while maxSockets are open.
func Capped(l net.Listener) net.Listener {
	done := make(chan struct{})
	return &cappedListener{l, make(chan struct{}, maxSockets), done, sync.OnceFunc(func() { close(done) })}
}

func (l *cappedListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.done:
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &cappedConn{c, sync.OnceFunc(func() { <-l.slots })}, nil
}

func (l *cappedListener) Close() error {
	l.end()
	return l.Listener.Close()
}

type cappedConn struct {
	net.Conn
	free func()
}

// writeTimeout limits the time of one write. A client that keeps a stream open and does not read it is cut off.
const writeTimeout = 10 * time.Second

func (c *cappedConn) Write(p []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *cappedConn) Close() error {
	defer c.free()
	return c.Conn.Close()
}
