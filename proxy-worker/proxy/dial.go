//go:build !js

package proxy

import (
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// Transport returns the upstream for [Policy.Handler]. It does not decompress bodies.
// Unless private is set, it connects to public addresses only. Each address is checked
// after the name was resolved, when the socket is made. So a name that resolves
// differently later (DNS rebinding) cannot reach a private address.
func Transport(private bool) *http.Transport {
	var d net.Dialer
	if !private {
		d.Control = publicOnly
	}
	return &http.Transport{
		DialContext: d.DialContext, DisableCompression: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second,
		MaxIdleConnsPerHost: 16, MaxResponseHeaderBytes: 64 << 10,
	}
}

// An addressError is the refusal of an address that is not public.
type addressError struct{ code string }

func (e *addressError) Error() string { return "the server's address is refused: " + e.code }

func publicOnly(network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return &addressError{"address_reserved"} // such as a Unix socket
	}
	if refused := addressRefusal(to.Addr()); refused != nil {
		return &addressError{refused.code}
	}
	return nil
}
