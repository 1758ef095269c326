package resulttext

import (
	"math/rand/v2"
	"strconv"
	"sync"
)

// Bounds of the texts that a Kept holds.
const (
	maxKeptBytes = 32 << 20
	maxKept      = 50
)

// defaultLength is the length of a part if the reader names none.
const defaultLength = 20_000

// Kept holds the whole texts of results that were cut. The zero Kept is ready to
// use, by several goroutines at once.
type Kept struct {
	mu    sync.Mutex
	texts map[string]string
	order []string // handles, oldest first
	size  int
	last  int
}

// Keep stores a text and returns its handle. Another result cannot guess the handle.
// The oldest texts go when there are too many.
func (k *Kept) Keep(text string) (handle string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.texts == nil {
		k.texts = make(map[string]string)
	}
	k.last++
	handle = "r" + strconv.Itoa(k.last) + "-" + strconv.FormatUint(rand.Uint64N(36*36*36*36*36*36), 36)
	k.texts[handle] = text
	k.order = append(k.order, handle)
	k.size += len(text)
	for len(k.order) > 1 && (k.size > maxKeptBytes || len(k.order) > maxKept) {
		k.size -= len(k.texts[k.order[0]])
		delete(k.texts, k.order[0])
		k.order = k.order[1:]
	}
	return handle
}

// A Part is a part of a result's text. Lengths are in characters as JavaScript
// counts them: those beyond U+FFFF are two.
type Part struct {
	Text   string
	Offset int // where Text begins
	Total  int // length of the whole
}

// Read returns a part of a kept text, or false if the text is not kept any more. It
// divides no character; a length of 0 means 20,000.
func (k *Kept) Read(handle string, offset, length int) (Part, bool) {
	k.mu.Lock()
	text, ok := k.texts[handle]
	k.mu.Unlock()
	if !ok {
		return Part{}, false
	}
	if length <= 0 {
		length = defaultLength
	}
	part := Part{Offset: -1}
	at, from, to := 0, len(text), len(text)
	for i, c := range text {
		if part.Offset < 0 && at >= offset {
			part.Offset, from = at, i
		}
		if part.Offset >= 0 && to == len(text) && at >= part.Offset+length {
			to = i
		}
		if at++; c > 0xffff {
			at++
		}
	}
	part.Total = at
	if part.Offset < 0 {
		part.Offset = at
	}
	part.Text = text[from:to]
	return part, true
}
