package rawjson

// AppendCompact appends the value raw without space between its parts and with
// its strings escaped as JSON.stringify does. Numbers keep their digits.
func AppendCompact(dst, raw []byte) ([]byte, error) {
	if err := Valid(raw, 0); err != nil {
		return dst, err
	}
	for i := 0; i < len(raw); {
		switch c := raw[i]; c {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			end, err := skipString(raw, i)
			if err != nil {
				return dst, err
			}
			if text := raw[i:end]; isPlain(text) {
				dst = append(dst, text...)
			} else {
				dst = AppendString(dst, decodeString(text))
			}
			i = end
		default:
			dst = append(dst, c)
			i++
		}
	}
	return dst, nil
}
