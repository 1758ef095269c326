package bridge

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
)

// randomToken returns 32 letters and digits, 190 bits of chance.
func randomToken() string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	token, one := make([]byte, 0, 32), make([]byte, 1)
	for len(token) < cap(token) {
		rand.Read(one)
		if int(one[0]) < 256/len(alphabet)*len(alphabet) { // larger bytes would make some letters likelier
			token = append(token, alphabet[int(one[0])%len(alphabet)])
		}
	}
	return string(token)
}

// EphemeralKey returns the key that an extension proves to an ephemeral bridge:
// SHA-256("portolan-ephemeral-1" ‖ 0 ‖ token).
func EphemeralKey(token string) []byte {
	sum := sha256.Sum256([]byte("portolan-ephemeral-1\x00" + token))
	return sum[:]
}

// equalSecrets compares in constant time. The lengths do not change the time.
func equalSecrets(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
