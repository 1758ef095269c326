package client

import (
	"context"

	"github.com/portolan-mcp/portolan/registry"
)

// openSSE opens a session over HTTP+SSE (2024-11-05): one GET stream brings
// every message, and its first event names where to post. The stream belongs to
// the session, not to ctx.
func (d *dial) openSSE(ctx context.Context) (*Session, error) {
	origin, counted := d.origin, !d.c.platform.Multiplexed(d.origin)
	if counted {
		if ok, _ := d.c.budget.try(origin, neededStreams); !ok {
			return nil, registry.Because(registry.ErrNetwork, "too many event streams to one origin are open")
		}
	}
	s := d.session(registry.SessionInfo{Transport: "sse"})
	mail := d.c.mailbox(s, OpOther)
	r := httpRequest{s: s, url: d.href, mail: mail, x: s.exchange(mail, "GET", d.href, nil)}
	endpoint := make(chan error, 1)
	s.goroutine(func() {
		defer mail.close()
		if counted {
			defer d.c.budget.release(origin)
		}
		if err := r.run(s.ctx); err != nil {
			endpoint <- err
			return
		}
		s.listen(&r, endpoint)
		mail.cancel()
	})
	var err error
	select {
	case err = <-endpoint:
		if err == nil {
			err = s.initialize(ctx)
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		s.shut()
		return nil, err
	}
	s.remember()
	return s, nil
}

// listen reads the stream to its end, which is the session's. It reports once
// whether there is an endpoint to post to.
func (s *Session) listen(r *httpRequest, endpoint chan<- error) {
	reported := false
	report := func(err error) {
		if !reported {
			reported = true
			endpoint <- err
		}
	}
	for {
		e, err := r.mail.next(s.ctx)
		if err != nil {
			report(err)
			return
		}
		switch e.Kind {
		case Endpoint:
			if !reported {
				err := s.setEndpoint(e.Text)
				report(err)
				if err != nil {
					return
				}
			}
		case Refused, End:
			again, err := r.again(s.ctx, e)
			switch {
			case again && err == nil:
				continue
			case err != nil:
			case e.Kind == Refused:
				err = s.refused(e, false)
			default:
				err = s.failed(e)
			}
			if e.Kind == End && e.Why == EOF {
				err = registry.Because(registry.ErrNetwork, "the event stream ended")
			}
			report(err)
			s.over(err)
			s.failAll(r.mail, e)
			return
		}
	}
}

// setEndpoint takes where to post from the server. Another origin would get the
// configured headers, so that it is refused.
func (s *Session) setEndpoint(ref string) error {
	href, origin, ok := s.d.c.platform.Resolve(s.d.href, ref)
	if !ok {
		return registry.Because(registry.ErrProtocol, "the endpoint event names no URL")
	}
	if origin != s.d.home {
		return registry.Because(registry.ErrProtocol, "the endpoint event names another origin")
	}
	s.postURL = href
	return nil
}

// failAll ends every call that waits for the stream that has ended.
func (s *Session) failAll(stream *mailbox, e *Event) {
	why := e.Why
	if e.Kind != End || why == EOF {
		why = Network // an EOF on a call's own exchange means "accepted"
	}
	for _, mail := range s.d.c.waitingOf(s, stream) {
		mail.put(&Event{Kind: End, Last: true, Why: why, Text: "the event stream ended"})
	}
}
