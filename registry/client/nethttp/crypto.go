package nethttp

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"sync"

	"github.com/portolan-mcp/portolan/registry/oauth"
)

// Crypto returns the cryptography of package oauth, with the standard library. Its keys
// live as long as the value.
func Crypto() oauth.Crypto { return &keys{made: make(map[string]*ecdsa.PrivateKey)} }

var errUnknownKey = errors.New("the key is of an unknown kind")

type keys struct {
	mu   sync.Mutex
	made map[string]*ecdsa.PrivateKey
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Hash implements oauth.Crypto.
func (k *keys) Hash(_ context.Context, text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	return encode(sum[:]), nil
}

// Random implements oauth.Crypto.
func (k *keys) Random() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails
	return encode(b)
}

// MakeKey implements oauth.Crypto.
func (k *keys) MakeKey(context.Context) (name, jwk string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return "", "", err
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		return "", "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	name = "key" + strconv.Itoa(len(k.made))
	k.made[name] = key
	return name, `{"crv":"P-256","kty":"EC","x":"` + encode(point[1:33]) + `","y":"` + encode(point[33:]) + `"}`, nil
}

// JWT implements oauth.Crypto.
func (k *keys) JWT(_ context.Context, key, alg, header, claims string) (string, error) {
	text := encode([]byte(header)) + "." + encode([]byte(claims))
	signature, err := k.sign(key, alg, text)
	return text + "." + signature, err
}

func (k *keys) sign(key, alg, text string) (string, error) {
	k.mu.Lock()
	made := k.made[key]
	k.mu.Unlock()
	sum := sha256.Sum256([]byte(text))
	var signer any = made
	if made == nil {
		var err error
		if signer, err = readKey(key); err != nil {
			return "", err
		}
	}
	switch key := signer.(type) {
	case *ecdsa.PrivateKey:
		if alg != "ES256" || key.Curve != elliptic.P256() {
			return "", errors.New("the key is not one for " + alg)
		}
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return "", err
		}
		both := make([]byte, 64)
		r.FillBytes(both[:32])
		s.FillBytes(both[32:])
		return encode(both), nil
	case *rsa.PrivateKey:
		if alg != "RS256" {
			return "", errors.New("the key is not one for " + alg)
		}
		signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
		return encode(signature), err
	}
	return "", errUnknownKey
}

// readKey reads a PKCS#8 key in PEM, or a JWK.
func readKey(text string) (any, error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		block, _ := pem.Decode([]byte(text))
		if block == nil {
			return nil, errors.New("the key is not in PEM")
		}
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	var jwk struct{ Kty, Crv, D, N, E, P, Q string }
	if err := json.Unmarshal([]byte(text), &jwk); err != nil {
		return nil, errors.New("the key is not a JWK")
	}
	number := func(s string) []byte {
		b, _ := base64.RawURLEncoding.DecodeString(s)
		return b
	}
	switch {
	case jwk.Kty == "EC" && jwk.Crv == "P-256":
		return ecdsa.ParseRawPrivateKey(elliptic.P256(), number(jwk.D))
	case jwk.Kty == "RSA":
		integer := func(s string) *big.Int { return new(big.Int).SetBytes(number(s)) }
		key := &rsa.PrivateKey{
			PublicKey: rsa.PublicKey{N: integer(jwk.N), E: int(integer(jwk.E).Int64())},
			D:         integer(jwk.D), Primes: []*big.Int{integer(jwk.P), integer(jwk.Q)},
		}
		if err := key.Validate(); err != nil {
			return nil, errors.New("the key is not a valid RSA key")
		}
		key.Precompute()
		return key, nil
	}
	return nil, errUnknownKey
}
