package client

import (
	"context"
	"errors"
	"strconv"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// throughProxy sends this dial's requests through the proxy from now on.
func (d *dial) throughProxy() error {
	through, err := corsproxy.URL(d.c.opts.Proxy, d.href)
	if err != nil {
		return err
	}
	if _, d.origin, d.proxied = d.c.platform.Resolve(through, ""); !d.proxied {
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
		said.Hint = "Its headers go through the proxy only if you say so: proxy: true. The proxy then sees them."
		return nil, said
	}
	if err := d.throughProxy(); err != nil {
		return nil, err
	}
	return d.connect(ctx)
}

// isMute reports whether err may be a browser's refusal to say what happened.
func isMute(err error) bool {
	_, isStatus := errors.AsType[*registry.StatusError](err)
	return errors.Is(err, registry.ErrNetwork) && !isStatus
}

// diagnose asks the proxy what is wrong with the server; nil if it does not say.
func (d *dial) diagnose(ctx context.Context) *registry.ProxyError {
	mail := d.c.mailbox(nil, OpOther)
	defer mail.close()
	url := corsproxy.DiagnosisURL(d.c.opts.Proxy, d.href, strconv.Itoa(int(mail.id)))
	if url == "" {
		return nil
	}
	e, err := mail.once(ctx, &Exchange{
		Method: "POST", URL: url, Header: []string{"Content-Type", "application/json", "Accept", "application/json, text/event-stream"},
		Body: []byte("{}"), Awaits: int64(mail.id),
	})
	if err != nil {
		return nil
	}
	if code := headerOf(e.Header, "x-proxy-error"); code != "" {
		return corsproxy.ReadError(code, e.Status, []byte(e.Text))
	}
	return corsproxy.ReadDiagnosis(rawjson.Get([]byte(e.Text), "result"))
}

// once makes an exchange that belongs to no session and waits for its first event.
func (m *mailbox) once(ctx context.Context, x *Exchange) (*Event, error) {
	x.ID, x.Group = m.id, m.c.groups.Add(1)
	m.start(x)
	e, err := m.next(ctx)
	if err != nil {
		m.cancel()
	}
	return e, err
}
