package oauth

import (
	"context"
	"strconv"
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// Crypto is the cryptography of the platform. Binary values are base64url without
// padding. All methods may be called from several goroutines.
type Crypto interface {
	// Hash returns the SHA-256 of text.
	Hash(ctx context.Context, text string) (string, error)
	// Random returns 32 random bytes.
	Random() string
	// MakeKey makes a key for ES256 that cannot be exported. It returns its name and its
	// public JWK.
	MakeKey(ctx context.Context) (name, jwk string, err error)
	// JWT signs claims under header, both JSON. key is a name from MakeKey, a PKCS#8 key
	// in PEM, or a JWK. alg is ES256 or RS256.
	JWT(ctx context.Context, key, alg, header, claims string) (string, error)
}

// jsonObject writes names and values in turn as a JSON object. A value is a text, or JSON
// behind the byte 0. Members with an empty value are left out.
func jsonObject(pairs ...string) string {
	out := []byte{'{'}
	for i := 0; i+1 < len(pairs); i += 2 {
		value := pairs[i+1]
		if value == "" {
			continue
		}
		out = rawjson.AppendMember(out, pairs[i], nil)
		if value[0] == 0 {
			out = append(out, value[1:]...)
		} else {
			out = rawjson.AppendString(out, value)
		}
	}
	return string(append(out, '}'))
}

func (c *Client) now() int64 { return c.opts.Clock().Unix() }

func jsonNumber(n int64) string { return "\x00" + strconv.FormatInt(n, 10) }

// proof writes a DPoP proof (RFC 9449, section 4.2).
func (c *Client) proof(ctx context.Context, g *grant, method, url, nonce, access string) (string, error) {
	var ath string
	if access != "" {
		var err error
		if ath, err = c.opts.Crypto.Hash(ctx, access); err != nil {
			return "", err
		}
	}
	url, _, _ = strings.Cut(url, "?")
	return c.opts.Crypto.JWT(ctx, g.key, "ES256", jsonObject("typ", "dpop+jwt", "alg", "ES256", "jwk", "\x00"+g.jwk),
		jsonObject("jti", c.opts.Crypto.Random(), "htm", method, "htu", url, "iat", jsonNumber(c.now()),
			"ath", ath, "nonce", nonce))
}
