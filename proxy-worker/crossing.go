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

// fields has the header fields of the text in the room. The policy copies the fields that it keeps.
var fields []proxy.Pair

// pairsOf reads header fields. They are valid until the next call.
func pairsOf(text string) []proxy.Pair {
	clear(fields) // frees the last text
	fields = fields[:0]
	for text != "" {
		var h proxy.Pair
		h.Name, text, _ = strings.Cut(text, "\n")
		h.Value, text, _ = strings.Cut(text, "\n")
		fields = append(fields, h)
	}
	return fields
}

// A result's kind is its place in policy.mjs's list.
const (
	kindAnswer = iota
	kindSend
	kindDiagnose
	kindPass
)

// out has the kind of a result, the addresses and lengths of its text and of its body, and
// numbers of its kind. The text is lines of its kind, and then header fields.
var (
	out  [10]float64
	text []byte
	rest []byte // the body, which the collector must not free before it was read
)

func begin(kind int, numbers ...float64) {
	out[0] = float64(kind)
	copy(out[5:], numbers)
	text = text[:0]
}

func writeLine(line string) { text = append(append(text, line...), '\n') }

func writeFields(header []proxy.Pair) {
	for _, h := range header {
		writeLine(h.Name)
		writeLine(h.Value)
	}
}

func finish(body []byte) unsafe.Pointer {
	rest = body
	out[1], out[2], out[3], out[4] = address(text), float64(len(text)), address(body), float64(len(body))
	return unsafe.Pointer(&out)
}

func address(b []byte) float64 { return float64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func answer(status int, header []proxy.Pair, body []byte) unsafe.Pointer {
	begin(kindAnswer, float64(status))
	writeFields(header)
	return finish(body)
}

func refusal(code, origin string) unsafe.Pointer {
	d := proxy.Refuse(code, origin)
	return answer(d.Status, d.Header, d.Body)
}

func send(id int32, d *proxy.Decision) unsafe.Pointer {
	begin(kindSend, float64(id), float64(d.MaxRequest), float64(d.FirstByte.Milliseconds()))
	writeLine(d.Method)
	writeLine(d.URL)
	writeLine(d.RateKey)
	writeFields(d.Header)
	return finish(nil)
}

// diagnose writes for each probe its number of lines, method, URL, body and header fields.
func diagnose(id int32, d *proxy.Decision) unsafe.Pointer {
	begin(kindDiagnose, float64(id), float64(d.FirstByte.Milliseconds()))
	writeLine(d.RateKey)
	for _, p := range d.Probes {
		writeLine(strconv.Itoa(3 + 2*len(p.Header)))
		writeLine(p.Method)
		writeLine(p.URL)
		writeLine(string(p.Body))
		writeFields(p.Header)
	}
	return finish(nil)
}

func pass(r *proxy.Reply) unsafe.Pointer {
	begin(kindPass, float64(r.Status), bit(r.Stream), bit(r.Prime), float64(r.Bind), float64(r.MaxBody))
	writeFields(r.Header)
	return finish(nil)
}
