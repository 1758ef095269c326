package rawjson

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPointerIsBounded(t *testing.T) {
	if got, want := Pointer("/a", "b/c~d"), "/a/b~1c~0d"; got != want {
		t.Errorf("Pointer = %q, want %q", got, want)
	}
	long := Pointer("", strings.Repeat("é", 1<<20))
	for _, p := range []string{long, Pointer(long, "more"), Pointer(Pointer("/a", long), "é")} {
		if len(p) > maxPointer || len(p) < maxPointer-utf8.UTFMax || !utf8.ValidString(p) {
			t.Errorf("a long pointer has %d bytes, want at most %d of whole characters", len(p), maxPointer)
		}
	}
}
