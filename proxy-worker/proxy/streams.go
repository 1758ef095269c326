package proxy

import "sync"

// streams counts what is open. Callers with nothing open are not in the map, which
// so is never larger than the number of open streams.
type streams struct {
	mu   sync.Mutex
	open map[string]int // by caller
}

// Enter counts a stream on the caller's account; false: it has Config.MaxStreams
// open. Each Enter that is true wants one Leave. Both may be called from several
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

// Leave takes back an Enter.
func (p *Policy) Leave(caller string) {
	p.streams.mu.Lock()
	defer p.streams.mu.Unlock()
	if p.streams.open[caller]--; p.streams.open[caller] <= 0 {
		delete(p.streams.open, caller)
	}
}
