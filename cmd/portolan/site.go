package main

import (
	"io/fs"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// site serves the files of the demo page and, for it and for pages of other
// origins, a demo MCP server: streamable HTTP at /mcp, legacy SSE at /sse.
func site(files fs.FS) http.Handler {
	server := demoServer()
	one := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	mux.Handle("/mcp", withCORS(mcp.NewStreamableHTTPHandler(one, nil)))
	mux.Handle("/sse", withCORS(mcp.NewSSEHandler(one, nil)))
	mux.Handle("/", page(http.FileServerFS(files)))
	return mux
}

// page sets the headers of files. The content policy is what a page with a wasm
// module in a worker needs, and servers anywhere.
func page(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src *; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; base-uri 'none'; object-src 'none'")
		if strings.HasSuffix(req.URL.Path, ".wasm") {
			h.Set("Content-Type", "application/wasm") // compileStreaming insists
		}
		next.ServeHTTP(w, req)
	})
}

// withCORS lets pages of other origins use the demo server, which has nothing to
// protect.
func withCORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
		if req.Method == http.MethodOptions {
			h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			h.Set("Access-Control-Allow-Headers", "*, Authorization")
			h.Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, req)
	})
}
