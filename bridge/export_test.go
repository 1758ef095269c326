package bridge

import (
	"net/http"
	"time"
)

// SetPause sets how long paused calls wait for their clients.
func (b *Bridge) SetPause(d time.Duration) { b.rounds.pause = d }

// SetListBytes sets how long the list of a profile's tools may be.
func (b *Bridge) SetListBytes(n int) { b.listBytes = n }

// Routes returns the handler of the bridge's port.
func (b *Bridge) Routes() http.Handler { return b.routes() }

// StillPaired reports what the link of a profile is asked for at each ping.
func (b *Bridge) StillPaired(installID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.links[installID].allowed()
}

// EndSettling lets the time pass in which requests wait for a browser.
func (b *Bridge) EndSettling() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.moved = time.Time{}
}

// Connected reports whether a profile is connected.
func (b *Bridge) Connected(installID string) bool { return b.connected(installID) }

// Approves reports whether a profile approves a page.
func (b *Bridge) Approves(page string) bool { return b.approved(page) }

// IsPairing reports whether the pairing window is open.
func (b *Bridge) IsPairing() bool { return b.pairing() }

// Waiting returns the number of calls that wait for their turn at a profile.
func (b *Bridge) Waiting(installID string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	turns := b.links[installID].turns
	turns.mu.Lock()
	defer turns.mu.Unlock()
	return len(turns.waiting)
}
