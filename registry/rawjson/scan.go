package rawjson

// skipValue checks the value that starts at b[i], after space, and returns the
// offset behind it. The open brackets are kept in a slice, not on the stack.
func skipValue(b []byte, i, maxDepth int) (int, error) {
	var room [64]byte
	open := room[:0]
	for {
		i = skipSpace(b, i)
		if i == len(b) {
			return i, unexpected(b, i, "")
		}
		var err error
		switch c := b[i]; c {
		case '{', '[':
			if maxDepth > 0 && len(open) == maxDepth {
				return i, &SyntaxError{i, "nested too deep"}
			}
			i = skipSpace(b, i+1)
			if i < len(b) && b[i] == c+2 { // '}' and ']' stand two behind their openers
				i++
				break
			}
			open = append(open, c)
			if c == '{' {
				if i, err = skipKey(b, i); err != nil {
					return i, err
				}
			}
			continue
		case '"':
			i, err = skipString(b, i)
		case 't':
			i, err = skipWord(b, i, "true")
		case 'f':
			i, err = skipWord(b, i, "false")
		case 'n':
			i, err = skipWord(b, i, "null")
		default:
			i, err = skipNumber(b, i)
		}
		if err != nil {
			return i, err
		}
		for {
			if len(open) == 0 {
				return i, nil
			}
			c := open[len(open)-1]
			i = skipSpace(b, i)
			if i < len(b) && b[i] == c+2 {
				open = open[:len(open)-1]
				i++
				continue
			}
			if i == len(b) || b[i] != ',' {
				return i, unexpected(b, i, "want , or a closing bracket")
			}
			i++
			if c == '{' {
				if i, err = skipKey(b, skipSpace(b, i)); err != nil {
					return i, err
				}
			}
			break
		}
	}
}

// skipKey checks a member's name and colon and returns the offset of its value.
func skipKey(b []byte, i int) (int, error) {
	i, err := skipString(b, i)
	if err != nil {
		return i, err
	}
	return skipColon(b, i)
}

func skipColon(b []byte, i int) (int, error) {
	i = skipSpace(b, i)
	if i == len(b) || b[i] != ':' {
		return i, unexpected(b, i, "want : behind a name")
	}
	return skipSpace(b, i+1), nil
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

func skipWord(b []byte, i int, word string) (int, error) {
	if len(b)-i < len(word) || string(b[i:i+len(word)]) != word {
		return i, &SyntaxError{i, "want " + word}
	}
	return i + len(word), nil
}

func skipString(b []byte, i int) (int, error) {
	if i == len(b) || b[i] != '"' {
		return i, unexpected(b, i, "want a string")
	}
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c < ' ':
			return i, &SyntaxError{i, "control character in a string"}
		case c == '\\':
			i++
			if i == len(b) {
				return i, unexpected(b, i, "")
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := hex4(b[i+1:]); !ok {
					return i, &SyntaxError{i, `want four hex digits behind \u`}
				}
				i += 4
			default:
				return i, &SyntaxError{i, "unknown escape in a string"}
			}
		}
	}
	return i, unexpected(b, i, "")
}

func skipNumber(b []byte, i int) (int, error) {
	start := i
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch n := skipDigits(b, i); {
	case n == i:
		return i, unexpected(b, start, "want a value")
	case b[i] == '0' && n > i+1:
		return i, &SyntaxError{i, "number with a leading zero"}
	default:
		i = n
	}
	if i < len(b) && b[i] == '.' {
		n := skipDigits(b, i+1)
		if n == i+1 {
			return n, unexpected(b, n, "want digits behind a decimal point")
		}
		i = n
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := skipDigits(b, i)
		if n == i {
			return n, unexpected(b, n, "want digits in an exponent")
		}
		i = n
	}
	return i, nil
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

func atEnd(b []byte, i int) error {
	if i = skipSpace(b, i); i < len(b) {
		return &SyntaxError{i, "text behind the value"}
	}
	return nil
}

// unexpected words a fault at b[i], which may be the end of the text.
func unexpected(b []byte, i int, want string) error {
	if i >= len(b) {
		return &SyntaxError{len(b), "unexpected end"}
	}
	return &SyntaxError{i, want}
}
