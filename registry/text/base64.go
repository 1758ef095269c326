package text

// Base64 encodes s as RFC 4648, section 4 does. The package encoding/base64 would
// link a decoder too.
func Base64(s string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	out := make([]byte, 0, (len(s)+2)/3*4)
	for i := 0; i < len(s); i += 3 {
		var group [3]byte
		n := copy(group[:], s[i:])
		bits := uint(group[0])<<16 | uint(group[1])<<8 | uint(group[2])
		for j := range 4 {
			if j > n {
				out = append(out, '=')
				continue
			}
			out = append(out, alphabet[bits>>(18-6*j)&63])
		}
	}
	return string(out)
}
