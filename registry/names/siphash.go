package names

import "math/bits"

// The key of all hashed tool names. It is public and must never change:
// conversations and configurations hold the names.
const (
	hashKey0 = 0x706f72746f6c616e // "portolan"
	hashKey1 = 0x746f6f6c6e616d65 // "toolname"
)

// Hash returns a hash of a text, under a public key.
func Hash(text string) uint64 { return sipHash(hashKey0, hashKey1, []byte(text)) }

// sipHash is SipHash-2-4 (Aumasson and Bernstein, 2012). A server must not find a
// second text with the hash of a given one: it could take another server's name.
// FNV is not safe against that, and crypto/sha256 would add 75 KB to the module.
func sipHash(k0, k1 uint64, text []byte) uint64 {
	v0, v1 := k0^0x736f6d6570736575, k1^0x646f72616e646f6d
	v2, v3 := k0^0x6c7967656e657261, k1^0x7465646279746573
	rounds := func(n int) {
		for range n {
			v0 += v1
			v1 = bits.RotateLeft64(v1, 13) ^ v0
			v0 = bits.RotateLeft64(v0, 32)
			v2 += v3
			v3 = bits.RotateLeft64(v3, 16) ^ v2
			v0 += v3
			v3 = bits.RotateLeft64(v3, 21) ^ v0
			v2 += v1
			v1 = bits.RotateLeft64(v1, 17) ^ v2
			v2 = bits.RotateLeft64(v2, 32)
		}
	}
	last := uint64(len(text)) << 56
	for ; len(text) >= 8; text = text[8:] {
		word := littleEndian(text[:8])
		v3 ^= word
		rounds(2)
		v0 ^= word
	}
	last |= littleEndian(text)
	v3 ^= last
	rounds(2)
	v0 ^= last
	v2 ^= 0xff
	rounds(4)
	return v0 ^ v1 ^ v2 ^ v3
}

func littleEndian(text []byte) (word uint64) {
	for i, b := range text {
		word |= uint64(b) << (8 * i)
	}
	return word
}
