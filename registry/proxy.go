package registry

import (
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
)

// A ProxyError is what the CORS proxy says in a server's place: that it refuses,
// that it cannot reach the server, or, asked for a diagnosis, what is wrong.
type ProxyError struct {
	Code    string // the proxy's own, such as "origin_refused"
	Message string
	Hint    string
	// Refused says that the proxy does not want the request; else the server is at fault.
	Refused bool
}

func (e *ProxyError) Error() string {
	if e.Refused {
		return "the proxy refuses (" + e.Code + "): " + e.Message
	}
	return e.Message + " (" + e.Code + ")"
}

// Unwrap makes what is the server's fault a network error.
func (e *ProxyError) Unwrap() error {
	if e.Refused {
		return nil
	}
	return ErrNetwork
}

// ReadProxyError reads a refusal of the proxy: the code of its X-Proxy-Error
// header, its status, and its body {"error":{"code","message","hint"}}.
func ReadProxyError(code string, status int, body []byte) *ProxyError {
	e := &ProxyError{Code: Plain(code, proxyBytes), Message: "no reason given", Refused: status < 500}
	if rawjson.Valid(body, 8) != nil {
		return e
	}
	said, _ := rawjson.Get(body, "error")
	if message := proxyWords(said, "message"); message != "" {
		e.Message = message
	}
	e.Hint = proxyWords(said, "hint")
	return e
}

// ReadDiagnosis reads what the proxy's POST /diagnose says of a server:
// {"code","message","hint"}. It is nil if that is not it.
func ReadDiagnosis(result []byte) *ProxyError {
	code := proxyWords(result, "code")
	if code == "" {
		return nil
	}
	return &ProxyError{Code: code, Message: proxyWords(result, "message"), Hint: proxyWords(result, "hint")}
}

func proxyWords(object []byte, name string) string {
	raw, _ := rawjson.Get(object, name)
	text, _ := rawjson.String(raw)
	return Plain(text, proxyBytes)
}

// hrefPlace is where a proxy template takes the server's URL.
const hrefPlace = "{href}"

// ProxyURL is where a request for href goes when it goes through the proxy. href
// is normalized; template is such as "https://proxy.example/?url={href}".
func ProxyURL(template, href string) (string, error) {
	if !strings.Contains(template, hrefPlace) {
		return "", Because(ErrInvalidConfig, "proxy is on, but no proxy template with {href} is set")
	}
	return strings.ReplaceAll(template, hrefPlace, encodeURIComponent(href)), nil
}

// DiagnosisURL is where the proxy behind a template is asked about href, in a
// JSON-RPC request of that id; "" if the template is not that of a Portolan proxy.
func DiagnosisURL(template, href, id string) string {
	base, query, _ := strings.Cut(template, "?")
	if query != "url="+hrefPlace {
		return ""
	}
	return strings.TrimSuffix(base, "/") + "/diagnose?id=" + id + "&url=" + encodeURIComponent(href)
}

// encodeURIComponent escapes as the function of that name in ECMAScript does, section 19.2.6.5.
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

// proxyBytes bounds each of the proxy's words.
const proxyBytes = 2 << 10
