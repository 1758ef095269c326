package client

import (
	"time"

	"github.com/portolan-mcp/portolan/registry"
)

// A Platform moves bytes for one [Client]. It sends exactly what it is given,
// frames and parses what comes back within the bounds it was given, and decides
// nothing. All methods may be called from several goroutines and return at once.
type Platform interface {
	// Join sets the limits of every exchange and where its events go. It is called once, first.
	Join(registry.Limits, Sink)
	// Resolve resolves ref against the absolute URL base. It returns the
	// normalized URL and its origin; not ok if they make no http or https URL. A platform
	// that has the demo also takes registry.Demo.
	Resolve(base, ref string) (href, origin string, ok bool)
	// Start begins an exchange. Its events come in order, never two at once, and none before
	// Start returns.
	Start(x *Exchange)
	// Cancel ends an exchange, request and body. Events already under way may
	// still arrive; a Last event is not promised any more. Unknown ids are ignored.
	Cancel(id uint32)
	// Text returns the JSON text of the value at index in a table: a tool
	// definition, or (index 0) a result.
	Text(table, index uint32) ([]byte, error)
	// Pin returns what a user approves the tool definition at index by: package pin's.
	Pin(table, index uint32) string
	// Risky has done called with whether a tool says that it destroys, or has flags of
	// hidden text or of the scanner.
	Risky(table, index uint32, done func(bool))
	// Fingerprint has done called with a digest of a page's tools: see
	// registry.ToolPage. It is "" where the platform has none.
	Fingerprint(table uint32, done func(string))
	// Free drops a table. Unknown tables are ignored.
	Free(table uint32)
	// Multiplexed reports whether the origin is known to be spoken to over
	// HTTP/2 or newer, where streams do not use up connections.
	Multiplexed(origin string) bool
}

// A Sink takes the events of all exchanges, by the exchange's id. Deliver does not block. It
// reports whether the event was handled to its end: if not, a goroutine goes on with it.
type Sink interface {
	Deliver(exchange uint32, e *Event) (handled bool)
}

// An Exchange is one HTTP request and all that is read from its response.
// Credentials are omitted, redirects not followed, caches are bypassed.
type Exchange struct {
	// ID names the exchange. Another exchange may have the same one once this one is over,
	// as when a request is sent again. For a request it is the JSON-RPC id as well.
	ID uint32
	// Group is the session on whose account events are rated.
	Group uint32
	// Method is GET, POST or DELETE.
	Method string
	// URL is where the request goes, proxy included.
	URL string
	// Header has names and values in turn.
	Header []string
	// Body is JSON text; nil for none.
	Body []byte
	// Awaits is the id of the request whose response ends the exchange, or 0. An
	// exchange without one ends with its body; POST bodies are then not read.
	Awaits int64
	// Head asks for a Head event before anything else.
	Head bool
	// Whole asks for one Refused event whatever the status, with all of the body.
	Whole bool
	// Once says that the request must not reach the server twice, even where
	// the network stack would silently send it again.
	Once bool
}

// The kind of a request is in the low bits of its id. So a platform knows what a response
// is, without a table of requests.
const (
	OpOther int64 = iota
	OpList        // tools/list
	OpCall        // tools/call, and what has its result
	OpTask        // a call that may become a task (2025-11-25), and tasks/get of 2026-07-28: both may have its result
	opStep  = 4   // ids are this far apart
)

// OpOf returns the kind of the request with that id.
func OpOf(id int64) int64 { return id % opStep }

// A Kind says what an [Event] tells.
type Kind uint8

// The kinds of events. wasm/js/fetch/events.ts has the same numbers.
const (
	// Head: the response is a success and its body follows. Status, Header.
	Head Kind = iota
	// Refused: the response is not a success. Status (0 for a redirect that the platform does not show), Header, Text (the start of the body).
	Refused
	// End: there is no more. Why, Text (detail), LastID, Retry.
	End
	// Tools: an answer to tools/list. RPC, Table, Bytes, Text (the names, one a line), Extra.
	Tools
	// Output: an answer to tools/call. RPC, Table, Bytes, IsError.
	Output
	// Progress: notifications/progress. RPC (the token), Progress, Total, Text.
	Progress
	// Changed: notifications/tools/list_changed.
	Changed
	// Message: any other message that concerns a client of tools. Text is the JSON-RPC message, which is valid JSON.
	Message
	// Endpoint: the endpoint event of HTTP+SSE (2024-11-05). Text.
	Endpoint
	// Dropped: so many messages (Bytes) that nobody asked for were too many and not read.
	Dropped
)

// An Event is one thing that happened to an exchange. Which fields are set
// depends on Kind.
type Event struct {
	Kind Kind
	// Last says that the exchange is over.
	Last bool
	// Status is the HTTP status.
	Status int
	// Header has the readable headers of interest, names in lower case and values in turn, one a line.
	Header string
	RPC    int64
	Table  uint32
	// Bytes is the size of the message.
	Bytes   int
	IsError bool
	Text    string
	// Extra is "" or the JSON text of {drops: [[name, reason]…], next: string, ttl: ms,
	// headers: [index…], tasks: [index…], apps: [index…], private: true}; headers are the tools that mention x-mcp-header, and
	// tasks those that run as tasks only (2025-11-25). apps are for apps only, not for models.
	Extra           string
	Progress, Total float64
	Why             Reason
	// LastID is the last event id of the stream, "" if none was given or it cannot be sent back.
	LastID string
	// Retry is what the stream asked for, negative if nothing.
	Retry time.Duration
}

// A Reason says why an exchange ended.
type Reason uint8

// The reasons. wasm/js/fetch/events.ts has the same numbers.
const (
	// EOF: the body ended.
	EOF Reason = iota
	// Network: no response, or the body broke off.
	Network
	// TooLarge: a limit was reached; Text names it.
	TooLarge
	// NotMCP: the body is not JSON-RPC, or of another content type; Text says which.
	NotMCP
	// Gone: the session was closed. Only Go uses it.
	Gone
)
