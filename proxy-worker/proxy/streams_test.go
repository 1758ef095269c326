package proxy

import (
	"sync"
	"testing"
)

func TestStreamsPerCaller(t *testing.T) {
	p, err := New(Config{MaxStreams: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false} {
		if got := p.Enter("a"); got != want {
			t.Errorf("stream %d of 2: %v", i+1, got)
		}
	}
	if !p.Enter("b") {
		t.Error("one caller's streams count for another")
	}
	p.Leave("a")
	if !p.Enter("a") {
		t.Error("a closed stream still counts")
	}
	for _, caller := range []string{"a", "a", "b", "never seen"} {
		p.Leave(caller)
	}
	if len(p.streams.open) != 0 {
		t.Errorf("callers with nothing open are remembered: %v", p.streams.open)
	}
}

func TestStreamsAtOnce(t *testing.T) {
	p, _ := New(Config{MaxStreams: 8})
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range 100 {
				if p.Enter("a") {
					p.Leave("a")
				}
			}
		})
	}
	all.Wait()
	if len(p.streams.open) != 0 {
		t.Errorf("left open: %v", p.streams.open)
	}
}
