package proxy

import "sync"

// streams counts the open streams of each caller. Callers without one are not in the
// map, so it is never larger than the number of open streams.
type streams struct {
	mu   sync.Mutex
	open map[string]int // by caller
}

// Enter counts a stream of a caller. It returns false if Config.MaxStreams are open.
// Each Enter that returns true needs one Leave. Both may be called from several
// goroutines at once.
func (p *Policy) Enter(caller string) bool {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	if p.streams.open[caller] >= p.cfg.MaxStreams {
		return false
	}
	p.streams.open[caller]++
	return true
}

// Leave ends a stream that Enter counted.
func (p *Policy) Leave(caller string) {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	if p.streams.open[caller]--; p.streams.open[caller] <= 0 {
		delete(p.streams.open, caller)
	}
}
