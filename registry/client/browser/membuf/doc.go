// Package membuf is the memory through which JavaScript and the module exchange what
// every call needs: numbers as arguments of exported and imported functions, and texts
// as bytes. A js.Func callback with strings costs 12 µs and more; this costs less than one.
//
// JavaScript writes texts one after the other to the address that portolan_room returns,
// and calls an export with their lengths ([Take]). Go passes the address of its own
// bytes, which JavaScript reads before it returns ([Address]).
//
// An export returns 1 if no goroutine has to run now. JavaScript then resumes the module
// a little later, for timers only: resuming costs more than the rest of a call.
//
// wasm/js/host/abi.ts is the other side.
package membuf
