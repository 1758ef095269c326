//go:build js

package jsfetch

import (
	"net/http"

	"github.com/hack-pad/safejs"
)

// An aborter is an AbortController.
type aborter struct{ controller, signal safejs.Value }

func newAborter() (*aborter, error) {
	controller, err := construct("AbortController")
	if err != nil {
		return nil, err
	}
	signal, err := controller.Get("signal")
	return &aborter{controller, signal}, err
}

func (a *aborter) abort() { a.controller.Call("abort") }

func construct(class string, args ...any) (safejs.Value, error) {
	c, err := safejs.Global().Get(class)
	if err != nil {
		return safejs.Value{}, err
	}
	return c.New(args...)
}

// forbidden are headers that only net/http's own transport wants; some of them a
// browser refuses (a User-Agent makes Firefox send a preflight that fails).
var forbidden = map[string]bool{"User-Agent": true, "Content-Length": true, "Host": true, "Connection": true, "Accept-Encoding": true}

// requestInit makes the options of fetch.
func requestInit(req *http.Request, body []byte, abort *aborter, streamed bool) (safejs.Value, error) {
	headers := make(map[string]any, len(req.Header))
	for name, values := range req.Header {
		if len(values) > 0 && !forbidden[name] {
			headers[name] = values[0]
		}
	}
	fields := map[string]any{
		"method":      req.Method,
		"headers":     headers,
		"credentials": "omit",
		"redirect":    "manual", // a redirected POST would carry its headers to wherever the server points
		"cache":       "no-store",
		"signal":      abort.signal,
	}
	if body != nil {
		bytes, err := toUint8Array(body)
		if err != nil {
			return safejs.Value{}, err
		}
		fields["body"] = bytes
		if streamed {
			stream, err := streamOf(bytes)
			if err != nil {
				return safejs.Value{}, err
			}
			fields["body"], fields["duplex"] = stream, "half"
		}
	}
	return safejs.ValueOf(unwrap(fields))
}

// unwrap makes plain values of safejs's, which safejs.ValueOf does not take apart.
func unwrap(fields map[string]any) map[string]any {
	for key, value := range fields {
		if v, ok := value.(safejs.Value); ok {
			fields[key] = safejs.Unsafe(v)
		}
	}
	return fields
}

func toUint8Array(p []byte) (safejs.Value, error) {
	array, err := construct("Uint8Array", len(p))
	if err != nil {
		return safejs.Value{}, err
	}
	_, err = safejs.CopyBytesToJS(array, p)
	return array, err
}
