package client

import (
	"errors"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

var errClosed = errors.New("session is closed")

// JSON-RPC error codes that the client acts on or answers with.
const (
	codeInvalidRequest     = -32600
	codeInvalidParams      = -32602
	codeInternal           = -32603
	codeTaskEnded          = -32000 // a task without a result
	codeURLElicitation     = -32042 // 2025-11-25: data.elicitations lists addresses
	codeMissingCapability  = -32021 // 2026-07-28
	codeUnsupportedVersion = -32022 // 2026-07-28: data.supported lists versions
)

// failed turns an End event into the error of the callers that still wait.
func (s *Session) failed(e *Event) error {
	switch e.Why {
	case EOF:
		return registry.Because(registry.ErrNetwork, "the response ended before the answer")
	case TooLarge:
		return registry.Because(registry.ErrTooLarge, e.Text)
	case NotMCP:
		return registry.Because(registry.ErrProtocol, s.d.shown(e.Text))
	case Gone:
		return errClosed
	}
	kind := registry.ErrNetwork
	if s.d.proxied {
		kind = &registry.ProxyError{Code: "network", Message: "no answer from the proxy " + s.d.origin, Hint: "Check that it runs and allows this page."}
	}
	if e.Text != "" {
		return registry.Because(kind, s.d.shown(e.Text))
	}
	return kind
}

// refused turns a Refused event into an error. withSession says that the
// request named the session.
func (s *Session) refused(e *Event, withSession bool) error {
	if code := headerOf(e.Header, "x-proxy-error"); code != "" && s.d.proxied {
		return corsproxy.ReadError(code, e.Status, []byte(e.Text))
	}
	if e.Status == 0 || e.Status >= 300 && e.Status <= 399 { // 0: a browser shows no more of a redirect
		return s.d.redirected(e)
	}
	status := &registry.StatusError{Code: e.Status, Header: headerMap(s.d.redact(e.Header))}
	body := []byte(e.Text)
	var rpc *registry.RPCError
	// Without a code it is some other protocol's error: a REST server's 404 or 429.
	if rawjson.Valid(body, 64) == nil && rawjson.Kind(rawjson.Get(rawjson.Get(body, "error"), "code")) == 'n' {
		rpc = rpcError(body)
	}
	switch {
	case rpc != nil:
		rpc = s.d.redactRPC(rpc)
		status.Detail = rpc.Message
	case !strings.Contains(headerOf(e.Header, "content-type"), "html"):
		status.Detail = s.d.shown(e.Text)
	case s.d.proxied:
		status.Detail = "from the server or the proxy " + s.d.origin
	}
	// Until 2025-11-25 a version that was agreed on is refused by a server of another era only.
	moved := rpc != nil && rpc.Code == codeUnsupportedVersion && !s.modern && s.info.ProtocolVersion != ""
	if s.modern && e.Status == 400 && isLegacyRefusal(rpc, status.Detail) {
		moved = true
		s.d.forget()
	}
	switch {
	case withSession && (moved || s.sessionID != "" && forgot(e.Status, rpc)):
		s.mu.Lock()
		s.expired = true
		s.mu.Unlock()
		return &expiredError{status}
	case rpc != nil && e.Status < 500 && e.Status != 401 && e.Status != 403:
		return rpc
	}
	return status
}

// unknownResult is the error of a result whose resultType is none of the spec's.
func (s *Session) unknownResult(kind string) error {
	return registry.Because(registry.ErrUnsupported, "the server answered with a result of type "+s.d.plain(kind, maxServerWord))
}

// redirected names where the server would have us go, without what may be a secret in it.
func (d *dial) redirected(e *Event) error {
	href, _, ok := d.c.platform.Resolve(d.href, headerOf(e.Header, "location"))
	if !ok || headerOf(e.Header, "location") == "" {
		return registry.ErrRedirect
	}
	href, _, _ = strings.Cut(href, "?")
	return registry.Because(registry.ErrRedirect, "to "+d.shown(href))
}

// forgot reports whether a refusal means that the server no longer knows the
// session: 404 (2025-11-25, session management), unless it is the method that the server does not
// know. Many servers answer 400, which counts unless a JSON-RPC error names another fault.
func forgot(status int, rpc *registry.RPCError) bool {
	return status == 404 && (rpc == nil || rpc.Code != registry.CodeMethodNotFound) || status == 400 &&
		(rpc == nil || rpc.Code == -32000 || rpc.Code == -32001 || strings.Contains(text.Lower(rpc.Message), "session"))
}

// isLegacyRefusal reports whether words refuse a request of 2026-07-28 as older servers do: they miss a session, or do not
// know the version. The request has not run.
func isLegacyRefusal(rpc *registry.RPCError, words string) bool {
	words = text.Lower(words)
	return (rpc == nil || rpc.Code == -32000 || rpc.Code == codeInvalidRequest) &&
		(strings.Contains(words, "session") || strings.Contains(words, "protocol version"))
}

// redact hides the configured header values, the session id, and the secrets of the
// sign-in, should a server repeat them. It comes before anything that cuts.
func (d *dial) redact(words string) string {
	var secrets []string
	for i := 1; i < len(d.headers); i += 2 {
		secrets = append(secrets, d.headers[i])
	}
	if id := d.sessionID.Load(); id != nil {
		secrets = append(secrets, *id)
	}
	words = text.Redact(words, secrets...)
	if d.auth != nil {
		words = d.auth.Redact(words)
	}
	return words
}

// shown makes a server's words fit to be shown.
func (d *dial) shown(words string) string { return d.plain(words, d.c.opts.Limits.MessageBytes) }

// plain makes one line of at most so many bytes of a server's words: it cleans, then
// redacts, then cuts. [strings.TrimSpace] would add 2 KB to the module.
func (d *dial) plain(words string, most int) string {
	return strings.Trim(text.Plain(d.cleaned(words), most), " ")
}

// maxCleaned bounds the words that are looked at, in bytes. A message may have 1 MiB, of which people see 2 KiB.
const maxCleaned = 64 << 10

// cleaned returns the beginning of a server's words without hidden characters and secrets.
func (d *dial) cleaned(words string) string {
	return d.redact(text.Visible(text.Cut(words, maxCleaned)))
}

func (d *dial) redactRPC(e *registry.RPCError) *registry.RPCError {
	e.Message = d.shown(e.Message)
	if e.Data != nil {
		e.Data = []byte(d.redact(string(e.Data)))
	}
	return e
}

// An expiredError is a refusal that means: connect again, nothing has run.
type expiredError struct{ cause error }

func (e *expiredError) Error() string {
	return registry.ErrSessionExpired.Error() + ": " + e.cause.Error()
}
func (e *expiredError) Unwrap() []error { return []error{registry.ErrSessionExpired, e.cause} }

// rpcError reads the error of a JSON-RPC message, nil if it has none.
func rpcError(message []byte) *registry.RPCError {
	raw := rawjson.Get(message, "error")
	if rawjson.Kind(raw) != 'o' {
		return nil
	}
	code, _ := rawjson.Int(rawjson.Get(raw, "code"))
	return &registry.RPCError{Code: code, Message: rawjson.Text(raw, "message"), Data: rawjson.Get(raw, "data")}
}

func headerMap(lines string) map[string][]string {
	if lines == "" {
		return nil
	}
	out := map[string][]string{}
	for lines != "" {
		var key, value string
		key, lines, _ = strings.Cut(lines, "\n")
		value, lines, _ = strings.Cut(lines, "\n")
		key = canonical(key)
		out[key] = append(out[key], value)
	}
	return out
}

// canonical writes a header name as net/http does: Retry-After.
func canonical(name string) string {
	b := []byte(name)
	upper := true
	for i, c := range b {
		if upper && c >= 'a' && c <= 'z' {
			b[i] = c - 'a' + 'A'
		}
		upper = c == '-'
	}
	return string(b)
}

// isRefusal reports whether the server does not know what it was asked. A fault or a lack
// of rights is no refusal.
func isRefusal(err error) bool {
	_, isRPC := errors.AsType[*registry.RPCError](err)
	return isRPC || isMissing(err)
}

// isMissing reports whether err is a 4xx that does not speak of rights or rates.
func isMissing(err error) bool {
	status, ok := errors.AsType[*registry.StatusError](err)
	if !ok {
		return false
	}
	switch status.Code {
	case 401, 403, 407, 408, 429:
		return false
	}
	return status.Code >= 400 && status.Code < 500
}
