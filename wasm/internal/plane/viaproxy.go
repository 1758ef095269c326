package plane

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
)

// throughProxy sends this dial's requests through the proxy from now on.
func (d *dial) throughProxy() error {
	if !strings.Contains(d.c.opts.Proxy, "{href}") {
		return registry.Because(registry.ErrInvalidConfig, "proxy is on, but no proxy template with {href} is set")
	}
	d.proxied = true
	var ok bool
	if _, d.origin, ok = d.c.platform.Resolve(d.via(d.href), ""); !ok {
		return registry.Because(registry.ErrInvalidConfig, "the proxy template makes no URL")
	}
	return nil
}

// connectSomehow connects directly or, where a browser cannot and nothing
// secret would go along, through the proxy. A browser does not say why it could
// not; the proxy is asked, and what it says is the error.
func (d *dial) connectSomehow(ctx context.Context) (*Session, error) {
	if len(d.headers) == 0 && d.c.hints.get(d.href).Proxied {
		if err := d.throughProxy(); err != nil {
			return nil, err
		}
		s, err := d.connect(ctx)
		if err != nil && isMute(err) {
			d.forget() // the next attempt is a direct one
		}
		return s, err
	}
	s, err := d.connect(ctx)
	if err == nil || ctx.Err() != nil || !isMute(err) {
		return s, err
	}
	said := d.diagnose(ctx)
	switch {
	case said == nil:
		return nil, err
	case said.Code != "cors":
		return nil, said
	case len(d.headers) > 0:
		said.Hint = "Its headers go through the proxy only if you say so: proxy: true."
		return nil, said
	}
	if err := d.throughProxy(); err != nil {
		return nil, err
	}
	return d.connect(ctx)
}

// isMute reports whether err may be a browser's refusal to say what happened.
func isMute(err error) bool {
	var status *registry.StatusError
	return errors.Is(err, registry.ErrNetwork) && !errors.As(err, &status)
}

// diagnose asks the proxy what is wrong with the server; nil if it does not say.
func (d *dial) diagnose(ctx context.Context) *registry.ProxyError {
	base, query, ok := strings.Cut(d.c.opts.Proxy, "?")
	if !ok || query != "url={href}" {
		return nil // not a proxy of ours
	}
	const id = opStep
	mail := newMailbox(d.c.platform)
	defer mail.close()
	x := &Exchange{
		ID: d.c.exchanges.Add(1), Group: d.c.groups.Add(1), Method: "POST",
		URL:    strings.TrimSuffix(base, "/") + "/diagnose?id=" + strconv.Itoa(id) + "&url=" + encodeURIComponent(d.href),
		Header: []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"},
		Body:   []byte("{}"), Awaits: id,
	}
	d.c.platform.Start(x, mailSink{mail})
	e, err := mail.next(ctx)
	switch {
	case err != nil:
		d.c.platform.Cancel(x.ID)
		return nil
	case e.Kind == Refused && headerOf(e.Header, "x-proxy-error") != "":
		said := &registry.ProxyError{}
		errors.As(proxyError(headerOf(e.Header, "x-proxy-error"), e.Status, []byte(e.Text)), &said)
		return said
	case e.Kind != Message:
		return nil
	}
	result := get([]byte(e.Text), "result")
	code := getString(result, "code")
	if code == "" {
		return nil
	}
	return &registry.ProxyError{Code: detail(code), Message: detail(getString(result, "message")), Hint: detail(getString(result, "hint"))}
}

// A mailSink puts the events of an exchange without a session into a mailbox.
type mailSink struct{ mail *mailbox }

// Deliver is a [Sink]'s.
func (s mailSink) Deliver(e *Event) { s.mail.put(e) }
