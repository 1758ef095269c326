package rawjson

import "slices"

// A Node is one value of a parsed text. Changes keep the order of members and the
// digits of numbers.
type Node struct {
	// Kind is as [Kind] returns it, never 0.
	Kind byte
	// Raw is the text of a scalar.
	Raw []byte
	// Keys are the names of an object's members, each once, in order. Only [Node.Set] adds one after it was called.
	Keys []string
	// Values are an array's elements, or an object's values beside their Keys.
	Values []*Node

	index map[string]int // of Keys; made by Set when they are too many to search
}

// maxParseDepth bounds the trees that [Parse] makes. Walks of a tree recurse, and in
// wasm the stack is the browser's.
const maxParseDepth = 1000

// Parse reads b, exactly one JSON value, into a tree. It refuses nesting
// deeper than maxDepth (at most 1,000, which 0 means too) and more than
// maxNodes values (0 means any number). Of members with one name the last counts, at
// the place of the first, as for JSON.parse. The tree holds subslices of b. The error is
// a [*SyntaxError].
func Parse(b []byte, maxDepth, maxNodes int) (*Node, error) {
	if maxDepth <= 0 || maxDepth > maxParseDepth {
		maxDepth = maxParseDepth
	}
	if err := Valid(b, maxDepth); err != nil {
		return nil, err
	}
	if maxNodes <= 0 {
		maxNodes = len(b) // no text has more values than bytes
	}
	p := parser{b: b, left: maxNodes}
	node, _, err := p.value(0)
	return node, err
}

// Unambiguous checks what [Parse] checks, and that no object in b has a name twice.
func Unambiguous(b []byte) error {
	err := Valid(b, maxParseDepth)
	if err == nil {
		p := parser{b: b, left: len(b), distinct: true}
		_, _, err = p.value(0)
	}
	return err
}

// NewString returns the node of a JSON string.
func NewString(s string) *Node { return &Node{Kind: 's', Raw: AppendString(nil, s)} }

// NewScalar returns the node of a number, boolean or null in its JSON text.
func NewScalar(raw string) *Node { return &Node{Kind: Kind([]byte(raw)), Raw: []byte(raw)} }

// NewArray returns an array of the given elements.
func NewArray(elements ...*Node) *Node { return &Node{Kind: 'a', Values: elements} }

// NewObject returns an object without members.
func NewObject() *Node { return &Node{Kind: 'o'} }

// Get returns the value of the member key, or nil if n has none or is no
// object. A nil Node has no members.
func (n *Node) Get(key string) *Node {
	if n == nil {
		return nil
	}
	if i := find(n.Keys, key, n.index); i >= 0 {
		return n.Values[i]
	}
	return nil
}

// Set gives the object n the member key, in its old place if there was one.
func (n *Node) Set(key string, value *Node) {
	i := -1
	if i, n.index = place(n.Keys, key, n.index); i >= 0 {
		n.Values[i] = value
		return
	}
	n.Keys = append(n.Keys, key)
	n.Values = append(n.Values, value)
}

// Delete removes the member key of the object n, if there is one.
func (n *Node) Delete(key string) {
	if i := find(n.Keys, key, n.index); i >= 0 {
		n.index = nil
		n.Keys = slices.Delete(n.Keys, i, i+1)
		n.Values = slices.Delete(n.Values, i, i+1)
	}
}

// Is reports whether n is there and of the given kind.
func (n *Node) Is(kind byte) bool { return n != nil && n.Kind == kind }

// Text returns the string that n holds. It is not ok if n is nil or no string.
func (n *Node) Text() (string, bool) {
	if !n.Is('s') {
		return "", false
	}
	return decodeString(n.Raw), true
}

// IsTrue reports whether n is there and is true.
func (n *Node) IsTrue() bool { return n.Is('b') && n.Raw[0] == 't' }

// Texts returns the string that n holds, or one string for each element of the
// array n. An element of another kind gives "".
func (n *Node) Texts() []string {
	if s, ok := n.Text(); ok {
		return []string{s}
	}
	var texts []string
	if n != nil {
		for _, v := range n.Values {
			s, _ := v.Text()
			texts = append(texts, s)
		}
	}
	return texts
}

// Stringify returns the compact text of n, with strings escaped as JSON.stringify does.
// Numbers keep their digits; invalid UTF-8 and lone surrogates become U+FFFD.
func (n *Node) Stringify() string { return string(n.Append(nil)) }

// Append appends the text that [Node.Stringify] returns.
func (n *Node) Append(dst []byte) []byte {
	switch n.Kind {
	case 's':
		return AppendString(dst, decodeString(n.Raw))
	case 'o', 'a':
	default:
		return append(dst, n.Raw...)
	}
	brackets := "[]"
	if n.Kind == 'o' {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, value := range n.Values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.Kind == 'o' {
			dst = append(AppendString(dst, n.Keys[i]), ':')
		}
		dst = value.Append(dst)
	}
	return append(dst, brackets[1])
}

// Distinct returns an array of the values in list without repetitions.
func Distinct(list []*Node) *Node {
	out := NewArray()
	seen := map[string]bool{}
	for _, v := range list {
		if text := v.Stringify(); !seen[text] {
			seen[text] = true
			out.Values = append(out.Values, v)
		}
	}
	return out
}

// parser builds the tree of a text that Valid has accepted, to a bounded depth.
type parser struct {
	b    []byte
	left int // values that the tree may still get
	// distinct refuses a name that stands twice. The tree has no scalars then.
	distinct bool
}

func (p *parser) value(i int) (*Node, int, error) {
	i = skipSpace(p.b, i)
	if p.left--; p.left < 0 {
		return nil, i, &SyntaxError{i, "too many values"}
	}
	kind := Kind(p.b[i:])
	isScalar := kind != 'o' && kind != 'a'
	if isScalar && p.distinct {
		end, err := skipValue(p.b, i, 0)
		return nil, end, err
	}
	n := &Node{Kind: kind}
	if isScalar {
		end, err := skipValue(p.b, i, 0)
		n.Raw = p.b[i:end:end]
		return n, end, err
	}
	var index map[string]int // made when an object is too wide to search
	for {
		i = skipSpace(p.b, i+1) // behind the opening bracket or a comma
		if c := p.b[i]; c == '}' || c == ']' {
			return n, i + 1, nil
		}
		at := -1
		if n.Kind == 'o' {
			end, err := skipString(p.b, i)
			if err != nil {
				return nil, end, err
			}
			key := decodeString(p.b[i:end])
			at, index = place(n.Keys, key, index)
			if at < 0 {
				n.Keys = append(n.Keys, key)
			} else if p.distinct {
				return nil, i, &SyntaxError{i, "a name stands twice in its object"}
			}
			if i, err = skipColon(p.b, end); err != nil {
				return nil, i, err
			}
		}
		value, end, err := p.value(i)
		if err != nil {
			return nil, end, err
		}
		if at < 0 {
			n.Values = append(n.Values, value)
		} else {
			n.Values[at] = value
		}
		if i = skipSpace(p.b, end); p.b[i] != ',' {
			return n, i + 1, nil
		}
	}
}

// place finds key among keys, or returns -1 and notes that it comes next.
func place(keys []string, key string, index map[string]int) (int, map[string]int) {
	const searchable = 16
	if index == nil && len(keys) >= searchable {
		index = make(map[string]int, 2*len(keys))
		for i, k := range keys {
			index[k] = i
		}
	}
	i := find(keys, key, index)
	if i < 0 && index != nil {
		index[key] = len(keys)
	}
	return i, index
}

// find finds key among keys, or returns -1. index is nil, or has all keys.
func find(keys []string, key string, index map[string]int) int {
	if index == nil {
		return slices.Index(keys, key)
	}
	if i, ok := index[key]; ok {
		return i
	}
	return -1
}
