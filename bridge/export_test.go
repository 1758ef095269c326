package bridge

import "time"

// SetPause sets how long paused calls wait for their clients.
func (b *Bridge) SetPause(d time.Duration) { b.rounds.pause = d }
