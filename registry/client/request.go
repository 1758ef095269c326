package client

import (
	"context"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/oauth"
)

// An httpRequest is one message to the server. It is sent again after a refusal for the
// lack of a token, if a token can be had without a person.
type httpRequest struct {
	s    *Session
	url  string // before the proxy
	mail *mailbox
	x    *Exchange // without the token

	sent  string // the Authorization of the latest exchange
	sends int
}

// maxResends bounds them: for a nonce, a new token, and a nonce once more.
const maxResends = 3

// run starts the exchange, at once if the token is at hand.
func (r *httpRequest) run(ctx context.Context) error {
	x := *r.x
	sent, err := r.s.d.authorize(ctx, &x, r.url)
	if err != nil {
		return err
	}
	r.sent = sent
	r.s.start(&x, r.mail)
	return nil
}

// authorize adds the server's token to a request for url, and returns its header's value.
func (d *dial) authorize(ctx context.Context, x *Exchange, url string) (sent string, err error) {
	if d.auth == nil {
		return "", nil
	}
	header, err := d.auth.Header(ctx, x.Method, url)
	if err != nil || len(header) == 0 {
		return "", err
	}
	if d.proxied && d.cfg.ProxyAuto {
		return "", &registry.ProxyError{
			Code: "cors", Message: "the server has no CORS headers, so a page cannot send it the token of the sign-in",
			Hint: "The token goes through the proxy only if you say so: proxy: true. The proxy then sees it.",
		}
	}
	x.Header = append(x.Header[:len(x.Header):len(x.Header)], header...)
	return header[1], nil
}

// again reports whether the message is on its way again after a refusal.
func (r *httpRequest) again(ctx context.Context, e *Event) (bool, error) {
	auth := r.s.d.auth
	if auth == nil || e.Status != 401 && e.Status != 403 || r.sends == maxResends {
		return false, nil
	}
	r.sends++
	r.s.d.c.passes.note(e.Header, refusedBy+endpoint.Origin(r.url))
	again, err := auth.Refused(ctx, oauth.Refusal{
		Status: e.Status, Challenge: headerOf(e.Header, "www-authenticate"), Nonce: headerOf(e.Header, "dpop-nonce"), Sent: r.sent,
	})
	if !again || err != nil {
		return false, err
	}
	return true, r.run(ctx)
}

// ready reports whether run would not have to wait.
func (d *dial) ready() bool { return d.auth == nil || d.auth.Ready() }
