package bridge

import (
	"mime"
	"net/http"
	"strings"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// extensionOnly returns the request's origin, and refuses any but an extension's.
func extensionOnly(req *http.Request) (origin string, denied *loopback.Denial) {
	origin, _, denied = loopback.SingleHeader(req, "Origin")
	if denied == nil && !loopback.ExtensionOrigin.MatchString(origin) {
		denied = loopback.Deny(http.StatusForbidden, "only a browser extension may connect here")
	}
	return origin, denied
}

// refuseBrowser refuses requests with headers that only browsers send.
func refuseBrowser(req *http.Request) *loopback.Denial {
	for name := range req.Header {
		if name == "Origin" || name == "Referer" || name == "Cookie" || strings.HasPrefix(name, "Sec-Fetch-") {
			return loopback.Deny(http.StatusForbidden, "browsers may not connect here")
		}
	}
	return nil
}

// mcpOnly admits or refuses a request to the MCP endpoint. page is the origin of the
// approved page that sent it, or empty.
func mcpOnly(req *http.Request, token string, allowed func(origin string) bool) (page string, denied *loopback.Denial) {
	origin, present, denied := loopback.SingleHeader(req, "Origin")
	if denied != nil {
		return "", denied
	}
	if present {
		if !allowed(origin) {
			return "", loopback.Deny(http.StatusForbidden, "this origin was not approved")
		}
		page = origin
	}
	site, fetched, denied := loopback.SingleHeader(req, "Sec-Fetch-Site")
	if denied != nil {
		return "", denied
	}
	if fetched && page == "" && site != "none" {
		return "", loopback.Deny(http.StatusForbidden, "pages that were not approved may not use this")
	}
	if req.Method == http.MethodOptions && page != "" {
		return page, nil // a preflight carries no credentials
	}
	return page, authorized(req, token)
}

func authorized(req *http.Request, token string) *loopback.Denial {
	value, _, denied := loopback.SingleHeader(req, "Authorization")
	if denied != nil {
		return denied
	}
	scheme, given, ok := strings.Cut(value, " ")
	// The comparison always runs, so that the time tells nothing about the header.
	if match := loopback.EqualSecrets(given, token); !ok || !strings.EqualFold(scheme, "Bearer") || !match || token == "" {
		return loopback.Deny(http.StatusUnauthorized, "the bearer token is missing or wrong; portolan bridge token prints it")
	}
	switch req.Method {
	case http.MethodGet, http.MethodDelete:
		return nil
	case http.MethodPost:
		if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return loopback.Deny(http.StatusUnsupportedMediaType, "the body must be application/json")
		}
		return nil
	}
	return loopback.Deny(http.StatusMethodNotAllowed, "want GET, POST or DELETE")
}

// allowPage lets this one page read the response.
func allowPage(h http.Header, req *http.Request, page string) {
	h.Add("Vary", "Origin")
	if page == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", page)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", loopback.PageHeaders(req)+", "+HeaderProject)
	h.Set("Access-Control-Max-Age", "600")
}
