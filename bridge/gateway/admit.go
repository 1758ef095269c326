package gateway

import (
	"net/http"
	"strings"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// admit returns the origin whose token a request has. It sets the headers that let that
// page read the response. It refuses the request otherwise, or answers it if it is a
// preflight; ok is false then.
func (g *Gateway) admit(w http.ResponseWriter, req *http.Request) (owner string, ok bool) {
	all, err := g.origins.load()
	if err != nil {
		g.opts.Logger.Error("the admitted origins cannot be read", "error", err)
		loopback.Deny(http.StatusInternalServerError, "the gateway cannot read its origins").Write(w)
		return "", false
	}
	w.Header().Add("Vary", "Origin")
	origin, denied := originOf(req, all)
	if denied != nil {
		denied.Write(w)
		return "", false
	}
	if origin != "" {
		allowPage(w.Header(), req, origin)
	}
	if req.Method == http.MethodOptions && origin != "" {
		w.WriteHeader(http.StatusNoContent) // a preflight carries no token
		return "", false
	}
	if owner, denied = ownerOf(req, all, origin); denied == nil && !g.mayAsk(owner) {
		denied = loopback.Deny(http.StatusTooManyRequests, "too many requests in a second")
	}
	if denied != nil {
		denied.Write(w)
		return "", false
	}
	loopback.Admitted(w)
	return owner, true
}

// originOf returns the admitted origin that a browser wrote, or "" if a program sent the
// request.
func originOf(req *http.Request, all *grants) (origin string, denied *loopback.Denial) {
	origin, present, denied := loopback.SingleHeader(req, "Origin")
	if denied != nil {
		return "", denied
	}
	if present && (!validOrigin(origin) || !all.knows(origin)) {
		return "", loopback.Deny(http.StatusForbidden, "this origin is not admitted: pair it with the gateway first")
	}
	site, fetched, denied := loopback.SingleHeader(req, "Sec-Fetch-Site")
	if denied != nil {
		return "", denied
	}
	if fetched && !present && site != "none" {
		return "", loopback.Deny(http.StatusForbidden, "a page has to send its origin")
	}
	return origin, nil
}

// ownerOf returns the origin of the request's token. With an Origin header it has to be that
// one.
func ownerOf(req *http.Request, all *grants, origin string) (owner string, denied *loopback.Denial) {
	value, _, denied := loopback.SingleHeader(req, "Authorization")
	if denied != nil {
		return "", denied
	}
	scheme, token, _ := strings.Cut(value, " ")
	owner = all.owner(token)
	if !strings.EqualFold(scheme, "Bearer") || owner == "" || origin != "" && owner != origin {
		return "", loopback.Deny(http.StatusUnauthorized, "the bearer token is missing or wrong: pair this page with the gateway")
	}
	return owner, nil
}

// allowPage lets one page read the response.
func allowPage(h http.Header, req *http.Request, origin string) {
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
	if req.Method != http.MethodOptions {
		return
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", loopback.PageHeaders(req))
	h.Set("Access-Control-Max-Age", "600")
	if req.Header.Get("Access-Control-Request-Private-Network") == "true" {
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
}
