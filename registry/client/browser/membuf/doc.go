// Package membuf is the memory through which JavaScript and the module hand
// each other what every call needs: exported and imported functions on plain
// numbers, and bytes where the other side can read them. A js.Func callback with
// strings costs 12 µs and more, such a crossing less than one.
//
// JavaScript writes texts one after the other into what portolan_room returns
// and calls an export with their lengths ([Take]); Go passes the address of its
// own bytes, which JavaScript reads before it returns ([Address]). crossing.ts
// is the other side.
package membuf
