package client

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall/js"
	"testing"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/registrytest"
)

// newPlatform is the platform under the tests: under js/wasm, plane.ts itself,
// with a fetch that ends in rt. testdata/exec.mjs provides the global.
func newPlatform(t *testing.T, rt http.RoundTripper) Platform {
	newPlane := js.Global().Get("newPlane")
	if newPlane.IsUndefined() {
		t.Fatal("no global newPlane; run with -exec testdata/exec.mjs")
	}
	fetch := js.FuncOf(func(_ js.Value, args []js.Value) any { return fetchFrom(rt, args[0], args[1]) })
	options := js.Global().Get("Object").New()
	options.Set("fetch", fetch)
	return JS(newPlane.Invoke(options))
}

// newCrypto is notary.ts itself.
func newCrypto(t *testing.T) oauth.Crypto {
	newNotary := js.Global().Get("newNotary")
	if newNotary.IsUndefined() {
		t.Fatal("no global newNotary; run with -exec testdata/exec.mjs")
	}
	return NewNotary(newNotary.Invoke())
}

// fetchFrom is fetch as the standard describes it, as far as plane.ts uses it.
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

// What does not fit the buffers that are kept takes one of its own.
func TestLargeBody(t *testing.T) {
	s := new(registrytest.Script).On("tools/call", func(w http.ResponseWriter, _ *http.Request, m registrytest.Message) {
		registrytest.Reply(w, m, `{"content":[{"type":"text","text":"`+strconv.Itoa(len(m.Params))+`"}]}`)
	})
	b := newBench(t, s, Options{})
	session := b.connect(registry.ServerConfig{}, nil)
	for _, size := range []int{10, keptBuffer - 200, keptBuffer, 10 * keptBuffer, 10} {
		arguments := `{"a":"` + strings.Repeat("é", size/2) + `"}`
		out, err := session.CallTool(b.ctx, registry.ToolCall{Tool: "t", Arguments: []byte(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		want := strconv.Itoa(len(`{"name":"t","arguments":}`) + len(arguments))
		if text, _ := out.Result.JSON(); !strings.Contains(string(text), `"`+want+`"`) {
			t.Errorf("%d bytes of arguments: the server read %s, want %s", len(arguments), text, want)
		}
	}
}
