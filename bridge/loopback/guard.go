// Package loopback is what the HTTP servers of this machine have in common, the bridge
// and the gateway: listeners on loopback addresses, checks of the Host and Origin
// headers, and files that only their owner may read.
package loopback

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// ExtensionOrigin matches the origins of Chromium's extensions. Browsers write the Origin
// header, so a page cannot send one of these. An id of Firefox is random for each
// installation.
var ExtensionOrigin = regexp.MustCompile(
	`^(chrome-extension://[a-p]{32}|moz-extension://[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// A Denial is the response to a request that is refused before it has any effect.
type Denial struct {
	Status int
	Reason string
}

// Deny returns a denial.
func Deny(status int, reason string) *Denial { return &Denial{status, reason} }

// Write sends the denial.
func (d *Denial) Write(w http.ResponseWriter) {
	if d.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, d.Reason, d.Status)
}

// Guard returns a handler that sets the headers of all responses, and refuses requests
// whose Host header is not this server's address. It stops DNS rebinding: a page whose
// name resolves to 127.0.0.1 sends its own name. Connections are closed unless [Admitted] is called, because [Capped]
// allows few: strangers could keep the clients out. A server reads the rest of a body before it closes a connection.
func Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Connection", "close")
		if req.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(strangersBody))
		}
		local, ok := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !ok || !OwnAddress(req.Host, local) {
			Deny(http.StatusMisdirectedRequest, "the Host header is not this server's address").Write(w)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// strangersBody is the time for the body of a request that is not admitted.
const strangersBody = time.Second

// Admitted keeps the connection of a client open, and gives it time for the request's body.
func Admitted(w http.ResponseWriter) {
	w.Header().Del("Connection")
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
}

// OwnAddress reports whether host is a loopback name with the port of local.
func OwnAddress(host string, local net.Addr) bool {
	tcp, ok := local.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return false
	}
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == strconv.Itoa(tcp.Port) && host == net.JoinHostPort(name, port) &&
		(name == "127.0.0.1" || name == "::1" || name == "localhost")
}

// IsDialled reports whether the address that a client dialled is that of its connection.
// If not, another process may have passed the messages on.
func IsDialled(address string, req *http.Request) bool {
	local, ok := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
	// localhost means either loopback address. This process has both.
	return ok && OwnAddress(address, local) && (strings.HasPrefix(address, "localhost:") || address == local.String())
}

// SingleHeader returns the value of a header, if there is one. A header that occurs
// more than once is refused, because two readers could use different values.
func SingleHeader(req *http.Request, name string) (value string, present bool, denied *Denial) {
	values := req.Header.Values(name)
	switch len(values) {
	case 0:
		return "", false, nil
	case 1:
		return values[0], true, nil
	}
	return "", true, Deny(http.StatusBadRequest, "the header "+name+" is there more than once")
}

// PageOrigin reports whether text is an http or https origin as browsers write it.
func PageOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.Scheme+"://"+u.Host == text &&
		strings.ToLower(text) == text
}

// EqualSecrets compares in constant time. The lengths do not change the time.
func EqualSecrets(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
