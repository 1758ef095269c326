package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

const dataSection = 11

var errNoModule = errors.New("not a module as Go links it")

// A reader reads LEB128 numbers. Past the end it reads nothing more and remembers that.
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

// takeApart returns what the data section lays out in memory, from address 0 on,
// and what comes before and after that section.
func takeApart(module []byte) (before, image, after []byte, err error) {
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
		for range section.number() {
			// The segment is of memory 0, at the address that i32.const pushes before end.
			memory, code := section.number(), section.number()
			address, end := section.number(), section.number()
			content := section.bytes(section.number())
			if section.bad || memory != 0 || code != 0x41 || end != 0x0b || address > 1<<30 {
				return nil, nil, nil, errNoModule
			}
			if more := address + len(content) - len(image); more > 0 {
				image = append(image, make([]byte, more)...)
			}
			copy(image[address:], content)
		}
		return module[:at], image, r.rest, nil
	}
	return nil, nil, nil, errNoModule
}

// putTogether is takeApart's opposite. The linker begins a segment behind every
// eight zeros, which is 40,000 of them; their headers compress worse than zeros.
func putTogether(before, image, after []byte) []byte {
	zeros := make([]byte, 32)
	var segments []byte
	count := uint64(0)
	for at := 0; at < len(image); {
		if image[at] == 0 {
			at++
			continue
		}
		end := len(image)
		if i := bytes.Index(image[at:], zeros); i >= 0 {
			end = at + i
		}
		segments = append(appendAddress(append(segments, 0, 0x41), at), 0x0b)
		segments = append(binary.AppendUvarint(segments, uint64(end-at)), image[at:end]...)
		count++
		at = end
	}
	section := append(binary.AppendUvarint(nil, count), segments...)
	module := append(bytes.Clone(before), dataSection)
	module = append(binary.AppendUvarint(module, uint64(len(section))), section...)
	return append(module, after...)
}

// appendAddress writes a number that is read as a signed one.
func appendAddress(b []byte, n int) []byte {
	b = binary.AppendUvarint(b, uint64(n))
	if last := len(b) - 1; b[last]&0x40 != 0 {
		b[last] |= 0x80
		b = append(b, 0)
	}
	return b
}
