package oauth

import (
	"strings"

	"github.com/portolan-mcp/portolan/registry/endpoint"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// parts are those of an absolute http or https URL. net/url would add 175 KB to the
// page's module.
type parts struct {
	scheme, host, port, path string // path without query
	tail                     string // query, with its question mark
}

// splitURL splits a URL. It returns nil for a text that two parsers might read differently.
func splitURL(url string) *parts {
	p := new(parts)
	for i := 0; i < len(url); i++ {
		if b := url[i]; b <= ' ' || b > '~' || b == '\\' || b == '"' || b == '<' || b == '>' || b == '#' {
			return nil
		}
	}
	scheme, rest, ok := strings.Cut(url, "://")
	p.scheme = text.Lower(scheme)
	if !ok || p.scheme != "https" && p.scheme != "http" || len(url) > maxURL {
		return nil
	}
	authority, _, _ := strings.Cut(rest, "/")
	authority, _, _ = strings.Cut(authority, "?")
	rest = rest[len(authority):]
	p.host, p.port = text.Lower(authority), "443"
	if p.scheme == "http" {
		p.port = "80"
	}
	if i := strings.LastIndexByte(p.host, ':'); i > strings.IndexByte(p.host, ']') {
		if i+1 < len(p.host) {
			p.port = p.host[i+1:]
		}
		p.host = p.host[:i]
	}
	p.path = rest
	if i := strings.IndexByte(rest, '?'); i >= 0 {
		p.path, p.tail = rest[:i], rest[i:]
	}
	name := p.host
	isV6 := strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]")
	if isV6 {
		name = name[1 : len(name)-1]
	}
	for i := 0; i < len(name); i++ {
		b := name[i]
		if !(b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '.' ||
			!isV6 && (b == '-' || b == '_') || isV6 && b == ':') {
			return nil
		}
	}
	if name == "" || name[0] == '.' || strings.Contains(name, "..") || !isDigits(p.port) {
		return nil
	}
	return p
}

// maxURL bounds the URLs of servers, in bytes.
const maxURL = 8 << 10

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func (p *parts) origin() string { return p.scheme + "://" + p.authority() }

// authority is the host, with the port if it is not the scheme's own.
func (p *parts) authority() string {
	if p.scheme == "https" && p.port == "443" || p.scheme == "http" && p.port == "80" {
		return p.host
	}
	return p.host + ":" + p.port
}

// where returns the network of a host, as its name tells it.
func (p *parts) where() endpoint.Network { return endpoint.NetworkOf(p.host) }

// metadataURL splits a URL of a server's metadata, or returns nil. The URL has to be https,
// or http on this machine. It may be private only if the server's is.
func metadataURL(url string, server *parts) *parts {
	p := splitURL(url)
	if p == nil || p.scheme == "http" && p.where() != endpoint.Loopback || p.where() != endpoint.Public && server.where() == endpoint.Public {
		return nil
	}
	return p
}

// MayLead reports whether a server may send its user to url: to https, or http on this
// machine, and to a private network only from one.
func MayLead(server, url string) bool {
	from := splitURL(server)
	return from != nil && metadataURL(url, from) != nil
}

// encodeForm encodes names and values in turn for application/x-www-form-urlencoded. Empty values are left out.
func encodeForm(pairs []string) []byte {
	var out []byte
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		if out != nil {
			out = append(out, '&')
		}
		out = append(out, text.PercentEncoded(pairs[i])+"="+text.PercentEncoded(pairs[i+1])...)
	}
	return out
}

// queryParameter returns one parameter of a callback URL. A repeated parameter counts as missing
// (RFC 6749, section 3.1).
func queryParameter(url, name string) (value string) {
	_, text, _ := strings.Cut(url, "?")
	text, _, _ = strings.Cut(text, "#")
	seen := false
	for text != "" {
		var pair string
		pair, text, _ = strings.Cut(text, "&")
		key, v, _ := strings.Cut(pair, "=")
		if unescape(key) != name {
			continue
		}
		if seen {
			return ""
		}
		seen, value = true, unescape(v)
	}
	return value
}

func unescape(s string) string {
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b == '+' {
			b = ' '
		} else if b == '%' && i+2 < len(s) {
			if n, ok := rawjson.Digits(s[i+1:i+3], 16); ok {
				b = byte(n)
				i += 2
			}
		}
		out = append(out, b)
	}
	return string(out)
}
