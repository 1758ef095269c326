//go:build !js

package proxy

import (
	"context"
	"net"
	"net/netip"
	"syscall"
)

// An AddressError says that a name led to an address that is not public.
type AddressError struct{ Code string }

func (e *AddressError) Error() string { return "the server's address is refused: " + e.Code }

// DialContext is for http.Transport. Unless private is set it connects to public
// addresses only: each is checked when the socket is made, after the name was
// resolved, so that a name cannot lead inside when it resolves differently later (DNS rebinding).
// The function may be called from several goroutines at once.
func DialContext(private bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	if !private {
		d.Control = publicOnly
	}
	return d.DialContext
}

func publicOnly(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &AddressError{"address_reserved"} // not of the Internet: a Unix socket
	}
	if refused := addressRefusal(to.Addr()); refused != nil {
		return &AddressError{refused.code}
	}
	return nil
}
