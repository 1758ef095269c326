package browser

import (
	"context"
	"errors"
	"strings"
	"syscall/js"
)

// A Notary is the platform's cryptography and its memory for secrets: a Notary of
// notary.ts. It is an [oauth.Crypto].
type Notary struct{ obj js.Value }

// NewNotary returns the one behind obj.
func NewNotary(obj js.Value) *Notary { return &Notary{obj} }

// do calls an asynchronous method and waits for its text.
func (n *Notary) do(ctx context.Context, method string, args ...any) (string, error) {
	done := make(chan [2]string, 1) // the text, or what went wrong
	var ended js.Func
	ended = js.FuncOf(func(_ js.Value, args []js.Value) any {
		ended.Release()
		done <- [2]string{args[0].String(), args[1].String()}
		return nil
	})
	n.obj.Call("run", append(args, method, ended)...)
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
func (n *Notary) Hash(ctx context.Context, text string) (string, error) {
	return n.do(ctx, "hash", text)
}

// Random implements oauth.Crypto.
func (n *Notary) Random() string { return n.obj.Call("random").String() }

// MakeKey implements oauth.Crypto.
func (n *Notary) MakeKey(ctx context.Context) (name, jwk string, err error) {
	both, err := n.do(ctx, "makeKey")
	name, jwk, _ = strings.Cut(both, "\n")
	return name, jwk, err
}

// JWT implements oauth.Crypto.
func (n *Notary) JWT(ctx context.Context, key, alg, header, claims string) (string, error) {
	return n.do(ctx, "jwt", key, alg, header, claims)
}

// Load returns what was kept under key, "" for nothing.
func (n *Notary) Load(ctx context.Context, key string) (string, error) {
	return n.do(ctx, "load", key)
}

// Save keeps text under key, or with "" forgets it.
func (n *Notary) Save(ctx context.Context, key, text string) error {
	_, err := n.do(ctx, "save", key, text)
	return err
}

// Lock waits for its turn among all tabs of the origin.
func (n *Notary) Lock(ctx context.Context, name string) (unlock func(), err error) {
	token := n.obj.Call("want", name).Int()
	unlock = func() { n.obj.Call("unlock", token) }
	if _, err = n.do(ctx, "held", token); err != nil {
		unlock()
	}
	return unlock, err
}
