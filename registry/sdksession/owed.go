package sdksession

import (
	"sync"
	"time"
)

// owedTime bounds how long closing waits for what the SDK says in a goroutine of its own:
// that a call was given up. A server without sessions hears of it in no other way.
const owedTime = 100 * time.Millisecond

// An owed counts notifications that are still to be sent.
type owed struct {
	mu   sync.Mutex
	n    int
	none chan struct{} // closed when n is 0 again
}

func (o *owed) add() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n++; o.n == 1 {
		o.none = make(chan struct{})
	}
}

// done is for any notification, counted or not.
func (o *owed) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.n == 0 {
		return
	}
	if o.n--; o.n == 0 {
		close(o.none)
	}
}

// wait returns when all are sent, or after owedTime.
func (o *owed) wait() {
	o.mu.Lock()
	n, none := o.n, o.none
	o.mu.Unlock()
	if n == 0 {
		return
	}
	timer := time.NewTimer(owedTime)
	defer timer.Stop()
	select {
	case <-none:
	case <-timer.C:
	}
}
