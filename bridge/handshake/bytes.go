package handshake

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
)

// Size is the length of nonces, commitments, MACs and keys.
const Size = 32

// Bytes are written as base64url without padding.
type Bytes []byte

// MarshalText implements [encoding.TextMarshaler].
func (b Bytes) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Bytes) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.Strict().AppendDecode(nil, text)
	if err != nil {
		return errors.New("not base64url") // without the text
	}
	*b = raw
	return nil
}

// Random returns Size random bytes.
func Random() Bytes {
	b := make(Bytes, Size)
	rand.Read(b) // never fails
	return b
}

// joined encodes a label and fields. Two different lists never give the same bytes.
func joined(label string, fields ...[]byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(label)))
	out = append(out, label...)
	for _, f := range fields {
		out = binary.BigEndian.AppendUint32(out, uint32(len(f)))
		out = append(out, f...)
	}
	return out
}

func digest(label string, fields ...[]byte) []byte {
	sum := sha256.Sum256(joined(label, fields...))
	return sum[:]
}
