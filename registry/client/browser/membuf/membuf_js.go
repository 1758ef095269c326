package membuf

import "unsafe"

// keptBytes is the size of the buffer that is kept. A larger one lasts for one call.
const keptBytes = 64 << 10

var (
	kept  = make([]byte, keptBytes)
	large []byte
)

// room returns the address of n bytes that JavaScript may write before the next export it calls.
//
//go:wasmexport portolan_room
func room(n int32) unsafe.Pointer {
	large = nil
	if n <= keptBytes {
		return unsafe.Pointer(&kept[0])
	}
	large = make([]byte, n)
	return unsafe.Pointer(&large[0])
}

// Take returns the two texts that JavaScript wrote. They are valid until the export
// returns or calls JavaScript.
func Take(a, b int32) (first, second []byte) {
	from := kept
	if large != nil {
		from, large = large, nil
	}
	return from[:a:a], from[a : a+b : a+b]
}

// Address returns the address at which an imported function reads the len(b) bytes of b.
func Address(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }
