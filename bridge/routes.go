package bridge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/portolan-mcp/portolan/bridge/loopback"
	"github.com/portolan-mcp/portolan/bridge/socket"
)

// routes returns the handler of the bridge's port.
func (b *Bridge) routes() http.Handler {
	return guarded(map[string]http.HandlerFunc{
		"/mcp": b.serveMCP, "/mcp-discovery": b.serveDiscovery, "/extension": b.serveExtension, "/local": b.serveLocal,
	})
}

// guarded returns the handler of some paths, for requests to this machine only.
func guarded(routes map[string]http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	for path, serve := range routes {
		mux.HandleFunc(path, serve)
	}
	return loopback.Guard(mux)
}

// serveDiscovery answers with the addresses of the bridge. Any program on this
// machine may read them; they are not secret.
func (b *Bridge) serveDiscovery(w http.ResponseWriter, req *http.Request) {
	origin, present, d := loopback.SingleHeader(req, "Origin")
	site, fetched, d2 := loopback.SingleHeader(req, "Sec-Fetch-Site")
	switch extension := loopback.ExtensionOrigin.MatchString(origin); {
	case d != nil:
	case d2 != nil:
		d = d2
	case req.Method != http.MethodGet:
		d = loopback.Deny(http.StatusMethodNotAllowed, "want GET")
	case present && !extension || fetched && site != "none" && !extension:
		d = loopback.Deny(http.StatusForbidden, "pages may not look for the bridge")
	}
	if d != nil {
		d.Write(w)
		return
	}
	if present { // an extension without the permission for this host
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Vary", "Origin")
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"name": "portolan", "version": 1, "startedAt": b.started.UnixMilli(),
		"wsUrl": "ws://" + b.Addr() + "/extension", "mcpUrl": "http://" + b.Addr() + "/mcp",
	})
}

// serveMCP is the endpoint of HTTP clients.
func (b *Bridge) serveMCP(w http.ResponseWriter, req *http.Request) {
	s, d := b.secrets()
	if d != nil {
		d.Write(w)
		return
	}
	page, d := mcpOnly(req, s.Token, b.approved)
	if page != "" {
		w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	allowPage(w.Header(), req, page)
	if d == nil && !b.rate.Allow() {
		d = loopback.Deny(http.StatusTooManyRequests, "too many requests in a second")
	}
	if d != nil {
		d.Write(w)
		return
	}
	loopback.Admitted(w)
	if req.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if page != "" {
		ctx, done := b.pages.during(req.Context(), page)
		defer done()
		req = req.WithContext(ctx)
	}
	since2026 := req.Header.Get("Mcp-Protocol-Version") >= modern
	if req.Method == http.MethodDelete && !since2026 {
		b.endSession(req.Header.Get("Mcp-Session-Id"))
		defer b.instances.end(req.Header.Get("Mcp-Session-Id"))
	}
	if req.Method == http.MethodPost {
		body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, socket.DefaultFrame))
		var large *http.MaxBytesError
		switch {
		case errors.As(err, &large):
			loopback.Deny(http.StatusRequestEntityTooLarge, "the message is larger than 2 MiB").Write(w)
			return
		case err != nil:
			return // the client left
		case socket.TooDeep(body, 64):
			loopback.Deny(http.StatusBadRequest, "the message is nested too deeply").Write(w)
			return
		}
		if text := misnamedTask(req.Header, body); since2026 && text != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(text)
			return
		}
		body = withTaskBody(body)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	if since2026 {
		b.stateless.ServeHTTP(w, req)
		return
	}
	session := req.Header.Get("Mcp-Session-Id")
	defer b.instances.during(session)()
	b.handler.ServeHTTP(w, req)
	for _, idle := range b.instances.takeLeft() {
		b.sockets.Go(func() { b.dismiss(idle) })
	}
}

// dismiss ends a session over HTTP. Its client gets 404 with its next request, and begins another one.
func (b *Bridge) dismiss(session string) {
	b.opts.Logger.Warn("a session was ended to make room for another one", "limit", maxInstances)
	b.endSession(session)
	req := &http.Request{Method: http.MethodDelete, URL: &url.URL{}, Header: http.Header{"Mcp-Session-Id": {session}}}
	b.handler.ServeHTTP(nowhere{}, req)
}

// nowhere is the writer of a response that nobody reads.
type nowhere struct{}

func (nowhere) Header() http.Header         { return http.Header{} }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
