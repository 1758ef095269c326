package main

import (
	"encoding/binary"
	"errors"
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

// signed reads a signed number.
func (r *reader) signed() (n int64) {
	for shift := 0; ; shift += 7 {
		b := r.bytes(1)
		if r.bad || shift > 63 {
			r.bad = true
			return 0
		}
		n |= int64(b[0]&0x7f) << shift
		if b[0]&0x80 == 0 {
			if b[0]&0x40 != 0 && shift < 57 {
				n |= -1 << (shift + 7)
			}
			return n
		}
	}
}

// rewritten returns a module with its functions rewritten and fewer data segments. It returns errLayout for a module that Go
// did not link.
func rewritten(module []byte) ([]byte, error) {
	const header = 8
	r := &reader{rest: module}
	out := append([]byte{}, r.bytes(header)...)
	found := 0
	for len(r.rest) > 0 {
		kind := r.bytes(1)[0]
		section := r.bytes(r.number())
		if r.bad {
			return nil, errLayout
		}
		rewrite, known := map[byte]func([]byte) ([]byte, error){codeSection: rewriteCode, dataSection: join}[kind]
		if known {
			var err error
			if section, err = rewrite(section); err != nil {
				return nil, err
			}
			found++
		}
		out = append(binary.AppendUvarint(append(out, kind), uint64(len(section))), section...)
	}
	if found != 2 {
		return nil, errLayout
	}
	return out, nil
}
