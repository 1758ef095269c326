package convert

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// isPattern reports whether s is a regular expression of ECMAScript with the flag u, as
// JSON Schema recommends (core, 6.4). It refuses what only new engines take: modifiers,
// and one name for two groups. Of \p it takes names of one or two letters.
func isPattern(s string) bool {
	if text.UTF16Len(s) > wire.MaxPattern || isUnusual(s) {
		return false
	}
	e := &expression{rest: []rune(s)}
	e.alternatives()
	return !e.bad && len(e.rest) == 0 && e.highest <= e.groups &&
		!slices.ContainsFunc(e.used, func(name string) bool { return !slices.Contains(e.names, name) })
}

// isUnusual finds what the page refuses by the same rule, because engines differ in it.
func isUnusual(s string) bool {
	for i := range s {
		rest := s[i:]
		if strings.HasPrefix(rest, "(?") && len(rest) > 2 && !strings.ContainsRune(":=!<", rune(rest[2])) {
			return true
		}
		if strings.HasPrefix(rest, `\p{`) || strings.HasPrefix(rest, `\P{`) {
			if name, _, ok := strings.Cut(rest[3:], "}"); !ok || len(name) < 1 || len(name) > 2 || !isWord(name) {
				return true
			}
		}
	}
	return false
}

func isWord(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
}

// properties are the names that \p may have, of one or two letters.
const properties = " C Cc Cf Cn Co Cs L LC Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So " +
	"Z Zl Zp Zs CI DI RI SD VS "

// An expression is the rest of a pattern, with what was found before.
type expression struct {
	rest        []rune
	bad         bool
	groups      int      // capturing groups
	highest     int      // the highest number that a back reference names
	names, used []string // names of groups; names that back references use
}

const end = -1

func (e *expression) next() rune {
	if len(e.rest) == 0 {
		e.bad = true
		return end
	}
	c := e.rest[0]
	e.rest = e.rest[1:]
	return c
}

func (e *expression) peek() rune {
	if len(e.rest) == 0 {
		return end
	}
	return e.rest[0]
}

// take removes a prefix of ASCII and reports whether it was there.
func (e *expression) take(prefix string) bool {
	n := len(prefix)
	if len(e.rest) < n || string(e.rest[:n]) != prefix {
		return false
	}
	e.rest = e.rest[n:]
	return true
}

// number removes digits. Engines read a large number as infinite.
func (e *expression) number() (n int, ok bool) {
	for '0' <= e.peek() && e.peek() <= '9' {
		n, ok = min(n*10+int(e.next()-'0'), math.MaxInt32), true
	}
	return n, ok
}

// alternatives reads up to the end or a closing parenthesis.
func (e *expression) alternatives() {
	for len(e.rest) > 0 && e.rest[0] != ')' && !e.bad {
		repeatable := e.term()
		if e.quantifier() && !repeatable {
			e.bad = true
		}
	}
}

func (e *expression) term() (repeatable bool) {
	switch e.next() {
	case '^', '$', '|':
		return false
	case '(':
		return e.group()
	case '[':
		e.class()
	case '\\':
		_, repeatable = e.escape(false)
		return repeatable
	case '*', '+', '?', '{', '}', ']':
		e.bad = true
	}
	return true
}

func (e *expression) quantifier() bool {
	switch {
	case e.take("*"), e.take("+"), e.take("?"):
	case e.take("{"):
		low, ok := e.number()
		high := low
		if e.take(",") {
			var limited bool
			if high, limited = e.number(); !limited {
				high = math.MaxInt32
			}
		}
		if !ok || high < low || !e.take("}") {
			e.bad = true
		}
	default:
		return false
	}
	e.take("?")
	return true
}

func (e *expression) group() (repeatable bool) {
	repeatable = true
	switch {
	case e.take("?:"):
	case e.take("?="), e.take("?!"), e.take("?<="), e.take("?<!"):
		repeatable = false
	case e.take("?<"):
		e.groups++
		name := e.name()
		e.bad = e.bad || slices.Contains(e.names, name)
		e.names = append(e.names, name)
	default:
		e.groups++
	}
	e.alternatives()
	if !e.take(")") {
		e.bad = true
	}
	return repeatable
}

// name reads the name of a group and the bracket behind it.
func (e *expression) name() string {
	var name []rune
	for c := e.next(); c != '>' && !e.bad; c = e.next() {
		if c != '_' && c != '$' && !unicode.IsLetter(c) && (len(name) == 0 || !unicode.IsDigit(c)) {
			e.bad = true
		}
		name = append(name, c)
	}
	e.bad = e.bad || len(name) == 0
	return string(name)
}

func (e *expression) class() {
	e.take("^")
	for !e.bad && !e.take("]") {
		low := e.member()
		if len(e.rest) > 1 && e.rest[0] == '-' && e.rest[1] != ']' {
			e.next()
			if high := e.member(); low < 0 || high < low {
				e.bad = true
			}
		}
	}
}

// member reads one member of a class and returns its code point, or -1 for a set.
func (e *expression) member() rune {
	c := e.next()
	if c == '\\' {
		c, _ = e.escape(true)
	}
	return c
}

// escape reads what stands behind a backslash. It returns the code point, -1 if it is not one.
func (e *expression) escape(inClass bool) (code rune, repeatable bool) {
	before := e.rest
	c := e.next()
	switch {
	case c == end:
	case strings.ContainsRune("dDsSwW", c):
		return -1, true
	case c == 'p' || c == 'P':
		var name []rune
		if !e.take("{") {
			e.bad = true
		}
		for c := e.next(); c != '}' && !e.bad; c = e.next() {
			name = append(name, c)
		}
		e.bad = e.bad || !strings.Contains(properties, " "+string(name)+" ")
		return -1, true
	case c == '0':
		e.bad = e.bad || '0' <= e.peek() && e.peek() <= '9'
		return 0, true
	case strings.ContainsRune("tnvfr", c):
		return 9 + rune(strings.IndexRune("tnvfr", c)), true
	case c == 'c':
		c = e.next()
		e.bad = e.bad || c > unicode.MaxASCII || !unicode.IsLetter(c)
		return c % 32, true
	case c == 'x':
		return e.hex(2), true
	case c == 'u':
		return e.codePoint(), true
	case strings.ContainsRune(`^$\.*+?()[]{}|/`, c):
		return c, true
	case inClass && c == 'b':
		return 8, true
	case inClass && c == '-':
		return c, true
	case inClass:
		e.bad = true
	case c == 'b' || c == 'B':
		return -1, false
	case '1' <= c && c <= '9':
		e.rest = before
		n, _ := e.number()
		e.highest = max(e.highest, n)
		return -1, true
	case c == 'k' && e.take("<"):
		e.used = append(e.used, e.name())
		return -1, true
	default:
		e.bad = true
	}
	return -1, true
}

// codePoint reads the digits of \u, and a second escape if both are one code point.
func (e *expression) codePoint() rune {
	if e.take("{") {
		digits := 0
		var code rune
		for ; e.peek() != '}' && !e.bad; digits++ {
			code = min(code<<4|e.hex(1), unicode.MaxRune+1)
		}
		e.bad = e.bad || digits == 0 || code > unicode.MaxRune
		e.take("}")
		return code
	}
	high := e.hex(4)
	if 0xD800 <= high && high < 0xDC00 {
		rest, bad := e.rest, e.bad
		if e.take(`\u`) {
			if low := e.hex(4); !e.bad && 0xDC00 <= low && low < 0xE000 {
				return 0x10000 + (high-0xD800)<<10 + low - 0xDC00
			}
		}
		e.rest, e.bad = rest, bad
	}
	return high
}

func (e *expression) hex(digits int) (n rune) {
	for range digits {
		i := strings.IndexRune("0123456789abcdef", unicode.ToLower(e.next()))
		if i < 0 {
			e.bad = true
		}
		n = n<<4 | rune(i)
	}
	return n
}
