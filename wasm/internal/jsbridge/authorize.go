//go:build js

package jsbridge

import (
	"context"
	"syscall/js"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Authorize has the host show an authorization page; it is oauth.Options.Ask. The
// host answers with an Authorized of protocol.ts.
func (b *Bridge) Authorize(ctx context.Context, p *oauth.Prompt) (string, error) {
	ask, answer, done := b.elicits.ask()
	defer done()
	b.boot.Call("authorize", ask, registry.CallID(ctx), p.Server, p.URL, p.Host, p.State, p.Resume)
	select {
	case v := <-answer:
		said := []byte("{}")
		if v.Type() == js.TypeString {
			said = []byte(v.String())
		}
		raw, _ := rawjson.Get(said, "url")
		if url, ok := rawjson.String(raw); ok {
			return url, nil
		}
		raw, _ = rawjson.Get(said, "error")
		text, _ := rawjson.String(raw)
		if text == "" {
			text = "nobody could be asked"
		}
		return "", registry.Because(registry.ErrSignIn, text)
	case <-ctx.Done():
		b.boot.Call("unask", ask)
		return "", context.Cause(ctx)
	}
}
