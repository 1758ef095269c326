//go:build js

// Package jsfetch is an [http.RoundTripper] on the platform's fetch, for windows,
// workers, service workers and Node.
//
// It differs from what net/http does under js/wasm where that does harm: it sends
// no credentials, follows no redirects, works in Node, closes a body when the
// request's context ends, and a value that JavaScript throws becomes an error
// instead of the end of the Go runtime. It never names http.DefaultTransport, so
// the linker can leave TLS and HTTP/2 out.
package jsfetch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/hack-pad/safejs"
)

// A Transport is an [http.RoundTripper]. It is safe for several goroutines.
type Transport struct {
	fetch  safejs.Value // undefined: the global
	origin origins
}

// New returns a Transport on the global fetch.
func New() *Transport { return &Transport{fetch: safejs.Undefined()} }

// RoundTrip implements [http.RoundTripper]. When the request's context ends, the
// platform's request is aborted and the response's body closed.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		closeBody(req)
		return nil, err
	}
	body, err := readBody(req)
	if err != nil {
		return nil, err
	}
	abort, err := newAborter()
	if err != nil {
		return nil, err
	}
	init, err := requestInit(req, body, abort, t.origin.streams(req, body))
	if err != nil {
		return nil, err
	}
	fetch := t.fetch
	if fetch.IsUndefined() {
		if fetch, err = safejs.Global().Get("fetch"); err != nil {
			return nil, err
		}
	}
	promise, err := fetch.Invoke(req.URL.String(), init)
	if err != nil {
		return nil, thrown("fetch", err)
	}
	settled := await(promise)
	select {
	case <-ctx.Done():
		abort.abort()
		// The promise is settled by the abort; until then its callbacks are in use.
		go discard(settled)
		return nil, ctx.Err()
	case s := <-settled:
		if s.err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, s.err
		}
		return newResponse(ctx, req, s.value, abort)
	}
}

// discard closes the body of a response that came too late.
func discard(settled <-chan settlement) {
	if s := <-settled; s.err == nil {
		if stream, err := s.value.Get("body"); err == nil && stream.Type() == safejs.TypeObject {
			stream.Call("cancel")
		}
	}
}

func newResponse(ctx context.Context, req *http.Request, v safejs.Value, abort *aborter) (*http.Response, error) {
	status, err := v.Get("status")
	if err != nil {
		return nil, err
	}
	code, err := status.Int()
	if err != nil {
		return nil, err
	}
	if code == 0 { // a redirect, of which a page sees no more
		code = http.StatusTemporaryRedirect
	}
	header, err := readHeaders(v)
	if err != nil {
		return nil, err
	}
	body, err := newBody(ctx, v, abort)
	if err != nil {
		return nil, err
	}
	// The platform has decoded the body, so its length is not the header's.
	header.Del("Content-Encoding")
	header.Del("Content-Length")
	return &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: -1, Uncompressed: true, Request: req,
	}, nil
}

// readHeaders copies the headers that the platform shows; in a browser those that
// CORS exposes.
func readHeaders(response safejs.Value) (http.Header, error) {
	headers, err := response.Get("headers")
	if err != nil {
		return nil, err
	}
	array, err := safejs.Global().Get("Array")
	if err != nil {
		return nil, err
	}
	pairs, err := array.Call("from", headers)
	if err != nil {
		return nil, err
	}
	n, err := pairs.Length()
	if err != nil {
		return nil, err
	}
	header := make(http.Header, n)
	for i := range n {
		pair, err := pairs.Index(i)
		if err != nil {
			return nil, err
		}
		name, err := stringAt(pair, 0)
		if err != nil {
			return nil, err
		}
		value, err := stringAt(pair, 1)
		if err != nil {
			return nil, err
		}
		header.Add(name, value)
	}
	return header, nil
}

func stringAt(array safejs.Value, i int) (string, error) {
	v, err := array.Index(i)
	if err != nil {
		return "", err
	}
	return v.String()
}

// maxRequestBody bounds what is copied across the boundary at once.
const maxRequestBody = 64 << 20

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	defer req.Body.Close()
	body, err := io.ReadAll(io.LimitReader(req.Body, maxRequestBody+1))
	if err == nil && len(body) > maxRequestBody {
		err = errors.New("the request body is too large")
	}
	return body, err
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}
