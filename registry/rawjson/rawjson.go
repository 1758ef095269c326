// Package rawjson reads JSON text without decoding it: it checks, splits and
// picks, and returns subslices of its input. It links neither encoding/json nor
// fmt, which weigh 180 and 120 KB in a wasm module. Its input may be hostile: every
// function takes linear time. None but [Parse], which bounds the depth, recurses with
// the input's nesting.
//
//	name := rawjson.Get(tool, "name")
//	text, ok := rawjson.String(name)
//
// The grammar is RFC 8259. As encoding/json does, it accepts invalid UTF-8
// inside strings and reads it as U+FFFD. Of members with one name the last
// counts, as for JSON.parse.
package rawjson

import "strconv"

// A SyntaxError is the first fault in a JSON text.
type SyntaxError struct {
	Offset int    // bytes from the start of the text
	What   string // never quotes the text
}

func (e *SyntaxError) Error() string {
	return "json: " + e.What + " at byte " + strconv.Itoa(e.Offset)
}

// Valid checks that b is exactly one JSON value with nothing but space around
// it. Arrays and objects may nest maxDepth deep; a scalar has depth 0. A maxDepth of 0
// allows any depth. The error is a [*SyntaxError].
func Valid(b []byte, maxDepth int) error {
	end, err := skipValue(b, 0, maxDepth)
	if err != nil {
		return err
	}
	return atEnd(b, end)
}

// Members calls fn for each member of the object b, in order, duplicates
// included. The value is a subslice of b without space around it. Members stops
// at the first error of fn and returns it. It checks b as it goes, so fn may have
// received members before a syntax error is found.
func Members(b []byte, fn func(key string, value []byte) error) error {
	return each(b, '{', func(key, value []byte) error {
		return fn(decodeString(key), value)
	})
}

// Elements calls fn for each element of the array b, as [Members] does for an object.
func Elements(b []byte, fn func(value []byte) error) error {
	return each(b, '[', func(_, value []byte) error { return fn(value) })
}

// Get returns the value of the member key of the object b. It is nil if b has no
// such member or is not one valid object.
func Get(b []byte, key string) (value []byte) {
	err := each(b, '{', func(name, v []byte) error {
		if isString(name, key) {
			value = v
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return value
}

// Text returns the member key of the object b if it is a string, or "".
func Text(b []byte, key string) string {
	s, _ := String(Get(b, key))
	return s
}

// IsTrue reports whether the member key of the object b is true.
func IsTrue(b []byte, key string) bool {
	v, _ := Bool(Get(b, key))
	return v
}

// Strings returns the strings among the elements of the array b.
func Strings(b []byte) (list []string) {
	_ = Elements(b, func(value []byte) error {
		if s, ok := String(value); ok {
			list = append(list, s)
		}
		return nil
	})
	return list
}

// Pick returns the values of the members names of the object b, in the order of names. A
// missing member has a nil value.
func Pick(b []byte, names ...string) ([][]byte, error) {
	values := make([][]byte, len(names))
	err := each(b, '{', func(key, value []byte) error {
		for i, name := range names {
			if isString(key, name) {
				values[i] = value
			}
		}
		return nil
	})
	return values, err
}

// Kind returns the kind of the JSON value raw by its first byte: 'o' object, 'a' array,
// 's' string, 'n' number, 'b' boolean, '0' null, and 0 if no value begins so. It does
// not check the rest of raw.
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

// KindName returns the name that JSON Schema has for a kind. The name of 0 is "null".
func KindName(kind byte) string {
	switch kind {
	case 'o':
		return "object"
	case 'a':
		return "array"
	case 's':
		return "string"
	case 'n':
		return "number"
	case 'b':
		return "boolean"
	}
	return "null"
}

// each calls fn for each member of an object or element of an array, as open says. An
// element has no key.
func each(b []byte, open byte, fn func(key, value []byte) error) error {
	i := skipSpace(b, 0)
	if i == len(b) || b[i] != open {
		return &SyntaxError{i, "want a value that begins with " + string(open)}
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == open+2 { // '}' and ']' stand two behind their openers
		return atEnd(b, i+1)
	}
	for {
		i = skipSpace(b, i)
		var key []byte
		if open == '{' {
			end, err := skipString(b, i)
			if err != nil {
				return err
			}
			key = b[i:end]
			if i, err = skipColon(b, end); err != nil {
				return err
			}
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
		case i < len(b) && b[i] == open+2:
			return atEnd(b, i+1)
		default:
			return unexpected(b, i, "want , or a closing bracket")
		}
	}
}
