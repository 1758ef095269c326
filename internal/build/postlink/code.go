package main

import (
	"encoding/binary"
	"slices"
)

const codeSection = 10

// The instructions that Go's compiler writes and that matter here (WebAssembly Core 2.0, section 5.4).
const (
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI64Add       = 0x7c
	opI32Wrap      = 0xa7
	opI64Extend    = 0xad // i64.extend_i32_u
	opPrefix       = 0xfc // of instructions with a second number
)

// noValue is the type of a block that leaves nothing on the stack.
const noValue = -64

// An instruction has its first number, such as a constant or the index of a local, if it has any. more is the offset of
// a memory access, or the second number after opPrefix. labels are those of br_table.
type instruction struct {
	op      byte
	n, more int64
	labels  []int64
	text    []byte // as it is encoded
}

func isMemory(op byte) bool { return 0x28 <= op && op <= 0x3e }

// decode reads the instructions of a function.
func decode(code []byte) ([]instruction, error) {
	r := &reader{rest: code}
	var all []instruction
	for len(r.rest) > 0 {
		before := r.rest
		i := instruction{op: r.bytes(1)[0]}
		switch op := i.op; {
		case op == opBlock, op == opLoop, op == opIf, op == opI32Const, op == opI64Const:
			i.n = r.signed()
		case op == opBr, op == opBrIf, op == opCall, 0x20 <= op && op <= 0x24, op == 0x3f, op == 0x40:
			i.n = int64(r.number())
		case op == opCallIndirect, isMemory(op):
			i.n, i.more = int64(r.number()), int64(r.number())
		case op == opF32Const:
			r.bytes(4)
		case op == opF64Const:
			r.bytes(8)
		case op == opBrTable:
			for range r.number() + 1 {
				i.labels = append(i.labels, int64(r.number()))
			}
		case op == opPrefix:
			i.more = int64(r.number())
			switch {
			case i.more < 8: // truncation
			case i.more == 10: // memory.copy
				r.bytes(2)
			case i.more == 11: // memory.fill
				r.bytes(1)
			default:
				return nil, errLayout
			}
		case op == 0x00, op == 0x01, op == opElse, op == opEnd, op == opReturn, op == 0x1a, op == 0x1b, 0x45 <= op && op <= 0xc4:
		default:
			return nil, errLayout
		}
		if r.bad {
			return nil, errLayout
		}
		i.text = before[:len(before)-len(r.rest)]
		all = append(all, i)
	}
	return all, nil
}

// stack returns how many values an instruction takes from the stack and leaves there. It is not ok for those that
// leave the order of instructions, and for calls.
func stack(i instruction) (takes, leaves int, ok bool) {
	switch op := i.op; {
	case op == opLocalGet, op == 0x23, opI32Const <= op && op <= opF64Const:
		return 0, 1, true
	case op == opLocalSet, op == 0x24, op == 0x1a: // global.set, drop
		return 1, 0, true
	case 0x36 <= op && op <= 0x3e: // stores
		return 2, 0, true
	case op == 0x1b: // select
		return 3, 1, true
	case op == opPrefix && i.more >= 8:
		return 3, 0, true
	case op == 0x22, 0x28 <= op && op <= 0x35, op == 0x45, op == 0x50, 0x67 <= op && op <= 0x69, 0x79 <= op && op <= 0x7b,
		0x8b <= op && op <= 0x91, 0x99 <= op && op <= 0x9f, 0xa7 <= op && op <= 0xc4, op == opPrefix:
		return 1, 1, true
	case 0x46 <= op && op <= 0xa6:
		return 2, 1, true
	}
	return 0, 0, false
}

// fold moves the constant of an address on the stack into the instruction that uses the address:
//
//	local.get SP; i64.extend_i32_u; i64.const K; i64.add; i32.wrap_i64; …; i64.store offset=N
//	local.get SP; …; i64.store offset=N+K
//
// Both mean the same, because no frame on Go's stack reaches beyond the end of the memory.
func fold(code []instruction) []instruction {
	const mostOffset = 1 << 20
	kept := make([]instruction, 0, len(code))
	for at := 0; at < len(code); at++ {
		kept = append(kept, code[at])
		if !begins(code[at:], opLocalGet, opI64Extend, opI64Const, opI64Add, opI32Wrap) {
			continue
		}
		constant := code[at+2].n
		if user := userOf(code, at+5); user != nil && 0 <= constant && constant < mostOffset && user.more < mostOffset {
			user.more += constant
			user.text = binary.AppendUvarint(binary.AppendUvarint([]byte{user.op}, uint64(user.n)), uint64(user.more))
			at += 4
		}
	}
	return kept
}

// userOf returns the memory access whose address was on top of the stack before the instruction at, or nil.
func userOf(code []instruction, at int) *instruction {
	above := 0 // values above the address
	for ; at < len(code); at++ {
		takes, leaves, ok := stack(code[at])
		switch {
		case !ok:
			return nil
		case takes > above:
			if takes == above+1 && isMemory(code[at].op) {
				return &code[at]
			}
			return nil
		}
		above += leaves - takes
	}
	return nil
}

func begins(code []instruction, ops ...byte) bool {
	return len(code) >= len(ops) && !slices.ContainsFunc(ops, func(op byte) bool {
		is := code[0].op == op
		code = code[1:]
		return !is
	})
}

// A frame is a block, a loop or an if that is open. Frames are compared by their pointers.
type frame struct{ op byte }

// branch replaces a jump through the table at the begin of a function by a branch to the same place, if that place
// comes later:
//
//	i32.const N; local.set 0; br LOOP
//	br BLOCK
//
// Go's compiler sets local 0 to the number of a block, and has the table branch to it. Nothing else reads local 0, but
// calls through the table of functions, which set it before.
func branch(code []instruction) []instruction {
	table := slices.IndexFunc(code, func(i instruction) bool { return i.op == opBrTable })
	if table < 1 || code[table-1].op != opLocalGet || code[table-1].n != 0 || !onlyTableReads(code, table) {
		return code
	}
	kept := make([]instruction, 0, len(code))
	var open, targets []*frame
	var loop *frame
	for at := 0; at < len(code); at++ {
		i := code[at]
		switch i.op {
		case opBlock, opLoop, opIf:
			open = append(open, &frame{i.op})
		case opEnd:
			open = open[:max(len(open)-1, 0)]
		}
		if at == table {
			for _, label := range i.labels {
				targets = append(targets, frameOf(open, label))
			}
			for _, f := range open {
				if f.op == opLoop {
					loop = f
				}
			}
		}
		if !begins(code[at:], opI32Const, opLocalSet, opBr) || code[at+1].n != 0 || i.n >= int64(len(targets)) {
			kept = append(kept, i)
			continue
		}
		n := slices.Index(open, targets[i.n])
		if n < 0 || open[n].op != opBlock || loop == nil || frameOf(open, code[at+2].n) != loop {
			kept = append(kept, i)
			continue
		}
		op, label := byte(opBr), len(open)-1-n
		at += 2
		if last := len(kept) - 1; kept[last].op == opIf && kept[last].n == noValue && begins(code[at+1:], opEnd) {
			kept, open = kept[:last], open[:len(open)-1]
			op, label = opBrIf, label-1
			at++
		}
		kept = append(kept, instruction{op: op, n: int64(label), text: binary.AppendUvarint([]byte{op}, uint64(label))})
	}
	return kept
}

// frameOf returns the open frame that a label means, or nil if it means the function.
func frameOf(open []*frame, label int64) *frame {
	if label >= int64(len(open)) {
		return nil
	}
	return open[len(open)-1-int(label)]
}

// onlyTableReads reports whether local 0 is read for the table only, and for calls that have just set it.
func onlyTableReads(code []instruction, table int) bool {
	for at, i := range code {
		if i.op != opLocalGet || i.n != 0 || at == table-1 {
			continue
		}
		if at < 2 || !begins(code[at-2:], opLocalSet, opI32Const, opLocalGet, opCallIndirect) || code[at-2].n != 0 {
			return false
		}
	}
	return true
}

// leave has a function return where a call says that the goroutine stops, in place of a branch to the function's end:
//
//	br_if EXIT
//	if; i32.const 1; return; end
//
// The first form is shorter, but EXIT is another number at each call, which compresses badly.
func leave(code []instruction) []instruction {
	last := len(code) - 3
	if last < 0 || !begins(code[last:], opEnd, opI32Const, opEnd) || code[last+1].n != 1 {
		return code
	}
	first := slices.IndexFunc(code, func(i instruction) bool { return opBlock <= i.op && i.op <= opIf })
	if first < 0 || code[first].op != opBlock {
		return code
	}
	returns := []instruction{
		{op: opIf, n: noValue, text: []byte{opIf, 0x40}}, {op: opI32Const, n: 1, text: []byte{opI32Const, 1}},
		{op: opReturn, text: []byte{opReturn}}, {op: opEnd, text: []byte{opEnd}},
	}
	kept := make([]instruction, 0, len(code))
	depth := int64(0)
	for at, i := range code {
		switch {
		case opBlock <= i.op && i.op <= opIf:
			depth++
		case i.op == opEnd:
			if depth--; depth == 0 && at != last {
				return code // the first block is not the whole function
			}
		case i.op == opBrIf && i.n == depth-1:
			kept = append(kept, returns...)
			continue
		}
		kept = append(kept, i)
	}
	return kept
}

// rewriteCode returns the code section with its functions rewritten.
func rewriteCode(section []byte) ([]byte, error) {
	r := &reader{rest: section}
	count := r.number()
	out := binary.AppendUvarint(nil, uint64(count))
	for range count {
		body := &reader{rest: r.bytes(r.number())}
		all := body.rest
		for range body.number() { // locals: how many, and their type
			body.number()
			body.bytes(1)
		}
		if r.bad || body.bad {
			return nil, errLayout
		}
		code, err := decode(body.rest)
		if err != nil {
			return nil, err
		}
		function := slices.Clone(all[:len(all)-len(body.rest)])
		for _, i := range leave(branch(fold(code))) {
			function = append(function, i.text...)
		}
		out = append(binary.AppendUvarint(out, uint64(len(function))), function...)
	}
	if len(r.rest) > 0 {
		return nil, errLayout
	}
	return out, nil
}
