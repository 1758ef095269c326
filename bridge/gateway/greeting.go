package gateway

import (
	"context"
	"encoding/json"
	"strconv"
)

// greeting returns the handshake of a shared program, and whether the caller is the first
// and has to send it.
func (p *program) greeting() (g *greeting, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.greet != nil {
		return p.greet, false
	}
	p.greet = &greeting{done: make(chan struct{})}
	return p.greet, true
}

// greeted keeps the answer to initialize for the other sessions. p.mu is held.
func (p *program) greeted(m *message) {
	g := p.greet
	if g == nil || g.result != nil || g.fail != nil {
		return
	}
	if m.result.there() {
		g.result = append([]byte(nil), m.result.in(m.text)...)
	} else {
		g.fail = append([]byte(nil), m.fail.in(m.text)...)
		p.greet = nil // the next session tries again
	}
	close(g.done)
}

func (p *program) greetFailed(f *fault) {
	if g := p.greet; g != nil && g.result == nil && g.fail == nil {
		g.fail, _ = json.Marshal(f)
		close(g.done)
		p.greet = nil
	}
}

// wait returns the response to the initialize request with this id, when the first session
// has its own.
func (g *greeting) wait(ctx context.Context, id []byte) []byte {
	select {
	case <-g.done:
	case <-ctx.Done():
		return nil
	}
	if g.result != nil {
		return success(id, g.result)
	}
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	return append(append(append(out, `,"error":`...), g.fail...), '}')
}

// callID reads the id of a call. No call has the id that it returns for other texts.
func callID(raw []byte) int64 {
	n, _ := strconv.ParseInt(string(raw), 10, 64)
	return n
}
