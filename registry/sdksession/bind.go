package sdksession

import (
	"context"
	"io"
	"net/http"
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
		if exchangeOf(ctx).method == "server/discover" && w.probe > 0 {
			time.AfterFunc(w.probe, cancel)
		}
		res, err := next.RoundTrip(req.WithContext(ctx))
		if err != nil {
			ended := ctx.Err()
			stop()
			cancel()
			if ended != nil {
				return nil, ended
			}
			return nil, registry.Because(registry.ErrNetwork, clean(err).Error())
		}
		body := res.Body
		context.AfterFunc(ctx, func() { body.Close() })
		res.Body = &boundBody{body, ctx, func() {
			stop()
			cancel() // closes the body
		}}
		return res, nil
	})
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
