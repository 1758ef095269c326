package registry

import (
	"context"
	"time"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// A Session is one live conversation with one MCP server. It is the seam
// between the pipeline, which decides what is listed and called, and the
// protocol, which knows versions, transports and framing.
//
// Definitions and results cross it as [Payload]: JSON that the pipeline carries
// and does not open. All methods may be called from several goroutines at once,
// and each returns promptly once its context is done, whatever the server does.
//
// A session does not recover by itself. When the server has forgotten it, the
// call that found out fails with [ErrSessionExpired]. The error promises that
// the server did not run the call. The registry then connects again, once for
// all callers, and sends that call again. Every other error ends only the call
// that got it, unless the session says by [Notice.Err] that it is over.
type Session interface {
	// Info tells what was negotiated. Where a hint spared the negotiation, Capabilities and
	// the server's words may come later: see [Notice.Informed].
	Info() SessionInfo

	// ListTools fetches one page of tools. A nil cursor asks for the first page;
	// the empty string is a cursor like any other.
	ListTools(ctx context.Context, cursor *string) (*ToolPage, error)

	// CallTool runs one tool and returns what the server answered, be it a
	// result or a result with isError. The error is for calls without an answer.
	CallTool(ctx context.Context, call ToolCall) (*ToolOutput, error)

	// Close tells the server that the session is over, where the protocol has a way to. It
	// frees what the session holds, even if ctx ends first.
	// A second Close does nothing.
	Close(ctx context.Context) error
}

// A Starter is a session that can run a call without a goroutine that waits for it. The
// goroutine is most of what a call costs in WebAssembly.
type Starter interface {
	Session

	// StartTool does what CallTool does and returns at once. done receives its
	// outcome, once, from any goroutine, perhaps before StartTool has returned. stop
	// ends the call early, with cause as its error; after the end it does nothing.
	// inline reports that no goroutine goes on with the call: hosts that schedule
	// goroutines themselves need not run any.
	StartTool(call ToolCall, done func(*ToolOutput, error)) (stop func(cause error), inline bool)
}

// An Offerer is a session that serves more than tools: resources, prompts and completion.
type Offerer interface {
	Session

	// Capabilities tells what the server announced. It may ask the server.
	Capabilities(context.Context) (Capabilities, error)

	// Ask sends one request and returns its result, whole. Questions of the server are put
	// to the user as they are during a call.
	Ask(context.Context, Request) (Payload, error)

	// Follow replaces what the session reports by [Notice.PromptsChanged],
	// [Notice.ResourcesChanged] and [Notice.Updated]. The server reports
	// updates of the returned URIs. The error is [ErrUnsupported] if it reports nothing.
	Follow(context.Context, Following) (reported []string, err error)
}

// A Tasker is a session whose calls may become tasks of the server.
type Tasker interface {
	Session

	// FollowTask waits for the result of a task that an earlier call became. Ending ctx ends
	// the wait, not the task. The error is [ErrGone] if the server does not know the task.
	FollowTask(ctx context.Context, taskID string, call ToolCall) (*ToolOutput, error)

	// CancelTask ends a task.
	CancelTask(ctx context.Context, taskID string) error
}

// Capabilities is the JSON text of a ServerCapabilities object of the spec, or nil.
type Capabilities []byte

// Has reports whether there is a member at that path other than false and null.
func (c Capabilities) Has(path ...string) bool {
	value := []byte(c)
	for _, key := range path {
		value = rawjson.Get(value, key)
	}
	return len(value) > 0 && string(value) != "false" && string(value) != "null"
}

// A Request is a request to a server that is not about its tools.
type Request struct {
	// ID is that of the work that the request belongs to; see [CallID].
	ID int
	// Method is the method of the spec, such as "resources/read".
	Method string
	// Params is the JSON text of one object.
	Params []byte
	// About is what Mcp-Name says (2026-07-28): the prompt's name or the resource's URI.
	About string
	// OnAsk is as in [ToolCall].
	OnAsk func(open bool)
}

// Following is what a session reports beside changes of the tools.
type Following struct {
	Prompts, Resources bool     // changes of the lists
	Logs               bool     // messages of the log, also while no call runs
	URIs               []string // of resources whose updates are reported
}

// Connect opens a session with a server. It is called for one server at a time
// by one goroutine, but for several servers at once, and returns promptly once
// ctx is done. The session outlives ctx.
type Connect func(ctx context.Context, name string, cfg ServerConfig, notify Notify) (Session, error)

// Notify passes notices of a session to its registry. It does not block, may be called
// from any goroutine, and is ignored once the session is closed.
type Notify func(Notice)

// Elicit asks the user of the host for input on behalf of a server: params are
// those of elicitation/create, the answer is an ElicitResult, both as JSON text.
// A host without one does not announce the capability.
//
// [CallID] of the context is the call that the question belongs to, if the session knows it.
type Elicit func(ctx context.Context, server string, params []byte) ([]byte, error)

// A Root is a folder of the user that servers may work in (2025-11-25, client/roots).
type Root struct {
	URI  string // a file: URL
	Name string // for people; may be ""
}

type callKey struct{}

// WithCall returns a context of work for the call with that ID.
func WithCall(ctx context.Context, id int) context.Context {
	return context.WithValue(ctx, callKey{}, id)
}

// CallID returns the ID of the call that the context is of, or 0.
func CallID(ctx context.Context) int {
	id, _ := ctx.Value(callKey{}).(int)
	return id
}

// A Notice is one event of a session that is not the answer to a request.
type Notice struct {
	// ToolsChanged says that the server's list of tools has changed.
	ToolsChanged bool
	// PromptsChanged and ResourcesChanged say so of the other lists. A server has one notice
	// for its resources and its templates.
	PromptsChanged, ResourcesChanged bool
	// Updated is the URI of a resource that has changed, or "".
	Updated string
	// Log, if not nil, is a message of the server's log: its level, logger and text.
	Log *LogEntry
	// Dropped counts messages that were too many to be read (Limits.EventsPerSecond, PingsPerSecond).
	Dropped int
	// Informed says that Session.Info has its capabilities and the server's words now.
	Informed bool
	// Err, if not nil, says that the session is over and why.
	Err error
}

// SessionInfo is what a session and its server agreed on.
type SessionInfo struct {
	// Transport is "streamable-http", "sse", or "" for one that is not HTTP.
	Transport string
	// ProtocolVersion is the negotiated version, such as "2025-11-25".
	ProtocolVersion string
	// Server and Instructions are the server's own words, untrusted.
	Server       Implementation
	Instructions string
	// ListChanged says that the server announced notifications/tools/list_changed.
	ListChanged bool
	// Capabilities are what the server announced; nil if a hint spared the question.
	Capabilities Capabilities
}

// An Implementation is what a server says of itself (Implementation of the specification).
type Implementation struct {
	Name, Version, Title, Description string
	WebsiteURL                        string // https or http, or ""
	Icons                             []Icon
}

// An Icon is a picture at an https or a data URL.
type Icon struct {
	Src, MIMEType, Theme string
	Sizes                []string // such as "48x48"
}

// clean takes hidden characters out.
func (i Implementation) clean() Implementation {
	for _, words := range []*string{&i.Name, &i.Version, &i.Title, &i.Description} {
		*words = text.Visible(*words)
	}
	return i
}

// A Payload is one JSON value that travels through the pipeline unopened. In a
// browser it may be a handle to a value that the platform has parsed.
type Payload interface {
	// Len is the size in bytes of the JSON text, exact or a close estimate.
	Len() int
	// JSON returns the JSON text. The caller does not change it.
	JSON() ([]byte, error)
}

// A Pinner is a tool's definition that computes its pin when it is asked.
type Pinner interface {
	Payload
	// Pin is as ToolDef.Pin is, or "" if the definition is there no more.
	Pin() string
}

// Risky is a tool's definition that tells whether it is held when it is new: it says
// that it destroys, or it is flagged.
type Risky interface {
	Risky(context.Context) bool
}

// Raw is a Payload held as JSON text.
type Raw []byte

// Len returns the number of bytes.
func (r Raw) Len() int { return len(r) }

// JSON returns the text itself.
func (r Raw) JSON() ([]byte, error) { return r, nil }

// A ToolPage is one answer to tools/list.
type ToolPage struct {
	// Tools are the usable definitions in the server's order.
	Tools []ToolDef
	// Dropped are the entries that the session left out, each with its reason.
	Dropped []Drop
	// NextCursor asks for the page after this one; nil on the last page.
	NextCursor *string
	// TTL is how long the server says the list stays fresh (ttlMs, 2026-07-28); 0 if it did not say.
	TTL time.Duration
	// Private says that the page is the user's own (cacheScope, 2026-07-28).
	Private bool
	// Bytes is the size of the page's JSON text.
	Bytes int
	// Fingerprint, if not nil, returns a digest that is equal for pages whose tools
	// are equal as the server sent them, or "". The registry calls it at most once.
	Fingerprint func(context.Context) string
	// Release, if not nil, frees what the platform holds for the page; the
	// registry calls it once, when it uses none of the page's tools any more.
	Release func()
}

// A ToolDef is one tool as its server defines it.
type ToolDef struct {
	// Name is the server's own name for the tool, not yet namespaced.
	Name string
	// Def is the whole Tool object of the spec.
	Def Payload
	// Pin is the digest of the definition as the server sent it; see package pin. A Def
	// that is a [Pinner] may make it later. A tool without a pin is never held.
	Pin string
	// Flags tell of hidden text, which Def does not have.
	Flags []text.Flag
	// AppOnly says that models may not have the tool: it is for the server's own apps (MCP Apps).
	AppOnly bool
}

// A Drop names a tool that is not offered, and why.
type Drop struct {
	Name   string // as far as it could be read
	Reason string
}

// A ToolCall asks a session to run one tool.
type ToolCall struct {
	// ID is that of the Call.
	ID int
	// Tool is the server's own name for it.
	Tool string
	// Def is the definition the call is based on (x-mcp-header needs it); may be nil.
	Def Payload
	// Arguments is the JSON text of one object.
	Arguments []byte
	// Meta is the JSON text of an object whose members go along in _meta; may be empty.
	Meta []byte
	// Detach says that the output may be a task, which the caller follows.
	Detach bool
	// Long says that the call may last. The server runs it as a task, if the tool may be one
	// (2025-11-25).
	Long bool
	// OnProgress, if not nil, asks for progress and is called for each
	// notification, in order, until CallTool returns.
	OnProgress func(Progress)
	// OnAsk, if not nil, gets true when a person is asked a question of the server during the
	// call, and false when the question is over.
	OnAsk func(open bool)
}

// Progress is one notifications/progress.
type Progress struct {
	Progress float64
	Total    float64 // 0 if unknown
	Message  string
}

// A ToolOutput is a server's answer to tools/call.
type ToolOutput struct {
	// Task is the JSON text of a Task object of the spec, in place of a Result, if the call was detached.
	Task []byte
	// Result is the whole CallToolResult object of the spec.
	Result  Payload
	IsError bool
}
