//go:build js

package main

import (
	"strconv"
	"strings"
	"unsafe"

	"github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

// Texts cross in the module's memory. policy.mjs writes a text at the address that
// portolan_room returns, and calls an export with its length. The export returns the
// address of a result. Both are valid until the next export. Header fields are lines, name
// and value in turn, so that no value is split at a comma.

// usual is the size of the room that stays allocated, in bytes.
const usual = 64 << 10

var (
	kept = make([]byte, usual)
	room = kept
)

//go:wasmexport portolan_room
func portolanRoom(n int32) unsafe.Pointer {
	room = kept
	if n > usual {
		room = make([]byte, n)
	}
	return unsafe.Pointer(unsafe.SliceData(room))
}

// readRoom copies the text in the room.
func readRoom(n int32) string { return string(room[:n]) }

func pairsOf(lines []string) []proxy.Pair {
	header := make([]proxy.Pair, 0, len(lines)/2)
	for ; len(lines) > 1; lines = lines[2:] {
		header = append(header, proxy.Pair{Name: lines[0], Value: lines[1]})
	}
	return header
}

// out has the address and the length of a result's text, and of its body.
var (
	out  [4]uint32
	text []byte
	rest []byte // the body, which the collector must not free before it was read
)

// writeResult writes a result: its kind and numbers in the first line, other lines, header fields.
func writeResult(first string, lines []string, header []proxy.Pair, body []byte) unsafe.Pointer {
	text = append(text[:0], first...)
	for _, line := range lines {
		text = append(append(text, '\n'), line...)
	}
	for _, h := range header {
		text = append(append(append(append(text, '\n'), h.Name...), '\n'), h.Value...)
	}
	rest = body
	out = [4]uint32{address(text), uint32(len(text)), address(body), uint32(len(body))}
	return unsafe.Pointer(&out)
}

func address(b []byte) uint32 { return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func firstLine(kind string, numbers ...int64) string {
	var b strings.Builder
	b.WriteString(kind)
	for _, n := range numbers {
		b.WriteString(" " + strconv.FormatInt(n, 10))
	}
	return b.String()
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func answer(status int, header []proxy.Pair, body []byte) unsafe.Pointer {
	return writeResult(firstLine("answer", int64(status)), nil, header, body)
}

func refusal(code, origin string) unsafe.Pointer {
	d := proxy.Refuse(code, origin)
	return answer(d.Status, d.Header, d.Body)
}

func send(id int32, d *proxy.Decision) unsafe.Pointer {
	return writeResult(firstLine("send", int64(id), d.MaxRequest, d.FirstByte.Milliseconds()),
		[]string{d.Method, d.URL, d.RateKey}, d.Header, nil)
}

// diagnose writes for each probe its number of lines, method, URL, body and header fields.
func diagnose(id int32, d *proxy.Decision) unsafe.Pointer {
	lines := []string{d.RateKey}
	for _, p := range d.Probes {
		lines = append(lines, strconv.Itoa(3+2*len(p.Header)), p.Method, p.URL, string(p.Body))
		for _, h := range p.Header {
			lines = append(lines, h.Name, h.Value)
		}
	}
	return writeResult(firstLine("diagnose", int64(id), d.FirstByte.Milliseconds()), lines, nil, nil)
}

func pass(r *proxy.Reply) unsafe.Pointer {
	line := firstLine("pass", int64(r.Status), bit(r.Stream), bit(r.Prime), int64(r.Bind), r.MaxBody)
	return writeResult(line, nil, r.Header, nil)
}
