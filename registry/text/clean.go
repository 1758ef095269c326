// Package text prepares the texts of servers for models and user interfaces.
//
// Servers choose the texts of their tools, errors and results. [Clean] removes hidden
// characters from one text, and [CleanDefinition] from all texts of a tool. [Plain]
// writes a text as one line of a user interface. [Redact] hides header values that a
// server repeats.
//
// The ranges of hidden characters and the tables of testdata/hygiene are shared
// with wasm/js/shared/plaintext.ts and wasm/js/fetch/hygiene.ts. In a browser the
// host cleans all texts that leave the module. [Visible] does nothing there, so
// that the module does not link the tables.
package text

import (
	"github.com/portolan-mcp/portolan/registry/wire"
)

// Clean returns s without hidden characters: control characters, terminal sequences,
// characters that reverse a line or have no width, copies of ASCII (tags), and variation
// selectors without effect. at is the index of the first hidden character of s, counted
// in characters, or -1.
//
// Line feeds, tabs and CRLF stay. A lone CR and the separators U+2028 and U+2029
// become line feeds, and a leading byte order mark is removed; neither counts as
// hidden. Characters that ordinary writing needs stay in their place:
//
//   - joiners between emoji, and between letters of joining scripts
//   - direction marks beside letters of right-to-left scripts
//   - variation selectors behind characters with variants
//   - the tags in the flags of England, Scotland and Wales
func Clean(s string) (text string, at int) {
	at = -1
	if isPlainText(s) {
		return s, at
	}
	chars := []rune(s)
	kept := make([]rune, 0, len(chars))
	first := 0
	if chars[0] == 0xfeff {
		first = 1
	}
	for i := first; i < len(chars); i++ {
		c := chars[i]
		var before, after rune
		if len(kept) > 0 {
			before = kept[len(kept)-1]
		}
		if i+1 < len(chars) {
			after = chars[i+1]
		}
		switch {
		case c == '\r' && after == '\n':
			kept = append(kept, c)
		case c == '\r' || c == 0x2028 || c == 0x2029:
			kept = append(kept, '\n')
		case c == blackFlag && isNation(chars[i+1:]):
			kept = append(kept, chars[i:i+7]...)
			i += 6
		case !isHidden(c) || isWanted(c, before, after):
			kept = append(kept, c)
		default:
			if at < 0 {
				at = i
			}
			i += sequenceLength(chars[i:]) - 1
		}
	}
	return string(kept), at
}

// isPlainText reports whether s has nothing that Clean changes. It is fast for ASCII.
func isPlainText(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' && (c != '\r' || i+1 == len(s) || s[i+1] != '\n') || c >= 0x7f {
			return isPlainRunes(s[i:])
		}
	}
	return true
}

func isPlainRunes(s string) bool {
	for i, c := range s {
		if isHidden(c) && (c != '\r' || i+1 == len(s) || s[i+1] != '\n') {
			return false
		}
	}
	return true
}

// inRanges reports whether ranges hold c; see registry/wire for their form.
func inRanges(c rune, ranges []rune) bool {
	for i := 0; i < len(ranges) && c >= ranges[i]; i += 2 {
		if c <= ranges[i+1] {
			return true
		}
	}
	return false
}

func isHidden(c rune) bool { return inRanges(c, wire.Hidden) }

// isWanted reports whether ordinary writing needs the hidden character c between before and after.
func isWanted(c, before, after rune) bool {
	switch {
	case c == 0x200c:
		return inRanges(before, wire.Joining) && inRanges(after, wire.Joining)
	case c == 0x200d:
		return inRanges(before, wire.Joining) || inRanges(before, wire.Emoji) && inRanges(after, wire.Emoji)
	case c == 0x200e || c == 0x200f || c == 0x61c:
		return inRanges(before, wire.RightToLeft) || inRanges(after, wire.RightToLeft)
	case 0xfe00 <= c && c <= 0xfe0f:
		return before >= 0x2000 && !isHidden(before) ||
			c >= 0xfe0e && ('0' <= before && before <= '9' || before == '#' || before == '*' || before == 0xa9 || before == 0xae)
	}
	return 0xe0100 <= c && c <= 0xe01ef && inRanges(before, wire.Han)
}

const blackFlag = 0x1f3f4

func isNation(tags []rune) bool {
	for _, nation := range wire.Nations {
		n := nation + "\x7f" // the tag that ends the sequence
		i := 0
		for i < min(len(n), len(tags)) && tags[i] == 0xe0000+rune(n[i]) {
			i++
		}
		if i == len(n) {
			return true
		}
	}
	return false
}

// longestSequence bounds a terminal sequence. An open sequence must not remove the text behind it.
const longestSequence = 256

// sequenceLength returns the length of the terminal sequence at the start of chars, or 1.
func sequenceLength(chars []rune) int {
	at := func(i int) rune {
		if i < len(chars) {
			return chars[i]
		}
		return 0
	}
	skip := func(i int, from, to rune) int {
		for from <= at(i) && at(i) <= to && i < longestSequence {
			i++
		}
		return i
	}
	ended := func(i int, from, to rune) int {
		if c := at(i); from <= c && c <= to {
			return i + 1
		}
		return 1
	}
	text := func(i int) int {
		for ; i < len(chars) && i < longestSequence; i++ {
			if chars[i] == 0x07 || chars[i] == 0x9c {
				return i + 1
			}
			if chars[i] == 0x1b && at(i+1) == '\\' {
				return i + 2
			}
		}
		return 1
	}
	switch c := chars[0]; {
	case c == 0x9b:
		return ended(skip(1, 0x20, 0x3f), 0x40, 0x7e)
	case c == 0x90 || c == 0x98 || 0x9d <= c && c <= 0x9f:
		return text(1)
	case c != 0x1b:
		return 1
	}
	switch at(1) {
	case '[':
		return ended(skip(2, 0x20, 0x3f), 0x40, 0x7e)
	case ']', 'P', 'X', '^', '_':
		return text(2)
	}
	return ended(skip(1, 0x20, 0x2f), 0x30, 0x7e)
}
