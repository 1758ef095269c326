//go:build js

package browser

import (
	"context"
	"errors"
	"strings"
	"syscall/js"
)

// A Crypto is the platform's cryptography and its store for secrets: that of
// wasm/js/host/crypto.ts. It is an [oauth.Crypto].
type Crypto struct{ obj js.Value }

// NewCrypto returns the one behind obj.
func NewCrypto(obj js.Value) *Crypto { return &Crypto{obj} }

// do calls an asynchronous method and waits for its text.
func (c *Crypto) do(ctx context.Context, method string, args ...any) (string, error) {
	done := make(chan [2]string, 1) // the text, or what went wrong
	var ended js.Func
	ended = js.FuncOf(func(_ js.Value, args []js.Value) any {
		ended.Release()
		done <- [2]string{args[0].String(), args[1].String()}
		return nil
	})
	c.obj.Call("run", append(args, method, ended)...)
	select {
	case said := <-done:
		if said[1] != "" {
			return "", errors.New(said[1])
		}
		return said[0], nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// Hash implements oauth.Crypto.
func (c *Crypto) Hash(ctx context.Context, text string) (string, error) {
	return c.do(ctx, "hash", text)
}

// Random implements oauth.Crypto.
func (c *Crypto) Random() string { return c.obj.Call("random").String() }

// MakeKey implements oauth.Crypto.
func (c *Crypto) MakeKey(ctx context.Context) (name, jwk string, err error) {
	both, err := c.do(ctx, "makeKey")
	name, jwk, _ = strings.Cut(both, "\n")
	return name, jwk, err
}

// JWT implements oauth.Crypto.
func (c *Crypto) JWT(ctx context.Context, key, alg, header, claims string) (string, error) {
	return c.do(ctx, "jwt", key, alg, header, claims)
}

// Load returns what was kept under key, "" for nothing.
func (c *Crypto) Load(ctx context.Context, key string) (string, error) {
	return c.do(ctx, "load", key)
}

// Save keeps text under key, or with "" forgets it.
func (c *Crypto) Save(ctx context.Context, key, text string) error {
	_, err := c.do(ctx, "save", key, text)
	return err
}

// Lock waits for its turn among all tabs of the origin.
func (c *Crypto) Lock(ctx context.Context, name string) (unlock func(), err error) {
	token := c.obj.Call("want", name).Int()
	unlock = func() { c.obj.Call("unlock", token) }
	if _, err = c.do(ctx, "held", token); err != nil {
		unlock()
	}
	return unlock, err
}
