package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/portolan-mcp/portolan/bridge/socket"
)

// routes returns the handler of the bridge's port.
func (b *Bridge) routes() http.Handler {
	return guarded(map[string]http.HandlerFunc{
		"/mcp": b.serveMCP, "/mcp-discovery": b.serveDiscovery, "/extension": b.serveExtension, "/local": b.serveLocal,
	})
}

// guarded returns a handler that sets the headers of all responses, and refuses foreign
// Host headers.
func guarded(routes map[string]http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	for path, serve := range routes {
		mux.HandleFunc(path, serve)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		w.Header().Set("Cache-Control", "no-store")
		if d := ownHost(req); d != nil {
			writeDenial(w, d)
			return
		}
		mux.ServeHTTP(w, req)
	})
}

// serveDiscovery answers with the addresses of the bridge (B4). Any program on this
// machine may read them; they are not secret.
func (b *Bridge) serveDiscovery(w http.ResponseWriter, req *http.Request) {
	origin, present, d := singleHeader(req, "Origin")
	site, fetched, d2 := singleHeader(req, "Sec-Fetch-Site")
	switch extension := extensionOrigin.MatchString(origin); {
	case d != nil:
	case d2 != nil:
		d = d2
	case req.Method != http.MethodGet:
		d = deny(http.StatusMethodNotAllowed, "want GET")
	case present && !extension || fetched && site != "none" && !extension:
		d = deny(http.StatusForbidden, "pages may not look for the bridge")
	}
	if d != nil {
		writeDenial(w, d)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"name": "portolan", "version": 1, "startedAt": b.started.UnixMilli(),
		"wsUrl": "ws://" + b.Addr() + "/extension", "mcpUrl": "http://" + b.Addr() + "/mcp",
	})
}

// serveMCP is the endpoint of HTTP clients.
func (b *Bridge) serveMCP(w http.ResponseWriter, req *http.Request) {
	if !b.rate.Allow() {
		writeDenial(w, deny(http.StatusTooManyRequests, "too many requests in a second"))
		return
	}
	s, d := b.secrets()
	if d != nil {
		writeDenial(w, d)
		return
	}
	page, d := mcpOnly(req, s.Token, b.approved)
	if page != "" {
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	allowPage(w.Header(), page)
	if d != nil {
		writeDenial(w, d)
		return
	}
	if req.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if req.Method == http.MethodDelete {
		b.sessions.end(req.Header.Get("Mcp-Session-Id"))
		defer b.instances.end(req.Header.Get("Mcp-Session-Id"))
	}
	if req.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, socket.DefaultFrame))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			writeDenial(w, deny(http.StatusRequestEntityTooLarge, "the message is larger than 2 MiB"))
			return
		case err != nil:
			return // the client left
		case socket.TooDeep(body, 64):
			writeDenial(w, deny(http.StatusBadRequest, "the message is nested too deeply"))
			return
		}
		body = withTaskBody(body)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	defer b.instances.during(req.Header.Get("Mcp-Session-Id"))()
	b.handler.ServeHTTP(w, req)
}

// isDialled reports whether the address that a client dialled is that of its connection.
// If not, another process may have passed the messages on.
func isDialled(address string, req *http.Request) bool {
	local, ok := req.Context().Value(http.LocalAddrContextKey).(net.Addr)
	// localhost means either loopback address. This process has both.
	return ok && ownAddress(address, local) && (strings.HasPrefix(address, "localhost:") || address == local.String())
}
