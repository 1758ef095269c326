package main

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pageSettings are the settings.json of the demo page.
type pageSettings struct {
	Proxy string `json:"proxy"` // the template of the proxy beside the page
	Plain string `json:"plain"` // a server that needs it
	// Sandbox is the page for apps, on another origin.
	Sandbox string `json:"sandbox"`
}

// sandbox serves the page in which apps run, and nothing else.
func sandbox(files fs.FS) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/apps-sandbox.html", func(w http.ResponseWriter, req *http.Request) {
		http.ServeFileFS(w, req, files, "portolan/apps-sandbox.html")
	})
	return mux
}

// site serves the files of the demo page and a demo MCP server: streamable HTTP at /mcp,
// legacy SSE at /sse. Pages of other origins may use the server too.
func site(files fs.FS, settings pageSettings) http.Handler {
	demo := withCORS(demoHandler())
	mux := http.NewServeMux()
	mux.Handle("/mcp", demo)
	mux.Handle("/sse", demo)
	mux.HandleFunc("/settings.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(settings)
	})
	mux.Handle("/", page(http.FileServerFS(files)))
	return mux
}

// demoHandler serves the demo MCP server as any server would, without CORS headers.
func demoHandler() http.Handler {
	server := demoServer()
	one := func(*http.Request) *mcp.Server { return server }
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(one, nil))
	mux.Handle("/sse", mcp.NewSSEHandler(one, nil))
	return mux
}

// page sets the headers of files. The content policy allows a wasm module in a worker, and
// servers anywhere.
func page(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-cache")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Content-Security-Policy", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "+
			"worker-src 'self' blob:; connect-src *; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; "+
			"frame-src https: http://127.0.0.1:* http://localhost:*; base-uri 'none'; object-src 'none'")
		if strings.HasSuffix(req.URL.Path, ".wasm") {
			h.Set("Content-Type", "application/wasm") // compileStreaming refuses other types
		}
		next.ServeHTTP(w, req)
	})
}

// withCORS lets pages of other origins use the demo server, which has no secrets.
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
