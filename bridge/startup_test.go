package bridge

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"
)

// A request that waits since the start waits for the list of a browser that has come late.
func TestARequestWaitsForTheListOfABrowserThatComesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, err := New(&Options{Ephemeral: true, Settle: 10 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		found := make(chan *link, 1)
		go func() {
			l, _ := b.await(t.Context(), "", "")
			found <- l
		}()
		time.Sleep(9 * time.Second)
		l := newLink(b, Pairing{InstallID: "p"}, nil)
		b.addLink(l)
		time.Sleep(5 * time.Second)
		l.mu.Lock()
		l.tools = json.RawMessage(`{"tools":[]}`)
		l.mu.Unlock()
		b.notify()
		if <-found != l {
			t.Error("the request has not waited")
		}
	})
}
