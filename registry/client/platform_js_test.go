package client_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"syscall/js"
	"testing"

	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/client/browser"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

func init() {
	client.NewPlatform, client.NewCrypto = newPlatform, newCrypto
}

type platform struct{ *browser.Platform }

// Held counts nothing here: the tests of wasm/js/fetch do.
func (platform) Held() (tables, exchanges int) { return -1, -1 }

// newPlatform is that of wasm/js/fetch itself, with a fetch that ends in rt. The program
// testdata/exec.mjs provides the global.
func newPlatform(t testing.TB, rt http.RoundTripper) client.TestPlatform {
	newPlatform := js.Global().Get("newPlatform")
	if newPlatform.IsUndefined() {
		t.Fatal("no global newPlatform; run with -exec testdata/exec.mjs")
	}
	fetch := js.FuncOf(func(_ js.Value, args []js.Value) any { return fetchFrom(rt, args[0], args[1]) })
	options := js.Global().Get("Object").New()
	options.Set("fetch", fetch)
	return platform{browser.New(newPlatform.Invoke(options))}
}

// newCrypto is that of wasm/js/host itself.
func newCrypto(t *testing.T) oauth.Crypto {
	newCryptoStore := js.Global().Get("newCryptoStore")
	if newCryptoStore.IsUndefined() {
		t.Fatal("no global newCryptoStore; run with -exec testdata/exec.mjs")
	}
	return browser.NewCrypto(newCryptoStore.Invoke())
}

// fetchFrom is fetch as the standard describes it, as far as the platform uses it.
func fetchFrom(rt http.RoundTripper, url, init js.Value) js.Value {
	ctx, cancel := context.WithCancel(context.Background())
	return promise(func() (any, error) {
		var body []byte
		if b := init.Get("body"); b.Truthy() {
			body = make([]byte, b.Length())
			js.CopyBytesToGo(body, b)
		}
		req, err := http.NewRequestWithContext(ctx, init.Get("method").String(), url.String(), bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		headers := js.Global().Get("Headers").New(init.Get("headers")) // which checks them
		headers.Call("forEach", collect(func(args []js.Value) { req.Header.Set(args[1].String(), args[0].String()) }))
		init.Get("signal").Call("addEventListener", "abort", collect(func([]js.Value) { cancel() }))
		res, err := rt.RoundTrip(req)
		switch {
		case err != nil:
			return nil, err
		case res.StatusCode >= 300 && res.StatusCode < 400:
			res.Body.Close()
			return js.Global().Get("Response").Call("error"), nil // as opaque as one that redirects
		}
		return response(res), nil
	})
}

func response(res *http.Response) js.Value {
	headers := js.Global().Get("Headers").New()
	for name, values := range res.Header {
		headers.Call("set", name, values[0])
	}
	init := js.Global().Get("Object").New()
	init.Set("status", res.StatusCode)
	init.Set("headers", headers)
	if res.StatusCode == 204 {
		res.Body.Close()
		return js.Global().Get("Response").New(js.Null(), init)
	}
	source := js.Global().Get("Object").New()
	source.Set("pull", js.FuncOf(func(_ js.Value, args []js.Value) any {
		controller := args[0]
		return promise(func() (any, error) {
			chunk := make([]byte, 32<<10)
			n, err := res.Body.Read(chunk)
			if n > 0 {
				array := js.Global().Get("Uint8Array").New(n)
				js.CopyBytesToJS(array, chunk[:n])
				controller.Call("enqueue", array)
			}
			switch {
			case err == io.EOF:
				controller.Call("close")
			case err != nil:
				controller.Call("error", js.Global().Get("TypeError").New("broken"))
			}
			return nil, nil
		})
	}))
	source.Set("cancel", js.FuncOf(func(js.Value, []js.Value) any {
		go res.Body.Close()
		return nil
	}))
	return js.Global().Get("Response").New(js.Global().Get("ReadableStream").New(source), init)
}

func promise(work func() (any, error)) js.Value {
	return js.Global().Get("Promise").New(js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() {
			if v, err := work(); err != nil {
				args[1].Invoke(js.Global().Get("TypeError").New("fetch failed"))
			} else {
				args[0].Invoke(v)
			}
		}()
		return nil
	}))
}

func collect(f func(args []js.Value)) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any {
		f(args)
		return nil
	})
}
