package rawjson

// IsTrue reports whether n is there and is true.
func (n *Node) IsTrue() bool {
	if n == nil {
		return false
	}
	yes, _ := Bool(n.Raw)
	return yes
}

// Texts returns the string that n holds, or one string for each element of the
// array n. An element that is no string gives "".
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

// Stringify returns the compact text of n with each string escaped in the same
// way, as JSON.stringify does. Numbers keep their digits.
func (n *Node) Stringify() string { return string(n.appendStringified(nil)) }

func (n *Node) appendStringified(dst []byte) []byte {
	if n.Kind == 's' {
		s, _ := n.Text()
		return AppendString(dst, s)
	}
	if n.Kind != 'o' && n.Kind != 'a' {
		return append(dst, n.Raw...)
	}
	brackets := "[]"
	if n.Kind == 'o' {
		brackets = "{}"
	}
	dst = append(dst, brackets[0])
	for i, e := range n.Values {
		if i > 0 {
			dst = append(dst, ',')
		}
		if n.Kind == 'o' {
			dst = append(AppendString(dst, n.Keys[i]), ':')
		}
		dst = e.appendStringified(dst)
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
