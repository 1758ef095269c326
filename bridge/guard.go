package bridge

import (
	"mime"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// extensionOrigin matches the origins that may open a socket. Browsers write the Origin
// header, so a page cannot send one of these.
// An id of Firefox is random for each installation.
var extensionOrigin = regexp.MustCompile(
	`^(chrome-extension://[a-p]{32}|moz-extension://[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`)

// A denial is the response to a request that is refused before it has any effect.
type denial struct {
	status int
	reason string
}

func deny(status int, reason string) *denial { return &denial{status, reason} }

// ownHost refuses a Host header that is not this bridge's address. It stops DNS
// rebinding: a page whose name resolves to 127.0.0.1 sends its own name.
func ownHost(req *http.Request) *denial {
	local, ok := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok || !ownAddress(req.Host, local) {
		return deny(http.StatusMisdirectedRequest, "the Host header is not this bridge's address")
	}
	return nil
}

// ownAddress reports whether host is a loopback name with the port of local.
func ownAddress(host string, local net.Addr) bool {
	tcp, ok := local.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return false
	}
	name, port, err := net.SplitHostPort(host)
	return err == nil && port == strconv.Itoa(tcp.Port) && host == net.JoinHostPort(name, port) &&
		(name == "127.0.0.1" || name == "::1" || name == "localhost")
}

// singleHeader returns the value of a header, if there is one. A header that occurs
// more than once is refused, because two readers could use different values.
func singleHeader(req *http.Request, name string) (value string, present bool, denied *denial) {
	values := req.Header.Values(name)
	switch len(values) {
	case 0:
		return "", false, nil
	case 1:
		return values[0], true, nil
	}
	return "", true, deny(http.StatusBadRequest, "the header "+name+" is there more than once")
}

// extensionOnly returns the request's origin, and refuses any but an extension's.
func extensionOnly(req *http.Request) (origin string, denied *denial) {
	origin, _, denied = singleHeader(req, "Origin")
	if denied == nil && !extensionOrigin.MatchString(origin) {
		denied = deny(http.StatusForbidden, "only a browser extension may connect here")
	}
	return origin, denied
}

// refuseBrowser refuses requests with headers that only browsers send.
func refuseBrowser(req *http.Request) *denial {
	for name := range req.Header {
		if name == "Origin" || name == "Referer" || name == "Cookie" || strings.HasPrefix(name, "Sec-Fetch-") {
			return deny(http.StatusForbidden, "browsers may not connect here")
		}
	}
	return nil
}

// mcpOnly admits or refuses a request to the MCP endpoint. page is the origin of the
// approved page that sent it, or empty.
func mcpOnly(req *http.Request, token string, allowed func(origin string) bool) (page string, denied *denial) {
	origin, present, denied := singleHeader(req, "Origin")
	if denied != nil {
		return "", denied
	}
	if present {
		if !allowed(origin) {
			return "", deny(http.StatusForbidden, "this origin was not approved")
		}
		page = origin
	}
	site, fetched, denied := singleHeader(req, "Sec-Fetch-Site")
	if denied != nil {
		return "", denied
	}
	if fetched && page == "" && site != "none" {
		return "", deny(http.StatusForbidden, "pages that were not approved may not use this")
	}
	if req.Method == http.MethodOptions && page != "" {
		return page, nil // a preflight carries no credentials
	}
	return page, authorized(req, token)
}

func authorized(req *http.Request, token string) *denial {
	value, _, denied := singleHeader(req, "Authorization")
	if denied != nil {
		return denied
	}
	scheme, given, ok := strings.Cut(value, " ")
	// The comparison always runs, so that the time tells nothing about the header.
	if match := equalSecrets(given, token); !ok || !strings.EqualFold(scheme, "Bearer") || !match || token == "" {
		return deny(http.StatusUnauthorized, "the bearer token is missing or wrong; portolan bridge token prints it")
	}
	switch req.Method {
	case http.MethodGet, http.MethodDelete:
		return nil
	case http.MethodPost:
		if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return deny(http.StatusUnsupportedMediaType, "the body must be application/json")
		}
		return nil
	}
	return deny(http.StatusMethodNotAllowed, "want GET, POST or DELETE")
}

// pageOrigin reports whether text is an http or https origin as browsers write it.
func pageOrigin(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.Scheme+"://"+u.Host == text &&
		strings.ToLower(text) == text
}

func writeDenial(w http.ResponseWriter, d *denial) {
	if d.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	http.Error(w, d.reason, d.status)
}

// allowPage lets this one page read the response.
func allowPage(h http.Header, page string) {
	h.Add("Vary", "Origin")
	if page == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", page)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", pageHeaders)
	h.Set("Access-Control-Max-Age", "600")
}

const pageHeaders = "Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, " +
	"Mcp-Name, Last-Event-ID, " + HeaderProject
