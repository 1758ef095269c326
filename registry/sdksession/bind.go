package sdksession

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// bindToContexts ends a request and its body with the request's context and with
// the session. Under js/wasm net/http stops watching the context once the headers
// are there: six cancelled calls to a dripping server held all six connections of
// an origin.
func (w *wire) bindToContexts(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if err := w.done.Err(); err != nil {
			return nil, err
		}
		caller := req.Context()
		ctx, cancel := context.WithCancel(context.WithoutCancel(caller))
		stopCaller := context.AfterFunc(caller, cancel)
		stopSession := context.AfterFunc(w.done, cancel)
		stopProbe := func() bool { return false }
		if exchangeOf(ctx).method == "server/discover" && w.probe > 0 {
			stopProbe = time.AfterFunc(w.probe, cancel).Stop
		}
		res, err := next.RoundTrip(req.WithContext(ctx))
		if err != nil {
			ended := errors.Join(caller.Err(), ctx.Err())
			stopCaller()
			stopSession()
			stopProbe()
			cancel()
			if ended != nil {
				return nil, ended
			}
			return nil, unanswered(err)
		}
		body := res.Body
		context.AfterFunc(ctx, func() { body.Close() })
		res.Body = &boundBody{ReadCloser: body, caller: caller, ctx: ctx, detach: stopCaller, release: func() {
			stopCaller()
			stopSession()
			stopProbe()
			cancel() // closes the body
		}}
		return res, nil
	})
}

// unanswered is what a request without a response fails with: what a layer below
// refused it for, or else that the network did.
func unanswered(err error) error {
	if kindOf(err) != nil {
		return err
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return registry.Because(registry.ErrNetwork, err.Error())
}

// A boundBody is closed by the contexts of its request and of its session, whoever
// is reading.
type boundBody struct {
	io.ReadCloser
	caller  context.Context // of the request
	ctx     context.Context // ends with caller, with the session, and on Close
	detach  func() bool     // from caller
	release func()
}

func (b *boundBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.ctx.Err() != nil {
		err = errors.Join(b.caller.Err(), b.ctx.Err())
	}
	return n, err
}

func (b *boundBody) Close() error {
	b.release()
	return nil
}

const (
	drainBytes = 16 << 10
	drainTime  = time.Second
)

// drain closes the body in the background, after reading what little may be left:
// a connection whose body was dropped before its end cannot be used again, and
// over HTTP/1.1 each call would pay for a new one. The caller has its answer and
// may end meanwhile.
func (b *boundBody) drain() {
	b.detach()
	timer := time.AfterFunc(drainTime, b.release)
	go func() {
		io.CopyN(io.Discard, b.ReadCloser, drainBytes)
		timer.Stop()
		b.release()
	}()
}
