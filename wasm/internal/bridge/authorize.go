//go:build js

package bridge

import (
	"cmp"
	"context"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Authorize has the host show an authorization page; it is oauth.Options.Ask. The
// host answers with an Authorized of protocol.ts.
func (b *Bridge) Authorize(ctx context.Context, p *oauth.Prompt) (string, error) {
	said, err := b.ask(ctx, "authorize", p.Server, p.URL+"\n"+p.Host+"\n"+p.State+"\n"+p.Resume)
	if err != nil {
		return "", err
	}
	answer := []byte(said)
	if url := rawjson.Text(answer, "url"); url != "" {
		return url, nil
	}
	return "", registry.Because(registry.ErrSignIn, cmp.Or(rawjson.Text(answer, "error"), "nobody could be asked"))
}
