package sdksession

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

// A wire is what the RoundTrippers of one session share.
type wire struct {
	base     http.RoundTripper
	limits   registry.Limits
	endpoint *url.URL
	headers  map[string]string
	proxy    string
	signIn   *oauth.Server // nil: the headers have the credentials
	sse      bool
	done     context.Context // ends with the session
	rate     *rate
	version  func() string // the negotiated protocol version, or ""
	lost     func(error)   // told why the session ends, before it does
	streams  *streamBudget
	probe    time.Duration // bounds server/discover

	sessionID    atomic.Pointer[string] // as the server named it
	expired      atomic.Bool            // the server no longer knows it
	denied       atomic.Pointer[error]  // how server/discover was answered with 401 or 403
	undiscovered atomic.Bool            // server/discover was answered with a refusal
	pending      sync.Map               // legacy SSE: *exchange by id
}

// waiting returns the request of a legacy session that id answers, or nil. Its
// answer comes on another connection than it went.
func (w *wire) waiting(id []byte) *exchange {
	x, ok := w.pending.Load(string(id))
	if !ok {
		return nil
	}
	return x.(*exchange)
}

// A roundTrip is an [http.RoundTripper] that is a function.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// chain composes the RoundTrippers: a request passes from the first to the last
// on its way out, its response from the last to the first on its way in.
func (w *wire) chain() http.RoundTripper {
	next := w.base
	for _, wrap := range slices.Backward([]func(http.RoundTripper) http.RoundTripper{
		surviving,
		w.guard,
		w.addHeaders,
		w.checkStatus,
		w.readReply,
		w.bindToContexts,
		w.checkHeaders,
		w.authorize,
		w.throughProxy,
	}) {
		next = wrap(next)
	}
	return next
}

// guard refuses requests that must not leave, and records every failure with
// its type, which the SDK loses.
func (w *wire) guard(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		x := exchangeOf(req.Context())
		if !sameOrigin(req.URL, w.endpoint) {
			return nil, x.fail(registry.Because(registry.ErrProtocol, "the server points to another origin"))
		}
		if req.Method == http.MethodDelete && w.expired.Load() {
			return answer(req, http.StatusNoContent, ""), nil
		}
		if denied := w.denied.Load(); denied != nil && x.method == "initialize" {
			return nil, x.fail(*denied)
		}
		if w.sse && x.isCall() {
			w.pending.Store(x.id, x)
			context.AfterFunc(req.Context(), func() { w.pending.Delete(x.id) })
		}
		res, err := next.RoundTrip(req)
		switch {
		case err == nil:
			return res, nil
		case (isStatus(err, 401, 403) || isSignIn(err)) && x.method == "server/discover":
			w.denied.Store(&err) // initialize would ask the user for the same once more
		case req.Method == http.MethodGet && x.isCall() && !errors.Is(err, registry.ErrNetwork) && req.Context().Err() == nil:
			// The answer cannot be resumed. The SDK would end the session; end the call.
			// The server has the call, so this is no expiry, after which it were sent again.
			err = x.fail(registry.Because(registry.ErrNetwork, "the rest of the answer is lost: "+err.Error()))
			res = answer(req, http.StatusOK, "text/event-stream")
			res.Body = io.NopCloser(strings.NewReader("data: " + string(failure(x.id, err)) + "\n\n"))
			return res, nil
		}
		return nil, x.fail(err)
	})
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Hostname() == b.Hostname() && port(a) == port(b)
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	default:
		return "80"
	}
}
