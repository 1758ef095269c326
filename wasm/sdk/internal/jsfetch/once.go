//go:build js

package jsfetch

import (
	"net/http"
	"strings"
	"sync"

	"github.com/hack-pad/safejs"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Chromium silently sends a POST again when a reused connection dies before the
// answer: measured, six calls of a tool ran eleven times. It cannot do that to a
// body that is a stream, which needs HTTP/2 or later. So the calls of tools are
// streamed where the connection is known to be that; over HTTP/1.1 nothing helps.

// origins remembers which origins speak HTTP/2 or later.
type origins struct {
	mu    sync.Mutex
	later map[string]bool
}

// streams says whether the body of req is to be sent as a stream.
func (o *origins) streams(req *http.Request, body []byte) bool {
	if req.Method != http.MethodPost || req.URL.Scheme != "https" || !isCall(body) || !canStream() {
		return false
	}
	origin := req.URL.Scheme + "://" + req.URL.Host
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.later[origin] {
		return true
	}
	if !spokeHTTP2(req.URL.String()) {
		return false
	}
	if o.later == nil {
		o.later = make(map[string]bool)
	}
	o.later[origin] = true
	return true
}

func isCall(body []byte) bool {
	raw, _ := rawjson.Get(body, "method")
	method, _ := rawjson.String(raw)
	return method == "tools/call"
}

// canStream says whether fetch takes a stream as a body. Where it does not, it
// would send the text "[object ReadableStream]", with a Content-Type for it.
var canStream = sync.OnceValue(func() bool {
	stream, err := construct("ReadableStream")
	if err != nil {
		return false
	}
	init, err := safejs.ValueOf(unwrap(map[string]any{"method": "POST", "duplex": "half", "body": stream}))
	if err != nil {
		return false
	}
	request, err := construct("Request", "https://stream.invalid", init)
	if err != nil {
		return false
	}
	headers, err := request.Get("headers")
	if err != nil {
		return false
	}
	typed, err := headers.Call("has", "Content-Type")
	if err != nil {
		return false
	}
	hasType, err := typed.Bool()
	return err == nil && !hasType
})

// spokeHTTP2 looks in the platform's own records of earlier requests, which tell
// for origins that send Timing-Allow-Origin.
func spokeHTTP2(url string) bool {
	performance, err := safejs.Global().Get("performance")
	if err != nil || performance.IsUndefined() {
		return false
	}
	entries, err := performance.Call("getEntriesByName", url)
	if err != nil {
		return false
	}
	n, err := entries.Length()
	if err != nil || n == 0 {
		return false
	}
	last, err := entries.Index(n - 1)
	if err != nil {
		return false
	}
	protocol, err := last.Get("nextHopProtocol")
	if err != nil || protocol.Type() != safejs.TypeString {
		return false
	}
	name, err := protocol.String()
	return err == nil && (strings.HasPrefix(name, "h2") || strings.HasPrefix(name, "h3"))
}

// streamOf makes a ReadableStream of one chunk.
func streamOf(bytes safejs.Value) (safejs.Value, error) {
	blob, err := construct("Response", bytes)
	if err != nil {
		return safejs.Value{}, err
	}
	return blob.Get("body")
}
