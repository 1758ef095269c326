package plane

import (
	"context"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

// An errand is one message to the server, sent again where it was refused for the
// lack of a token that can be had without a person.
type errand struct {
	s    *Session
	url  string // before the proxy
	mail *mailbox
	make func() *Exchange

	exchange uint32 // the latest
	sent     string // its Authorization
	sends    int
}

// maxResends bounds them: for a nonce, a new token, and a nonce once more.
const maxResends = 3

// run starts the exchange, at once if the token is at hand.
func (r *errand) run(ctx context.Context) error {
	x := r.make()
	r.exchange = x.ID
	if auth := r.s.d.auth; auth != nil {
		header, err := auth.Header(ctx, x.Method, r.url)
		if err != nil {
			return err
		}
		if len(header) > 0 {
			if r.s.d.proxied && r.s.d.cfg.ProxyAuto {
				return registry.Because(registry.ErrSignIn, "the server can be reached through the proxy alone, and its tokens go there only if you say so: proxy: true")
			}
			r.sent = header[1]
		}
		x.Header = append(x.Header, header...)
	}
	r.s.start(x, r.mail)
	return nil
}

// again reports whether the message is on its way again after a refusal.
func (r *errand) again(ctx context.Context, e *Event) (bool, error) {
	auth := r.s.d.auth
	if auth == nil || e.Status != 401 && e.Status != 403 || r.sends == maxResends {
		return false, nil
	}
	r.sends++
	r.s.d.c.passes.note(r.url, e.Header, true)
	again, err := auth.Refused(ctx, oauth.Refusal{
		Status: e.Status, Challenge: headerOf(e.Header, "www-authenticate"), Nonce: headerOf(e.Header, "dpop-nonce"), Sent: r.sent,
	})
	if !again || err != nil {
		return false, err
	}
	return true, r.run(ctx)
}

// ready reports whether run would not have to wait.
func (d *dial) ready() bool {
	if d.auth == nil {
		return true
	}
	_, ok := d.auth.Ready()
	return ok
}
