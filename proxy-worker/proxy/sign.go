package proxy

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

var encoding = base64.RawURLEncoding.Strict()

func digest(s string) [32]byte { return sha256.Sum256([]byte(s)) }

// derive returns a key for one purpose, made from a configured key.
func derive(key, purpose string) []byte { return mac([]byte(key), purpose) }

// isAmong reports whether key has one of the digests, in constant time.
func isAmong(digests [][32]byte, key string) bool {
	d := digest(key)
	found := 0
	for i := range digests {
		found |= subtle.ConstantTimeCompare(d[:], digests[i][:])
	}
	return found == 1
}

// signed returns fields, an expiry and their HMAC as one word.
func signed(key []byte, purpose string, expires time.Time, fields []string) string {
	payload := strconv.FormatInt(expires.Unix(), 10) + "\n" + strings.Join(fields, "\n")
	return "v1." + encoding.EncodeToString([]byte(payload)) + "." + encoding.EncodeToString(mac(key, purpose+"\n"+payload))
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// longestToken bounds the tokens that are verified, in bytes.
const longestToken = 8 << 10

// verify returns the fields of a word of signed, if one of the keys signed it and it has
// not expired.
func verify(keys [][]byte, purpose, token string, now time.Time) ([]string, bool) {
	parts := strings.Split(token, ".")
	if len(token) > longestToken || len(parts) != 3 || parts[0] != "v1" {
		return nil, false
	}
	payload, err1 := encoding.DecodeString(parts[1])
	sum, err2 := encoding.DecodeString(parts[2])
	if err1 != nil || err2 != nil {
		return nil, false
	}
	good := false
	for _, key := range keys {
		good = hmac.Equal(sum, mac(key, purpose+"\n"+string(payload))) || good
	}
	if !good {
		return nil, false
	}
	fields := strings.Split(string(payload), "\n")
	expires, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || now.Unix() >= expires {
		return nil, false
	}
	return fields[1:], true
}

const (
	forTicket  = "ticket"
	forBinding = "binding"
)

// A Ticket lets one origin use the proxy for one host until it expires. The proxy keeps no
// list of tickets. To revoke a ticket, replace the key.
type Ticket struct {
	Origin string
	// Host is a DNS name or an address, with ":port" if the port is not 443.
	Host string
	// Headers are the names, in any case, that may be sent beside those of MCP.
	Headers []string
	Expires time.Time
}

// CheckOrigin returns an error if no request can have this origin.
func CheckOrigin(origin string) error {
	if _, ok := originOf(origin); !ok {
		return errors.New("want an origin such as https://ide.example, without a path, a final slash or *")
	}
	return nil
}

// CheckParties returns an error if no request can have this origin, this host as [Ticket.Host], or one of the headers.
func CheckParties(origin, host string, headers ...string) error {
	if err := CheckOrigin(origin); err != nil {
		return err
	}
	if t, refused := parseTarget("https://" + host); refused != nil || t.authority() != strings.ToLower(host) {
		return errors.New("want a host such as mcp.example.com or mcp.example.com:8443, without https:// and :443")
	}
	for _, name := range headers {
		if !isSealable(strings.ToLower(name), "") {
			return errors.New("want the names of headers that can be sent, without their values")
		}
	}
	return nil
}

// Sign returns the ticket's text, for the X-Portolan-Ticket header. key is one of
// Config.TicketKeys.
func (t Ticket) Sign(key string) string {
	return signed(derive(key, "portolan ticket"), forTicket, t.Expires,
		[]string{t.Origin, strings.ToLower(t.Host), strings.ToLower(strings.Join(t.Headers, ","))})
}

// ticket returns the header names that a ticket for this origin and target adds.
func (p *Policy) ticket(token, origin string, t target, now time.Time) (headers []string, ok bool) {
	fields, ok := verify(p.tickets, forTicket, token, now)
	if !ok || len(fields) != 3 || fields[0] != origin || fields[1] != t.authority() {
		return nil, false
	}
	return strings.Split(fields[2], ","), true
}

// authority returns the host, with the port unless it is 443 of https.
func (t target) authority() string {
	host := t.host
	if t.ip.Is6() {
		host = "[" + host + "]"
	}
	if t.scheme == "https" && t.port == 443 {
		return host
	}
	return host + ":" + strconv.Itoa(t.port)
}

// Seal encrypts headers for one origin and one host, for the X-Portolan-Sealed header.
// Only the proxy can decrypt them. key is one of the proxy's SealKeys, host is as in
// Ticket, and random is crypto/rand.Reader.
func Seal(key, origin, host string, header []Pair, random io.Reader) (string, error) {
	var plain strings.Builder
	for _, h := range header {
		name := strings.ToLower(h.Name)
		if !isSealable(name, h.Value) {
			return "", errors.New("the header " + h.Name + " cannot be sent")
		}
		plain.WriteString(name + "\n" + h.Value + "\n")
	}
	box := sealer(derive(key, "portolan seal"))
	nonce := make([]byte, box.NonceSize())
	if _, err := io.ReadFull(random, nonce); err != nil {
		return "", err
	}
	sealed := box.Seal(nonce, nonce, []byte(plain.String()), sealedFor(origin, strings.ToLower(host)))
	return "v1." + encoding.EncodeToString(sealed), nil
}

func isSealable(name, value string) bool {
	return isToken(name) && isValue(value) && sendable(name) && !isHopByHop(name)
}

// sealer needs a key of derive, which has the length that AES takes.
func sealer(key []byte) cipher.AEAD {
	block, _ := aes.NewCipher(key)
	box, _ := cipher.NewGCM(block)
	return box
}

func sealedFor(origin, host string) []byte {
	return []byte("portolan seal v1\n" + origin + "\n" + host)
}

// unseal decrypts sealed headers.
func (p *Policy) unseal(sealed, origin string, t target) ([]Pair, bool) {
	text, ok := strings.CutPrefix(sealed, "v1.")
	raw, err := encoding.DecodeString(text)
	if !ok || err != nil || len(sealed) > longestToken {
		return nil, false
	}
	for _, key := range p.seals {
		box := sealer(key)
		if len(raw) < box.NonceSize() {
			return nil, false
		}
		plain, err := box.Open(nil, raw[:box.NonceSize()], raw[box.NonceSize():], sealedFor(origin, t.authority()))
		if err != nil {
			continue
		}
		lines := strings.Split(string(plain), "\n")
		var header []Pair
		for i := 0; i+1 < len(lines); i += 2 {
			if !isSealable(lines[i], lines[i+1]) {
				return nil, false
			}
			header = append(header, Pair{lines[i], lines[i+1]})
		}
		return header, true
	}
	return nil, false
}
