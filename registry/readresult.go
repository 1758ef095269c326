package registry

import (
	"math/rand/v2"
	"strconv"
	"sync"
)

// Bounds on the results whose whole text is kept for ReadResult.
const (
	maxKeptBytes = 32 << 20
	maxKept      = 50
)

// defaultRead is how much ReadResult returns if it is not told.
const defaultRead = 20_000

// results are the whole texts of results that were cut.
type results struct {
	mu    sync.Mutex
	texts map[string]string
	order []string // handles, oldest first
	size  int
	last  int
}

// keep returns the handle of a text. It is not to be guessed by what another result says.
func (k *results) keep(text string) (handle string) {
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

// A ResultPart is a part of a result's text. Lengths are in characters as
// JavaScript counts them: those beyond U+FFFF are two.
type ResultPart struct {
	Text   string
	Offset int // where Text begins
	Total  int // length of the whole
}

// ReadResult reads on in a result that [Result.Text] has cut. It divides no
// character; a length of 0 means 20,000. The error is [ErrGone] once newer
// results have taken its place.
func (r *Registry) ReadResult(handle string, offset, length int) (ResultPart, error) {
	r.kept.mu.Lock()
	text, ok := r.kept.texts[handle]
	r.kept.mu.Unlock()
	if !ok {
		return ResultPart{}, ErrGone
	}
	if length <= 0 {
		length = defaultRead
	}
	part := ResultPart{Offset: -1}
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
	return part, nil
}
