// Package rawjson reads JSON text without decoding it: it checks, splits and
// picks, and hands out subslices of its input. It links neither encoding/json
// nor fmt, which weigh 180 and 120 KB in a wasm module, and it is made for
// bytes that a stranger wrote: every function is linear in its input, and none
// recurses with the input's nesting, so that depth cannot exhaust a stack.
//
//	name, _ := rawjson.Get(tool, "name")
//	text, ok := rawjson.String(name)
//
// The grammar is RFC 8259. As encoding/json does, it accepts invalid UTF-8
// inside strings and reads it as U+FFFD. Of members with one name the last
// counts, as for JSON.parse.
package rawjson

import "strconv"

// A SyntaxError says where a text stops being the JSON that was asked for.
type SyntaxError struct {
	Offset int    // bytes from the start of the text
	What   string // never quotes the text
}

func (e *SyntaxError) Error() string {
	return "json: " + e.What + " at byte " + strconv.Itoa(e.Offset)
}

// Valid checks that b is exactly one JSON value with nothing but space around
// it. Arrays and objects may nest maxDepth deep (a scalar has depth 0); 0 means
// that any depth will do. The error is a [*SyntaxError].
func Valid(b []byte, maxDepth int) error {
	end, err := skipValue(b, 0, maxDepth)
	if err != nil {
		return err
	}
	return atEnd(b, end)
}

// Members calls fn for each member of the object b, in order, duplicates
// included. The value is a subslice of b without space around it. Members stops
// at the first error of fn and returns it. It checks b as it goes: fn may have
// seen members when a syntax error is found behind them.
func Members(b []byte, fn func(key string, value []byte) error) error {
	return eachMember(b, func(key, value []byte) error {
		return fn(decodeString(key), value)
	})
}

// Elements calls fn for each element of the array b, as [Members] does for an object.
func Elements(b []byte, fn func(value []byte) error) error {
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != '[' {
		return &SyntaxError{i, "want an array"}
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return atEnd(b, i+1)
	}
	for {
		i = skipSpace(b, i)
		end, err := skipValue(b, i, 0)
		if err != nil {
			return err
		}
		if err := fn(b[i:end:end]); err != nil {
			return err
		}
		i = skipSpace(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i++
		case i < len(b) && b[i] == ']':
			return atEnd(b, i+1)
		default:
			return unexpected(b, i, "want , or ] in an array")
		}
	}
}

// Get returns the value of the member key of the object b. It is not ok if
// there is none or if b is not one valid object.
func Get(b []byte, key string) (value []byte, ok bool) {
	err := eachMember(b, func(name, v []byte) error {
		if isString(name, key) {
			value, ok = v, true
		}
		return nil
	})
	if err != nil {
		return nil, false
	}
	return value, ok
}

// Kind tells by its first byte what the JSON value raw is: 'o' object,
// 'a' array, 's' string, 'n' number, 'b' boolean, '0' null, and 0 for what
// cannot be JSON. The rest of raw is not looked at.
func Kind(raw []byte) byte {
	i := skipSpace(raw, 0)
	if i == len(raw) {
		return 0
	}
	switch c := raw[i]; {
	case c == '{':
		return 'o'
	case c == '[':
		return 'a'
	case c == '"':
		return 's'
	case c == 't' || c == 'f':
		return 'b'
	case c == 'n':
		return '0'
	case c == '-' || '0' <= c && c <= '9':
		return 'n'
	}
	return 0
}

func eachMember(b []byte, fn func(key, value []byte) error) error {
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != '{' {
		return &SyntaxError{i, "want an object"}
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return atEnd(b, i+1)
	}
	for {
		i = skipSpace(b, i)
		keyEnd, err := skipString(b, i)
		if err != nil {
			return err
		}
		key := b[i:keyEnd]
		if i, err = skipColon(b, keyEnd); err != nil {
			return err
		}
		end, err := skipValue(b, i, 0)
		if err != nil {
			return err
		}
		if err := fn(key, b[i:end:end]); err != nil {
			return err
		}
		i = skipSpace(b, end)
		switch {
		case i < len(b) && b[i] == ',':
			i++
		case i < len(b) && b[i] == '}':
			return atEnd(b, i+1)
		default:
			return unexpected(b, i, "want , or } in an object")
		}
	}
}
