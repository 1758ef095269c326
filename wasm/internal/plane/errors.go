package plane

import (
	"errors"
	"strings"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/rawjson"
)

var errClosed = errors.New("session is closed")

// JSON-RPC error codes that the client acts on or answers with.
const (
	codeMethodNotFound     = -32601
	codeInvalidParams      = -32602
	codeUnsupportedVersion = -32022 // 2026-07-28: data.supported lists versions
)

// failed turns an End event into the error of whoever still waited.
func failed(e Event) error {
	switch e.Why {
	case EOF:
		return registry.Because(registry.ErrNetwork, "the response ended before the answer")
	case TooLarge:
		return registry.Because(registry.ErrTooLarge, e.Text)
	case NotMCP:
		return registry.Because(registry.ErrProtocol, e.Text)
	case Gone:
		return errClosed
	}
	if e.Text != "" {
		return registry.Because(registry.ErrNetwork, e.Text)
	}
	return registry.ErrNetwork
}

// refused turns a Refused event into the error of request id. session says that
// the request named one.
func refused(e Event, id int64, session bool) error {
	status := &registry.StatusError{Code: e.Status, Header: headerMap(e.Header)}
	body := []byte(e.Text)
	if rawjson.Valid(body, 64) == nil {
		if rpc := rpcError(body); rpc != nil {
			if answered, ok := rawjson.Int(get(body, "id")); ok && answered == id {
				if e.Status < 500 {
					return rpc
				}
				return errors.Join(rpc, status)
			}
			status.Detail = detail(rpc.Message)
		}
	} else if kind := headerOf(e.Header, "content-type"); !strings.Contains(kind, "html") {
		status.Detail = detail(e.Text)
	}
	if session && (e.Status == 404 || e.Status == 400) {
		return &expiredError{status}
	}
	return status
}

// An expiredError is a refusal that means: connect again, nothing has run.
type expiredError struct{ cause error }

func (e *expiredError) Error() string {
	return registry.ErrSessionExpired.Error() + ": " + e.cause.Error()
}
func (e *expiredError) Unwrap() []error { return []error{registry.ErrSessionExpired, e.cause} }

// rpcError reads the error of a JSON-RPC message, nil if it has none.
func rpcError(message []byte) *registry.RPCError {
	raw := get(message, "error")
	if rawjson.Kind(raw) != 'o' {
		return nil
	}
	code, _ := rawjson.Int(get(raw, "code"))
	return &registry.RPCError{Code: code, Message: getString(raw, "message"), Data: get(raw, "data")}
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

// detail makes a stranger's text fit for an error message: one line, printable, short.
func detail(text string) string {
	const limit = 200
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return ' '
		}
		return r
	}, text[:min(len(text), 4*limit)])
	text = strings.Join(strings.Fields(text), " ")
	n := 0
	for i := range text {
		if n == limit {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// isRefusal reports whether err is the server's way to say that it does not
// know what it was asked, as opposed to a fault or a lack of rights.
func isRefusal(err error) bool {
	var rpc *registry.RPCError
	if errors.As(err, &rpc) {
		return true
	}
	return isMissing(err)
}

// isMissing reports whether err is a 4xx that does not speak of rights or rates.
func isMissing(err error) bool {
	var status *registry.StatusError
	if !errors.As(err, &status) {
		return false
	}
	switch status.Code {
	case 401, 403, 407, 408, 429:
		return false
	}
	return status.Code >= 400 && status.Code < 500
}
