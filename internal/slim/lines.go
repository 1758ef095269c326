package main

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// The header of runtime.pclntab, which tells the runtime about functions (runtime/symtab.go).
const (
	magic       = "\xf1\xff\xff\xff\x00\x00\x01\x08" // Go 1.20 and later, wasm
	functions   = 8
	unitTable   = 40 // offsets
	fileTable   = 48
	valueTables = 56
	funcTable   = 64
)

// A runtime._func (runtime/runtime2.go): its fields, then npcdata offsets of
// tables of values, then nfuncdata offsets of other things.
const (
	spTable       = 16
	pathTable     = 20
	lineTable     = 24
	npcdata       = 28
	unit          = 32
	startLine     = 36
	nfuncdata     = 43
	funcSize      = 44
	noOffset      = ^uint32(0) // of other things; for tables of values it is 0
	unsafePoint   = 0          // in pcdata: where a signal may not interrupt, of which wasm has none
	argumentsLive = 3
	argumentsInfo = 5 // in funcdata
	argumentsNow  = 6
)

var errNoTable = errors.New("it has no table of functions as Go 1.26 lays it out")

// forgetLines takes out of the image of a module's memory what nothing but a stack trace
// asks for: files and lines, and how to show arguments. Which calls
// were inlined stays: recover looks at that.
func forgetLines(image []byte) (err error) {
	defer func() {
		if recover() != nil { // offsets beyond the image
			err = errNoTable
		}
	}()
	at := bytes.Index(image, []byte(magic))
	if at < 0 || bytes.Contains(image[at+1:], []byte(magic)) {
		return errNoTable
	}
	table := image[at:]
	size := func(at int) int { return int(binary.LittleEndian.Uint64(table[at:])) }
	values, list := table[size(valueTables):size(funcTable)], table[size(funcTable):]
	clear(table[size(unitTable):size(valueTables)])

	kept, dropped := map[uint32]bool{}, map[uint32]bool{}
	for i := range size(functions) {
		f := list[binary.LittleEndian.Uint32(list[8*i+4:]):]
		word := func(at int) []byte { return f[at : at+4] }
		drop := func(at int) {
			dropped[binary.LittleEndian.Uint32(word(at))] = true
			clear(word(at))
		}
		drop(pathTable)
		drop(lineTable)
		clear(word(startLine))
		binary.LittleEndian.PutUint32(word(unit), noOffset)
		kept[binary.LittleEndian.Uint32(word(spTable))] = true
		tables := int(binary.LittleEndian.Uint32(word(npcdata)))
		for i := range tables {
			if at := funcSize + 4*i; i == unsafePoint || i == argumentsLive {
				drop(at)
			} else {
				kept[binary.LittleEndian.Uint32(word(at))] = true
			}
		}
		for i := range int(f[nfuncdata]) {
			if i == argumentsInfo || i == argumentsNow {
				binary.LittleEndian.PutUint32(word(funcSize+4*(tables+i)), noOffset)
			}
		}
	}
	for offset := range dropped {
		if offset != 0 && !kept[offset] {
			clear(values[offset : int(offset)+valuesSize(values[offset:])])
		}
	}
	return nil
}

// valuesSize is the size of a table of values: pairs of numbers, of which the
// first, but for the first time, is not 0.
func valuesSize(table []byte) int {
	size := 0
	for first := true; first || table[size] != 0; first = false {
		for range 2 {
			_, n := binary.Uvarint(table[size:])
			size += n
		}
	}
	return size + 1
}
