package rawjson

import (
	"math"
	"strconv"
	"time"
)

// Int reads the JSON number raw if it is a whole number of 64 bits. 3.0 and 3e0 are
// whole, as they are to JavaScript.
func Int(raw []byte) (int64, bool) {
	n, exact, ok := shifted(raw, 0)
	if !ok || !exact {
		return 0, false
	}
	return n, true
}

// Float reads the JSON number raw, rounded to float64. It is not ok if raw is
// out of range. Modules do without it: the rounding would take 7 KB of their size.
func Float(raw []byte) (float64, bool) {
	raw = trim(raw)
	if !isNumber(raw) {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// Milliseconds reads the JSON number raw, a time in milliseconds. Fractions of a
// nanosecond are cut, and so is what a [time.Duration] cannot hold.
func Milliseconds(raw []byte) (time.Duration, bool) {
	const places = 6 // a millisecond has 10^6 nanoseconds
	n, _, ok := shifted(raw, places)
	return time.Duration(n), ok
}

// shifted reads the JSON number raw times 10^places, cut to a whole number of 64 bits.
// exact reports that nothing was cut. It is not ok if raw is no number.
func shifted(raw []byte, places int) (n int64, exact, ok bool) {
	const full = 1e18 // it may have no room for another digit
	raw = trim(raw)
	if !isNumber(raw) {
		return 0, false, false
	}
	var size uint64
	negative, fraction := false, false
	exact = true
	for i, c := range raw {
		if c == 'e' || c == 'E' {
			places += exponent(raw[i+1:])
			break
		}
		digit := uint64(c - '0')
		switch {
		case c == '-':
			negative = true
		case c == '.':
			fraction = true
		case size < full:
			size = size*10 + digit
			if fraction {
				places--
			}
		default:
			exact = exact && digit == 0
			if !fraction {
				places++
			}
		}
	}
	for ; places < 0 && size > 0; places++ {
		exact = exact && size%10 == 0
		size /= 10
	}
	for ; places > 0 && 0 < size && size < full; places-- {
		size *= 10
	}
	most := uint64(math.MaxInt64)
	if negative {
		most++
	}
	if size > most || places > 0 && size > 0 {
		size, exact = most, false
	}
	if negative {
		return -int64(size), exact, true
	}
	return int64(size), exact, true
}

// exponent reads what stands after the e of a JSON number. It is bounded.
func exponent(raw []byte) int {
	n := 0
	for _, c := range raw {
		if '0' <= c && c <= '9' {
			n = min(n*10+int(c-'0'), 1e6)
		}
	}
	if raw[0] == '-' {
		return -n
	}
	return n
}

// Digits reads s, which has digits of a base up to 16 and nothing else. It is not ok
// for more than 15 of them.
func Digits(s string, base uint64) (n uint64, ok bool) {
	if s == "" || len(s) > 15 {
		return 0, false
	}
	for i := range len(s) {
		digit := uint64(s[i]) - '0'
		if digit > 9 { // a letter, or 16 for other characters
			digit = min(uint64(s[i]|0x20)-'a', 6) + 10
		}
		if digit >= base {
			return 0, false
		}
		n = n*base + digit
	}
	return n, true
}
