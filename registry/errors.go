package registry

import (
	"context"
	"errors"
	"strconv"

	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/validate"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// A sentinel is an error that callers compare with, and its class. Nothing has to run for it when the program starts.
type sentinel struct {
	text      string
	class     *wire.Error
	blameless bool // it says nothing of the server's health
}

func (s *sentinel) Error() string { return s.text }

// Sentinels that callers branch on. They arrive wrapped in a [*ServerError]
// where one server is meant.
var (
	// ErrUnknownServer: no server has that name; Add it first.
	ErrUnknownServer error = &sentinel{"unknown server", &wire.UnknownServer, false}
	// ErrServerRemoved: the server was removed, or its configuration changed, while this
	// ran. A call may have run.
	ErrServerRemoved error = &sentinel{"the server was removed or changed meanwhile", &wire.ServerRemoved, true}
	// ErrUnknownTool: no tool in the list has that name.
	ErrUnknownTool error = &sentinel{"unknown tool", &wire.UnknownTool, false}
	// ErrUnknownPrompt: no server lists a prompt of that name.
	ErrUnknownPrompt error = &sentinel{"unknown prompt", &wire.UnknownPrompt, false}
	// ErrUnknownResource: the server does not know the resource.
	ErrUnknownResource error = &sentinel{"unknown resource", &wire.UnknownResource, false}
	// ErrUnknownSkill: the server serves no skill at that URI.
	ErrUnknownSkill error = &sentinel{"unknown skill", &wire.UnknownSkill, false}
	// ErrDisabled: the server is switched off; SetEnabled turns it on.
	ErrDisabled error = &sentinel{"server is disabled", &wire.Disabled, true}
	// ErrSuspended: the server failed too often in a row and is paused; it is
	// tried again by itself after a cooldown, or at once by Retry.
	ErrSuspended error = &sentinel{"server is suspended after repeated failures", &wire.Suspended, false}
	// ErrHeld: the tool or prompt changed or is new, and is not approved. ApproveTools or
	// ApprovePrompts approves it.
	ErrHeld error = &sentinel{"held until it is approved", &wire.Held, false}
	// ErrDenied: the user did not allow the call.
	ErrDenied error = &sentinel{"the user did not allow the call", &wire.Denied, false}
	// ErrGone: the result is not kept any more.
	ErrGone error = &sentinel{"result is not kept any more", &wire.Gone, true}
	// ErrClosed: the registry was closed.
	ErrClosed error = &sentinel{"registry is closed", &wire.Closed, true}
	// ErrSessionExpired: the server no longer knows the session and did not run the call.
	ErrSessionExpired error = &sentinel{"session expired", &wire.SessionExpired, false}
	// ErrNetwork: no answer came. A browser does not tell refused from blocked by CORS.
	ErrNetwork error = &sentinel{"no answer from the server", &wire.Network, false}
	// ErrProtocol: the server answered something that is not MCP.
	ErrProtocol error = &sentinel{"the server's answer is not valid MCP", &wire.Protocol, false}
	// ErrRedirect: the server redirects. Redirects are never followed: the call and, in
	// browsers, the headers would go to another server.
	ErrRedirect error = &sentinel{"the server redirects", &wire.Redirect, true}
	// ErrUnsupported: the server, this client or its host does not have a part of MCP.
	ErrUnsupported error = &sentinel{"not supported", &wire.Unsupported, true}
	// ErrTooLarge: an answer went over one of [Limits].
	ErrTooLarge error = &sentinel{"the server's answer is too large", &wire.TooLarge, true}
	// ErrInvalidConfig: a server's name or configuration cannot be used.
	ErrInvalidConfig error = &sentinel{"invalid server configuration", &wire.InvalidConfig, true}
	// ErrInvalidArguments: a call's arguments are not a JSON object, or do not fit the tool's schema.
	ErrInvalidArguments = validate.ErrArguments
)

// errLate is [context.DeadlineExceeded] in words for people and models.
var errLate error = &kindError{context.DeadlineExceeded, &sentinel{"no answer in time", &wire.Timeout, false}}

// A ServerError says which server failed, and in which operation.
type ServerError struct {
	Server string
	Op     string // "connect", "list tools", "call tool", …
	Err    error
}

func (e *ServerError) Error() string {
	return "server " + e.Server + ": " + e.Op + ": " + e.Err.Error()
}
func (e *ServerError) Unwrap() error { return e.Err }

// onServer names the server and the operation in err, unless err does already.
func onServer(server, op string, err error) error {
	if _, named := errors.AsType[*ServerError](err); err == nil || named {
		return err
	}
	return &ServerError{server, op, err}
}

// A StatusError is an HTTP answer that is not a success.
type StatusError struct {
	Code int
	// Header has the headers of the answer that were readable (in a browser, those that CORS exposes).
	Header map[string][]string
	// Detail is the start of a readable error body, untrusted; may be empty.
	Detail string
}

func (e *StatusError) Error() string {
	s := "http status " + strconv.Itoa(e.Code)
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Codes of JSON-RPC errors.
const (
	CodeMethodNotFound = -32601
	CodeHeaderMismatch = -32020 // the headers are not the expected ones, and the call has not run (2026-07-28)
)

// An RPCError is a JSON-RPC error object that the server answered with.
type RPCError struct {
	Code    int64
	Message string
	Data    []byte // JSON text, may be nil
}

func (e *RPCError) Error() string {
	return "server error " + strconv.FormatInt(e.Code, 10) + ": " + text.Visible(e.Message)
}

// A ProxyError is an error of the CORS proxy: it refuses the request, it cannot reach
// the server, or it has diagnosed the server.
type ProxyError struct {
	Code    string // the proxy's own, such as "origin_refused"
	Message string
	Hint    string
	// Refused says that the proxy refuses the request. Otherwise the server failed.
	Refused bool
}

func (e *ProxyError) Error() string {
	if e.Refused {
		return "the proxy refuses (" + e.Code + "): " + e.Message
	}
	return e.Message + " (" + e.Code + ")"
}

// Unwrap returns [ErrNetwork] if the server failed.
func (e *ProxyError) Unwrap() error {
	if e.Refused {
		return nil
	}
	return ErrNetwork
}

// cause names a sentinel with words of its own: "network: connection refused".
type cause struct {
	kind   error
	detail string
}

func (e *cause) Error() string { return e.kind.Error() + ": " + e.detail }
func (e *cause) Unwrap() error { return e.kind }

// Because returns an error that is kind to errors.Is and adds detail to its text.
func Because(kind error, detail string) error { return &cause{kind, detail} }

// An Explanation is an error in the form that a user interface needs.
type Explanation struct {
	Code      string // stable, snake_case
	Server    string
	Status    int    // HTTP status, or 0
	Hint      string // what to do, or ""
	Retryable bool   // the same call may work later, unchanged
}

// Explain classifies any error that a registry returns.
func Explain(err error) Explanation {
	var x Explanation
	if server, ok := errors.AsType[*ServerError](err); ok {
		x.Server = server.Server
	}
	status, _ := errors.AsType[*StatusError](err)
	if status != nil {
		x.Status = status.Code
	}
	if proxy, ok := errors.AsType[*ProxyError](err); ok {
		class := &wire.Network
		if proxy.Refused {
			class = &wire.ProxyRefused
		}
		x.Code, x.Hint, x.Retryable = class.Code, proxy.Hint, class.Retryable
		return x
	}
	class := classOf(err, status)
	x.Code, x.Hint, x.Retryable = class.Code, class.Hint, class.Retryable
	return x
}

func classOf(err error, status *StatusError) *wire.Error {
	if s, ok := errors.AsType[*sentinel](err); ok {
		return s.class
	}
	_, isRPC := errors.AsType[*RPCError](err)
	switch {
	case errors.Is(err, ErrInvalidArguments):
		return &wire.InvalidArguments
	case errors.Is(err, context.DeadlineExceeded):
		return &wire.Timeout
	case errors.Is(err, context.Canceled):
		return &wire.Aborted
	case status != nil:
		return statusClass(status.Code)
	case isRPC:
		return &wire.ServerError
	}
	return &wire.Internal
}

// statusClass returns the class of an HTTP status.
func statusClass(code int) *wire.Error {
	switch {
	case code == 401:
		return &wire.Unauthorized
	case code == 403:
		return &wire.Forbidden
	case code == 404 || code == 405:
		return &wire.NoEndpoint
	case code == 429:
		return &wire.RateLimited
	case code >= 500:
		return &wire.ServerFault
	}
	return &wire.HTTPStatus
}

// guarded turns a panic of foreign code into an error, so that one server cannot end
// the program.
func guarded(work func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Because(ErrProtocol, "a fault of Portolan while it handled an answer: "+panicText(p))
		}
	}()
	return work()
}

// safely is guarded for work without a result.
func safely(work func()) error {
	return guarded(func() error { work(); return nil })
}

func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "panic"
}
