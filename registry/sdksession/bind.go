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
		ctx, cancel := context.WithCancel(req.Context())
		stop := context.AfterFunc(w.done, cancel)
		stopProbe := func() bool { return false }
		if exchangeOf(ctx).method == "server/discover" && w.probe > 0 {
			stopProbe = time.AfterFunc(w.probe, cancel).Stop
		}
		res, err := next.RoundTrip(req.WithContext(ctx))
		if err != nil {
			ended := ctx.Err()
			stopProbe()
			stop()
			cancel()
			if ended != nil {
				return nil, ended
			}
			return nil, unanswered(err)
		}
		body := res.Body
		context.AfterFunc(ctx, func() { body.Close() })
		res.Body = &boundBody{body, ctx, func() {
			stopProbe()
			stop()
			cancel() // closes the body
		}}
		return res, nil
	})
}

// unanswered is what a request without a response fails with: what a layer below
// refused it for, or else that the network did.
func unanswered(err error) error {
	if isKind(err) {
		return err
	}
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return registry.Because(registry.ErrNetwork, err.Error())
}

// A boundBody is closed by its context, whoever is reading.
type boundBody struct {
	io.ReadCloser
	ctx     context.Context
	release func()
}

func (b *boundBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && b.ctx.Err() != nil {
		err = b.ctx.Err()
	}
	return n, err
}

func (b *boundBody) Close() error {
	b.release()
	return nil
}
