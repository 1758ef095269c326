package plane

import (
	"context"
	"errors"
	"syscall/js"
)

// A Notary is the platform's cryptography and its memory for secrets: a Notary of
// notary.ts. It is an [oauth.Crypto].
type Notary struct{ obj js.Value }

// NewNotary returns the one behind obj.
func NewNotary(obj js.Value) *Notary { return &Notary{obj} }

// do calls an asynchronous method and waits for its text.
func (n *Notary) do(ctx context.Context, method string, args ...any) (string, error) {
	type outcome struct {
		text string
		err  error
	}
	done := make(chan outcome, 1)
	var kept, broken js.Func
	end := func(o outcome) any {
		kept.Release()
		broken.Release()
		done <- o
		return nil
	}
	kept = js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[0].Type() != js.TypeString {
			return end(outcome{})
		}
		return end(outcome{text: args[0].String()})
	})
	broken = js.FuncOf(func(_ js.Value, args []js.Value) any {
		return end(outcome{err: errors.New(js.Global().Get("String").Invoke(args[0]).String())})
	})
	n.obj.Call(method, args...).Call("then", kept, broken)
	select {
	case o := <-done:
		return o.text, o.err
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
	if name, err = n.do(ctx, "makeKey"); err == nil {
		jwk, err = n.do(ctx, "publicKey", name)
	}
	return name, jwk, err
}

// Sign implements oauth.Crypto.
func (n *Notary) Sign(ctx context.Context, key, alg, text string) (string, error) {
	return n.do(ctx, "sign", key, alg, text)
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
