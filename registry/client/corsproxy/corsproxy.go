// Package corsproxy builds the requests to the CORS proxy and reads its errors.
//
// The configuration names the proxy by a template with {href}, such as
// "https://proxy.example/?url={href}". The proxy answers a refused request with a
// code in X-Proxy-Error and a body {"error":{"code","message","hint"}}. It answers
// POST /diagnose with what is wrong with a server.
package corsproxy

import (
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// hrefPlace is the place of the server's URL in a template.
const hrefPlace = "{href}"

// URL returns the URL that takes a request for href through the proxy. href is normalized.
func URL(template, href string) (string, error) {
	url, rest, found := strings.Cut(template, hrefPlace)
	if !found {
		return "", registry.Because(registry.ErrInvalidConfig, "proxy is on, but the option proxy of the registry is no URL with {href}, such as https://proxy.example/?url={href}")
	}
	for found {
		var part string
		part, rest, found = strings.Cut(rest, hrefPlace)
		url += encodeURIComponent(href) + part
	}
	return url, nil
}

// DiagnosisURL returns the URL at which the proxy diagnoses href, for the JSON-RPC
// request with that id. It returns "" if the template is not that of a Portolan proxy.
func DiagnosisURL(template, href, id string) string {
	base, query, _ := strings.Cut(template, "?")
	if query != "url="+hrefPlace {
		return ""
	}
	return strings.TrimSuffix(base, "/") + "/diagnose?id=" + id + "&url=" + encodeURIComponent(href)
}

// encodeURIComponent escapes s as ECMAScript does, section 19.2.6.5.
func encodeURIComponent(s string) string {
	const hex = "0123456789ABCDEF"
	b := make([]byte, 0, len(s)+32)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.!~*'()", c) >= 0 {
			b = append(b, c)
			continue
		}
		b = append(b, '%', hex[c>>4], hex[c&15])
	}
	return string(b)
}

// maxWords bounds each text of the proxy, in bytes.
const maxWords = 2 << 10

// ReadError reads a refusal of the proxy: the code of its X-Proxy-Error header, its
// status, and its body.
func ReadError(code string, status int, body []byte) *registry.ProxyError {
	e := &registry.ProxyError{Code: text.Plain(code, maxWords), Message: "no reason given", Refused: status < 500}
	if rawjson.Valid(body, 8) != nil {
		return e
	}
	object := rawjson.Get(body, "error")
	if message := member(object, "message"); message != "" {
		e.Message = message
	}
	e.Hint = member(object, "hint")
	return e
}

// ReadDiagnosis reads the result of POST /diagnose: {"code","message","hint"}. It
// returns nil for any other result.
func ReadDiagnosis(result []byte) *registry.ProxyError {
	code := member(result, "code")
	if code == "" {
		return nil
	}
	return &registry.ProxyError{Code: code, Message: member(result, "message"), Hint: member(result, "hint")}
}

func member(object []byte, name string) string {
	return text.Plain(rawjson.Text(object, name), maxWords)
}
