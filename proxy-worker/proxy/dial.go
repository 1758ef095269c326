//go:build !js

package proxy

import (
	"context"
	"net"
	"net/netip"
	"syscall"
)

// An AddressError says that a name resolved to an address that is not public.
type AddressError struct{ Code string }

func (e *AddressError) Error() string { return "the server's address is refused: " + e.Code }

// DialContext returns a dial function for http.Transport. Unless private is set, it
// connects to public addresses only. Each address is checked after the name was
// resolved, when the socket is made. So a name that resolves differently later (DNS
// rebinding) cannot reach a private address. The function may be called from several
// goroutines at once.
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
