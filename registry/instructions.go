package registry

import (
	"context"
	"errors"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/text"
)

// Instructions are what a server says of itself to models (instructions of the spec). They
// are untrusted.
type Instructions struct {
	Server string
	Text   string // as they were approved; "" if there are none
	// Held is a text that differs from the approved one and waits for [Registry.ApproveInstructions];
	// "" if there is none.
	Held string
}

// Instructions returns those of the named servers, or of all that are enabled. It connects
// to servers that it knows nothing of. The error joins one *ServerError for each server that
// failed. The instructions are nil if all failed.
func (r *Registry) Instructions(ctx context.Context, servers ...string) ([]Instructions, error) {
	names, problems, err := r.eachServer(servers, func(name string) error {
		r.mu.Lock()
		s, err := r.usable(name)
		known := err == nil && s.info.Capabilities != nil
		r.mu.Unlock()
		if err == nil && !known {
			err = r.use(ctx, s, r.opts.IdleTimeout, func(ctx context.Context, c *conn, _ func(bool)) error {
				_, err := offerer(ctx, c)
				return err
			})
		}
		return onServer(name, "read instructions", err)
	})
	if err != nil {
		return nil, err
	}
	var all []Instructions
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, name := range names {
		s := r.servers[name]
		if s == nil || problems[i] != nil {
			continue
		}
		if all == nil {
			all = []Instructions{}
		}
		if s.instructions != "" || s.heldInstructions != "" {
			all = append(all, Instructions{name, s.instructions, s.heldInstructions})
		}
	}
	return all, errors.Join(problems...)
}

// ApproveInstructions approves a server's instructions as they are now. With a text it approves only that one, and fails
// with [ErrHeld] if the server has another one by now.
func (r *Registry) ApproveInstructions(name string, shown ...string) error {
	return r.changeServer(name, "approve", func(s *server) error {
		if len(shown) > 0 && s.heldInstructions != shown[0] {
			return errNotShown
		}
		if s.heldInstructions != "" {
			r.approveInstructions(s)
			r.changed(Event{Server: name})
		}
		return nil
	})
}

// approveInstructions has the store keep the present instructions. The caller holds r.mu.
func (r *Registry) approveInstructions(s *server) {
	a := r.approvedFor(s)
	first := !a.Known() // the first list, which follows, saves them
	a.ApproveInstructions(s.info.Instructions)
	s.instructions, s.heldInstructions = s.info.Instructions, ""
	if !first {
		r.savePins(s, a, FreshPins{Tools: []string{approvals.InstructionsName}, ByUser: true})
	}
}

// informed takes what the session knows of its server. The caller holds r.mu.
func (r *Registry) informed(s *server) {
	s.info = s.conn.session.Info()
	s.info.Server, s.info.Instructions = s.info.Server.clean(), text.Visible(s.info.Instructions)
	if s.info.Capabilities != nil {
		r.reviewInstructions(s)
	}
}

// reviewInstructions holds instructions that differ from the approved ones. The caller
// holds r.mu.
func (r *Registry) reviewInstructions(s *server) {
	now := s.info.Instructions
	approved, known := r.approvedFor(s).Instructions()
	switch {
	case now == "" && known, s.cfg.Trust == TrustAll, known && approved == now:
		s.instructions, s.heldInstructions = now, ""
	case !known && (now == "" || !r.holdsFirst(s)):
		r.approveInstructions(s)
	default:
		s.instructions, s.heldInstructions = approved, now
	}
}
