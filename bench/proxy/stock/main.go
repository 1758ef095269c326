//go:build js

// The proxy's function on the usual path, as plain.mjs has it, in the way that
// syumai/workers offers: workers.Serve, a Go program for each request. The measure
// for what one program for all requests saves.
package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare/fetch"
)

const (
	page = "http://localhost:5173"
	host = "127.0.0.1"
)

var (
	notSent     = regexp.MustCompile(`^(x-portolan-|x-forwarded-|cf-|sec-)|^(host|origin|referer|cookie|forwarded|via|connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-authorization|expect|content-length)$`)
	notReturned = regexp.MustCompile(`^access-control-|^(set-cookie|set-cookie2|connection|keep-alive|proxy-authenticate|trailer|transfer-encoding|upgrade|strict-transport-security|clear-site-data|alt-svc)$`)
)

func main() { workers.Serve(http.HandlerFunc(serve)) }

func serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Origin")
	if r.Header.Get("Origin") != page {
		refuse(w, 403, "origin_refused")
		return
	}
	w.Header().Set("Access-Control-Allow-Origin", page)
	if r.Method == "OPTIONS" {
		w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
		w.Header().Set("Access-Control-Allow-Headers", strings.Join(r.Header.Values("Access-Control-Request-Headers"), ","))
		w.Header().Set("Access-Control-Max-Age", "7200")
		w.WriteHeader(204)
		return
	}
	raw := r.Header.Get("X-Portolan-Target")
	if raw == "" {
		raw = r.URL.Query().Get("url")
	}
	target, err := url.Parse(raw)
	if err != nil || target.Scheme == "" {
		refuse(w, 400, "target_invalid")
		return
	}
	if target.Hostname() != host {
		refuse(w, 403, "host_refused")
		return
	}
	if !ofMCP(r) {
		refuse(w, 403, "not_mcp")
		return
	}
	body := r.Body
	if r.Method != "POST" {
		body = nil
	}
	req, err := fetch.NewRequest(r.Context(), r.Method, target.String(), body)
	if err != nil {
		refuse(w, 500, "internal")
		return
	}
	copyHeader(req.Header, r.Header, notSent)
	res, err := fetch.NewClient().Do(req, &fetch.RequestInit{Redirect: fetch.RedirectModeManual})
	if err != nil {
		refuse(w, 502, "upstream_unreachable")
		return
	}
	defer res.Body.Close()
	copyHeader(w.Header(), res.Header, notReturned)
	w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Proxy-Error")
	w.WriteHeader(res.StatusCode)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		_, _ = io.WriteString(w, ":\n\n")
		_, _ = io.Copy(struct{ io.Writer }{w}, res.Body) // w itself would take the stream and drop what was written
		return
	}
	_, _ = io.Copy(w, res.Body)
}

func ofMCP(r *http.Request) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	events := strings.Contains(accept, "text/event-stream")
	switch r.Method {
	case "POST":
		return events && strings.Contains(accept, "application/json") && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
	case "GET":
		return events
	}
	return r.Method == "DELETE" && r.Header.Get("Mcp-Session-Id") != ""
}

func copyHeader(to, from http.Header, except *regexp.Regexp) {
	for name, values := range from {
		if !except.MatchString(strings.ToLower(name)) {
			to[name] = values
		}
	}
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Proxy-Error", code)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"code": code}})
}
