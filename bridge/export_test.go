package bridge

import "time"

// SetPause sets how long paused calls wait for their clients.
func (b *Bridge) SetPause(d time.Duration) { b.rounds.pause = d }

// StillPaired reports what the link of a profile is asked for at each ping.
func (b *Bridge) StillPaired(installID string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.links[installID].allowed()
}
