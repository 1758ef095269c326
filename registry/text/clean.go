package text

import "slices"

// Clean returns s without hidden characters: control characters, terminal
// sequences, characters that reverse a line or take no room, copies of ASCII
// (tags), and variation selectors that select nothing. at is the index of the
// first of them in s, counted in characters, or -1.
//
// Line feeds, tabs and CRLF stay. A lone CR and the separators U+2028 and U+2029
// become line feeds, and a leading byte order mark is removed; neither counts as
// hidden. Characters that ordinary writing needs stay in their place: joiners
// between emoji and between letters of joining scripts, direction marks beside
// letters of right-to-left scripts, variation selectors behind characters with
// variants, and the tags in the flags of England, Scotland and Wales.
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

// hidden holds sorted ranges of characters that are not visible or change how other characters look.
var hidden = []rune{0, 8, 0x0b, 0x1f, 0x7f, 0x9f, 0xad, 0xad, 0x34f, 0x34f, 0x61c, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180f,
	0x200b, 0x200f, 0x2028, 0x202e, 0x2060, 0x206f, 0x3164, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xfeff, 0xffa0, 0xffa0, 0xfff0, 0xfffb,
	0x1bca0, 0x1bca3, 0x1d173, 0x1d17a, 0xe0000, 0xe0fff}

// The scripts that are written with joiners, emoji and what joins to them,
// scripts that run from the right, and Han.
var (
	joining = []rune{0x600, 0xdff, 0x1000, 0x109f, 0x1780, 0x18af, 0x1a20, 0x1aaf, 0x1b00, 0x1b7f, 0xa840, 0xa87f, 0xa980, 0xa9df,
		0xaa60, 0xaa7f, 0xfb50, 0xfdff, 0xfe70, 0xfefc, 0x11000, 0x11fff, 0x1e900, 0x1e95f}
	emoji = []rune{0x2190, 0x2bff, 0xfe0f, 0xfe0f, 0x1f000, 0x1faff}
	rtl   = []rune{0x590, 0x8ff, 0xfb1d, 0xfdff, 0xfe70, 0xfefc, 0x10800, 0x10fff, 0x1e800, 0x1efff}
	han   = []rune{0x2e80, 0x9fff, 0xf900, 0xfaff, 0x20000, 0x3ffff}
)

func inRanges(c rune, ranges []rune) bool {
	for i := 0; i < len(ranges) && c >= ranges[i]; i += 2 {
		if c <= ranges[i+1] {
			return true
		}
	}
	return false
}

func isHidden(c rune) bool { return inRanges(c, hidden) }

// isWanted reports whether ordinary writing needs the hidden character c between before and after.
func isWanted(c, before, after rune) bool {
	switch {
	case c == 0x200c:
		return inRanges(before, joining) && inRanges(after, joining)
	case c == 0x200d:
		return inRanges(before, joining) || inRanges(before, emoji) && inRanges(after, emoji)
	case c == 0x200e || c == 0x200f || c == 0x61c:
		return inRanges(before, rtl) || inRanges(after, rtl)
	case 0xfe00 <= c && c <= 0xfe0f:
		return before >= 0x2000 && !isHidden(before) ||
			c >= 0xfe0e && ('0' <= before && before <= '9' || before == '#' || before == '*' || before == 0xa9 || before == 0xae)
	}
	return 0xe0100 <= c && c <= 0xe01ef && inRanges(before, han)
}

const blackFlag = 0x1f3f4

func isNation(tags []rune) bool {
	for _, n := range []string{"gbeng\x7f", "gbsct\x7f", "gbwls\x7f"} {
		if len(tags) >= len(n) && slices.EqualFunc(tags[:len(n)], []byte(n), func(t rune, b byte) bool { return t == 0xe0000+rune(b) }) {
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
