package gateway

import (
	"testing"
	"testing/synctest"
	"time"
)

// The pauses of a program that fails are short again after one that worked, also if the gateway ended that one.
func TestAProgramThatWorkedEndsThePauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes here
		g, err := New([]Server{{Name: "files", Command: "files"}}, &Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		e := g.entries[0]
		pauseAfter := func(note exitNote, lived time.Duration) time.Duration {
			e.over(newProgram(e), note, lived)
			return time.Until(e.until)
		}
		for i, want := range []time.Duration{1, 2, 4} {
			if got := pauseAfter(exitNote{Code: 1}, 0); got != want*g.opts.Delay {
				t.Errorf("end %d: %v", i+1, got)
			}
		}
		pauseAfter(exitNote{Asked: true}, time.Hour)
		if got := pauseAfter(exitNote{Code: 1}, 0); got != g.opts.Delay {
			t.Errorf("after an hour of work: %v", got)
		}
	})
}
