//go:build !js

package registry

import (
	"context"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// await has the user asked in the background, and goes on with the call.
func (p *Pending) await() error {
	r := p.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	ctx, cancel := context.WithCancelCause(WithCall(r.ctx, p.call.ID))
	p.stop = cancel
	r.goroutine(func() {
		defer cancel(nil)
		err := p.approved(ctx)
		r.mu.Lock()
		over := p.over
		p.stop = nil
		r.mu.Unlock()
		if over {
			return
		}
		if err == nil {
			err = p.begin()
		}
		if err != nil {
			p.finish(nil, err, true)
			return
		}
		p.attempt()
	})
	return nil
}

// approved asks until the answer is about the tool as it is.
func (p *Pending) approved(ctx context.Context) error {
	for ask := true; ask; {
		asked := p.tool.Pin
		if err := p.r.approve(ctx, p.s, p.tool, p.call.Arguments); err != nil {
			return err
		}
		var err error
		if ask, err = p.admit(); err != nil {
			return err
		}
		ask = ask && p.tool.Pin != asked
	}
	return nil
}

// asks reports whether the user is to be asked about a call, or why it is not made.
func (r *Registry) asks(s *server, t *Tool) (ask bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opts.Approve == nil || s.cfg.Trust == TrustAll && (!r.opts.ApproveAll || readsOnly(t)) {
		return false, nil
	}
	if s.cfg.Trust == AskAlways {
		return true, nil
	}
	switch x := r.approvedFor(s).answers[t.RawName]; {
	case x.approval == "" || x.pin != digestOf(t.Pin):
		return true, nil
	case x.approval == Always:
		return false, nil
	}
	return false, Because(ErrDenied, "never to be called")
}

// approve asks the host about a call, outside the lock.
func (r *Registry) approve(ctx context.Context, s *server, t *Tool, args []byte) error {
	r.mu.Lock()
	trusted, remembers := s.cfg.Trust == TrustAll, s.cfg.Trust != AskAlways
	r.mu.Unlock()
	approval, err := guarded(func() (Approval, error) {
		return r.opts.Approve(ctx, ApprovalRequest{Server: s.name, Tool: *t, Arguments: args, Trusted: trusted})
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return Because(ErrDenied, "the approval failed: "+err.Error())
	}
	if remembers && (approval == Always || approval == Never) {
		r.mu.Lock()
		a := r.approvedFor(s)
		a.remember(t.RawName, answer{digestOf(t.Pin), approval})
		r.savePins(s, a, FreshPins{})
		r.mu.Unlock()
		r.deliver()
	}
	if approval == Once || approval == Always {
		return nil
	}
	return ErrDenied
}

// ForgetApprovals forgets the answers of [Options.Approve] that are remembered of
// a server, or with "" of all.
func (r *Registry) ForgetApprovals(name string) error {
	var servers []*server
	r.mu.Lock()
	for _, s := range r.servers {
		if name == "" || s.name == name {
			servers = append(servers, s)
		}
	}
	r.mu.Unlock()
	for _, s := range servers {
		if err := r.loadPins(s); err != nil {
			return &ServerError{s.name, "forget", err}
		}
	}
	return r.change(func() error {
		for _, s := range servers {
			if a := r.approvedFor(s); len(a.answers) > 0 {
				clear(a.answers)
				r.savePins(s, a, FreshPins{})
			}
		}
		return nil
	})
}

// readsOnly reports whether a tool says of itself that it changes nothing.
func readsOnly(t *Tool) bool {
	def, err := t.Def.JSON()
	if err != nil {
		return false
	}
	annotations, _ := rawjson.Get(def, "annotations")
	hint, _ := rawjson.Get(annotations, "readOnlyHint")
	readOnly, _ := rawjson.Bool(hint)
	return readOnly
}
