//go:build js

package jsfetch

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hack-pad/safejs"
)

// A settlement is how a promise ended.
type settlement struct {
	value safejs.Value
	err   error
}

// await reports once how promise ends. Its two callbacks own each other: whichever
// the platform calls releases both. The caller need not receive.
func await(promise safejs.Value) <-chan settlement {
	settled := make(chan settlement, 1)
	var fulfilled, rejected safejs.Func
	release := sync.OnceFunc(func() {
		fulfilled.Release()
		rejected.Release()
	})
	callback := func(settle func(safejs.Value) settlement) (safejs.Func, error) {
		return safejs.FuncOf(func(_ safejs.Value, args []safejs.Value) any {
			defer release()
			// A panic in a callback ends the Go runtime, and every server with it.
			defer func() {
				if p := recover(); p != nil {
					settled <- settlement{err: fmt.Errorf("fault in a callback: %v", p)}
				}
			}()
			value := safejs.Undefined()
			if len(args) > 0 {
				value = args[0]
			}
			settled <- settle(value)
			return nil
		})
	}
	var err error
	if fulfilled, err = callback(func(v safejs.Value) settlement { return settlement{value: v} }); err != nil {
		settled <- settlement{err: err}
		return settled
	}
	if rejected, err = callback(func(v safejs.Value) settlement { return settlement{err: reason(v)} }); err != nil {
		fulfilled.Release()
		settled <- settlement{err: err}
		return settled
	}
	if _, err := promise.Call("then", fulfilled, rejected); err != nil {
		release()
		settled <- settlement{err: err}
	}
	return settled
}

// reason is what a promise was rejected with, in words. Browsers say no more than
// "Failed to fetch"; Node puts the reason into the cause.
func reason(v safejs.Value) error {
	text := describe(v)
	if v.Type() == safejs.TypeObject {
		if cause, err := v.Get("cause"); err == nil && cause.Type() == safejs.TypeObject {
			text += ": " + describe(cause)
		}
	}
	return errors.New(text)
}

func describe(v safejs.Value) string {
	if v.Type() == safejs.TypeObject {
		if message, err := v.Get("message"); err == nil && message.Type() == safejs.TypeString {
			if s, err := message.String(); err == nil && s != "" {
				return s
			}
		}
	}
	if s, err := v.String(); err == nil && v.Type() == safejs.TypeString {
		return s
	}
	return "fetch failed"
}

func thrown(what string, err error) error { return fmt.Errorf("%s: %w", what, err) }
