// Trace uses the tables of the runtime: it collects garbage while
// goroutines hold on to some, grows stacks, recovers, and prints where it is.
package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

func main() {
	kept := make(chan int)
	for i := range 50 {
		go func() {
			text := make([]byte, 1000)
			text[0] = byte(i)
			runtime.Gosched()
			runtime.GC()
			kept <- int(text[0]) + deep(2000)
		}()
	}
	sum := 0
	for range 50 {
		sum += <-kept
	}
	println("sum", sum)
	println("recovered", recovered(func() { panic("out of " + os.Args[0][:0] + "order") }))
	println("not recovered", recovered(func() { defer func() { func() { recover() }() }(); panic("again") }))
	println("index", recovered(func() { _ = make([]int, 3)[sum] }))
	os.Stderr.Write(debug.Stack())
}

//go:noinline
func deep(n int) int {
	var room [64]byte
	if n == 0 {
		return int(room[0])
	}
	return deep(n-1) + int(room[n%64])
}

// recovered is short enough to be inlined, and so is what it defers.
func recovered(work func()) (said string) {
	defer func() { said = text(recover()) }()
	work()
	return ""
}

func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case error:
		return v.Error()
	}
	return "nothing"
}
