package sdksession

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// readReply sees to it that the SDK gets, for each of its requests, exactly one
// well-formed answer of bounded size, or an error for that request alone.
func (w *wire) readReply(next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		res, err := next.RoundTrip(req)
		if err != nil || res.StatusCode < 200 || res.StatusCode >= 300 {
			return res, err
		}
		x := exchangeOf(req.Context())
		media := mediaType(res.Header)
		isEvents := media == "text/event-stream"
		switch {
		case req.Method == http.MethodGet:
			if !isEvents {
				defer res.Body.Close()
				return nil, w.unexpected(res, media)
			}
			res.Body = w.newStream(req, res.Body, x)
		case req.Method != http.MethodPost || w.sse || !x.isCall():
			// Nothing in the body is for us: the answer comes another way, or there is none.
			res.Body.Close()
			accepted := answer(req, http.StatusAccepted, "")
			copySession(accepted, res)
			return accepted, nil
		case isEvents:
			res.Body = w.newStream(req, res.Body, x)
		case media == "" || media == "application/json" || strings.HasSuffix(media, "+json"):
			defer res.Body.Close()
			text, err := readBounded(res.Body, w.limits.ResponseBytes)
			if err == nil {
				text, err = w.pick(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), x)
			}
			if err != nil {
				if req.Context().Err() != nil {
					err = req.Context().Err()
				}
				return nil, err
			}
			res.Body = io.NopCloser(bytes.NewReader(text))
			res.ContentLength = int64(len(text))
			media = "application/json"
		default:
			defer res.Body.Close()
			return nil, w.unexpected(res, media)
		}
		res.Header.Set("Content-Type", media) // as the SDK knows it
		return res, nil
	})
}

// mediaType is the type that a response names, without parameters, whatever they are.
func mediaType(h http.Header) string {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(media))
}

func copySession(to, from *http.Response) {
	if id := from.Header.Get(sessionHeader); id != "" {
		to.Header.Set(sessionHeader, id)
	}
}

func (w *wire) unexpected(res *http.Response, media string) error {
	if media == "" {
		media = "nothing"
	}
	what := "http status " + res.Status + " with " + media
	if start, _ := io.ReadAll(io.LimitReader(res.Body, 200)); len(start) > 0 {
		what += ": " + string(start)
	}
	return registry.Because(registry.ErrProtocol, w.shown(what))
}

// pick returns from the JSON text of an answer what the SDK is to take for the
// response to x: from the text itself, or from an element of a batch (MCP
// 2025-03-26). A JSON-RPC error that names no request is the answer to this one.
func (w *wire) pick(text []byte, x *exchange) ([]byte, error) {
	if rawjson.Kind(text) == 'a' {
		var found []byte
		err := rawjson.Elements(text, func(v []byte) error {
			if e, err := open(v); err == nil && e.answers(x.id) {
				found = v
			}
			return nil
		})
		if err != nil {
			return nil, registry.Because(registry.ErrProtocol, err.Error())
		}
		text = found
	}
	e, err := open(text)
	switch {
	case err != nil:
		return nil, registry.Because(registry.ErrProtocol, err.Error())
	case e.answers(x.id):
		return x.settle(&e, w.limits.Depth), nil
	case e.id == nil || rawjson.Kind(e.id) == '0':
		if rpc := e.rpcError(); rpc != nil {
			return nil, rpc
		}
	}
	return nil, registry.Because(registry.ErrProtocol, "the body is no response to the request")
}

// readBounded reads all of r, at most max bytes.
func readBounded(r io.Reader, max int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, int64(max)+1))
	switch {
	case len(text) > max:
		return nil, registry.Because(registry.ErrTooLarge, "the response body is over the limit")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, registry.Because(registry.ErrNetwork, "the response body is cut off")
	case err != nil:
		return nil, registry.Because(registry.ErrNetwork, err.Error())
	}
	return text, nil
}
