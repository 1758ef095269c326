package main

import (
	"bytes"
	"encoding/binary"
)

const dataSection = 11

// join returns the data section with fewer segments: a run of 32 zero bytes ends one. It returns errLayout unless all
// segments are active, in memory 0 and at constant addresses.
func join(section []byte) ([]byte, error) {
	r := &reader{rest: section}
	var memory []byte // what the section fills, from address 0 on
	for range r.number() {
		index, code, address, last := r.number(), r.number(), r.number(), r.number()
		content := r.bytes(r.number())
		if r.bad || index != 0 || code != opI32Const || last != opEnd || address > 1<<30 {
			return nil, errLayout
		}
		if more := address + len(content) - len(memory); more > 0 {
			memory = append(memory, make([]byte, more)...)
		}
		copy(memory[address:], content)
	}
	zeros := make([]byte, 32)
	var segments []byte
	count := uint64(0)
	for at := 0; at < len(memory); {
		if memory[at] == 0 {
			at++
			continue
		}
		until := len(memory)
		if i := bytes.Index(memory[at:], zeros); i >= 0 {
			until = at + i
		}
		segments = append(appendSigned(append(segments, 0, opI32Const), at), opEnd)
		segments = append(binary.AppendUvarint(segments, uint64(until-at)), memory[at:until]...)
		count++
		at = until
	}
	return append(binary.AppendUvarint(nil, count), segments...), nil
}

// appendSigned appends n, which is at least 0, as signed LEB128.
func appendSigned(b []byte, n int) []byte {
	b = binary.AppendUvarint(b, uint64(n))
	if last := len(b) - 1; b[last]&0x40 != 0 {
		b[last] |= 0x80
		b = append(b, 0)
	}
	return b
}
