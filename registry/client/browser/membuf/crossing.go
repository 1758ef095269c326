//go:build js

package membuf

import "unsafe"

// usual is the size of the room that is kept; larger ones last for one crossing.
const usual = 64 << 10

var (
	kept  = make([]byte, usual)
	large []byte
)

// room returns the address of n bytes that JavaScript may write before the next export it calls.
//
//go:wasmexport portolan_room
func room(n int32) unsafe.Pointer {
	large = nil
	if n <= usual {
		return unsafe.Pointer(&kept[0])
	}
	large = make([]byte, n)
	return unsafe.Pointer(&large[0])
}

// Take returns the two texts that JavaScript has left, valid until the export
// that asks for them returns, or calls JavaScript. Every export that may be calm
// begins with it.
func Take(a, b int32) (first, second []byte) {
	calm = false
	from := kept
	if large != nil {
		from, large = large, nil
	}
	return from[:a:a], from[a : a+b : a+b]
}

// Address tells where b is, for an imported function to read len(b) bytes at.
func Address(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
