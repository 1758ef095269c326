package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

const (
	dataSection = 11
	i32Const    = 0x41
	end         = 0x0b
)

var errLayout = errors.New("not a module as Go links it")

// A reader reads LEB128 numbers. Past the end it reads nothing and sets bad.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > 1<<32 {
		r.rest, r.bad = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.rest) {
		r.rest, r.bad = nil, true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// parts are a module's bytes before and after its data section, and the memory that the
// section fills, from address 0 on.
type parts struct {
	before, memory, after []byte
}

// split finds the data section. It returns errLayout unless all segments are active, in
// memory 0 and at constant addresses.
func split(module []byte) (parts, error) {
	const header = 8
	r := &reader{rest: module}
	r.bytes(header)
	for len(r.rest) > 0 {
		at := len(module) - len(r.rest)
		kind := r.bytes(1)
		section := &reader{rest: r.bytes(r.number())}
		if r.bad || kind[0] != dataSection {
			continue
		}
		var memory []byte
		for range section.number() {
			index, code := section.number(), section.number()
			address, last := section.number(), section.number()
			content := section.bytes(section.number())
			if section.bad || index != 0 || code != i32Const || last != end || address > 1<<30 {
				return parts{}, errLayout
			}
			if more := address + len(content) - len(memory); more > 0 {
				memory = append(memory, make([]byte, more)...)
			}
			copy(memory[address:], content)
		}
		return parts{module[:at], memory, r.rest}, nil
	}
	return parts{}, errLayout
}

// module returns the module of the parts. A run of 32 zero bytes ends a segment.
func (p parts) module() []byte {
	zeros := make([]byte, 32)
	var segments []byte
	count := uint64(0)
	for at := 0; at < len(p.memory); {
		if p.memory[at] == 0 {
			at++
			continue
		}
		until := len(p.memory)
		if i := bytes.Index(p.memory[at:], zeros); i >= 0 {
			until = at + i
		}
		segments = append(appendSigned(append(segments, 0, i32Const), at), end)
		segments = append(binary.AppendUvarint(segments, uint64(until-at)), p.memory[at:until]...)
		count++
		at = until
	}
	section := append(binary.AppendUvarint(nil, count), segments...)
	module := append(bytes.Clone(p.before), dataSection)
	module = append(binary.AppendUvarint(module, uint64(len(section))), section...)
	return append(module, p.after...)
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
