package sdksession

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
	"github.com/portolan-mcp/portolan/registry/text"
)

// checkStatus turns every answer that is no success into a typed error. The SDK
// would report text, and end the session over most of them.
func (w *wire) checkStatus(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode >= 200 && res.StatusCode < 300 {
			if id := res.Header.Get(sessionHeader); id != "" {
				if !isASCII(id) {
					res.Body.Close()
					return nil, registry.Because(registry.ErrProtocol, "the session id is not printable ASCII")
				}
				if !w.sessionID.CompareAndSwap(nil, &id) {
					// The SDK ends a session whose id changes; the first one counts.
					res.Header.Set(sessionHeader, *w.sessionID.Load())
				}
			}
			return res, nil
		}
		defer res.Body.Close()
		x := exchangeOf(req.Context())
		body, _ := io.ReadAll(io.LimitReader(res.Body, int64(w.limits.ErrorBytes)))
		if req.Context().Err() != nil {
			return nil, req.Context().Err()
		}
		if code := res.Header.Get("X-Proxy-Error"); code != "" && w.proxy != "" {
			return nil, corsproxy.ReadError(code, res.StatusCode, body)
		}
		rpc := w.redactRPC(rpcError(body))
		if x.method == "server/discover" && res.StatusCode >= 400 && res.StatusCode < 500 && !isElsewhere(res.StatusCode) {
			w.undiscovered.Store(true)
		}
		if x.method == "server/discover" && rpc != nil {
			// The SDK negotiates by the error's data.
			res.Body = io.NopCloser(bytes.NewReader(failure(x.id, rpc)))
			return res, nil
		}
		if res.StatusCode >= 300 && res.StatusCode < 400 {
			return nil, w.redirected(res)
		}
		status := &registry.StatusError{Code: res.StatusCode, Header: w.redactHeader(res.Header), Detail: w.shown(string(body))}
		switch {
		case w.forgot(req, res.StatusCode, rpc):
			w.expired.Store(true)
			return nil, registry.Because(registry.ErrSessionExpired, status.Error())
		case rpc != nil && res.StatusCode < 500 && !isElsewhere(res.StatusCode):
			return nil, rpc
		case x.isCall() && res.StatusCode >= 400 && res.StatusCode < 500 && !isElsewhere(res.StatusCode) && x.out != nil:
			x.out.refuse()
		}
		return nil, status
	})
}

// redirected names where the server would have us go, without what may be a secret in it.
func (w *wire) redirected(res *http.Response) error {
	to, err := res.Location()
	if err != nil {
		return registry.ErrRedirect
	}
	return registry.Because(registry.ErrRedirect, "to "+w.shown(to.Scheme+"://"+to.Host+to.EscapedPath()))
}

// isElsewhere reports whether a 4xx speaks of rights, proxies or rates, which says
// nothing about what was sent.
func isElsewhere(code int) bool {
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	}
	return false
}

// forgot says whether the answer means that the server no longer knows the
// session: 404 (MCP 2025-11-25, session management), or a 400 as many servers
// answer it, unless a JSON-RPC error names another fault.
func (w *wire) forgot(req *http.Request, code int, rpc *registry.RPCError) bool {
	if req.Header.Get(sessionHeader) == "" {
		return false
	}
	if code == http.StatusNotFound {
		return true
	}
	return code == http.StatusBadRequest &&
		(rpc == nil || rpc.Code == -32000 || rpc.Code == -32001 || strings.Contains(strings.ToLower(rpc.Message), "session"))
}

// rpcError reads body as a JSON-RPC response with an error; nil if it is not.
func rpcError(body []byte) *registry.RPCError {
	e, err := open(body)
	if err != nil {
		return nil
	}
	return e.rpcError()
}

// shown makes a server's words fit to be shown.
func (w *wire) shown(words string) string {
	if w == nil {
		return words
	}
	return strings.TrimSpace(text.Plain(strings.ToValidUTF8(w.redact(words), ""), w.limits.MessageBytes))
}

// redact hides the configured header values, should the server repeat them. It
// comes before anything that cuts.
func (w *wire) redact(words string) string {
	for _, value := range w.headers {
		words = text.Redact(words, value)
	}
	if w.signIn != nil {
		words = w.signIn.Redact(words)
	}
	return words
}

func (w *wire) redactHeader(h http.Header) http.Header {
	h = h.Clone()
	for _, values := range h {
		for i, value := range values {
			values[i] = w.redact(value)
		}
	}
	return h
}

func (w *wire) redactRPC(e *registry.RPCError) *registry.RPCError {
	if w != nil && e != nil {
		e.Message = w.shown(e.Message)
		if e.Data != nil {
			e.Data = []byte(w.redact(string(e.Data)))
		}
	}
	return e
}

// answer makes the response that the SDK needs in place of one that it cannot take.
func answer(req *http.Request, code int, contentType string) *http.Response {
	res := &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: make(http.Header), Body: http.NoBody, Request: req,
	}
	if contentType != "" {
		res.Header.Set("Content-Type", contentType)
	}
	return res
}
