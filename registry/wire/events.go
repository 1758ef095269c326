package wire

// Names of the numbers that cross the boundary between the client and its platform in
// the browser. A number is the index of its name.
var (
	// EventKinds are the kinds of events of an exchange.
	EventKinds = [...]string{"Head", "Refused", "End", "Tools", "Output", "Progress", "Changed", "Message", "Endpoint", "Dropped"}
	// EndReasons say why an exchange ended.
	EndReasons = [...]string{"EOF", "Network", "TooLarge", "NotMCP"}
	// RequestKinds are the kinds of requests, in the low bits of their ids.
	RequestKinds = [...]string{"Other", "List", "Call", "Task"}
)

// Heeded are the notifications that a platform passes on as Message events. Progress and
// changes of the list of tools have kinds of their own.
var Heeded = []string{
	"notifications/cancelled",
	"notifications/elicitation/complete",
	"notifications/message",
	"notifications/prompts/list_changed",
	"notifications/resources/list_changed",
	"notifications/resources/updated",
	"notifications/tasks",
	"notifications/tasks/status",
	"notifications/subscriptions/acknowledged",
}

// Flags of an event.
const (
	EventLast  = 1 // the exchange is over
	EventError = 2 // of Output: the tool says that it failed
)

// RequestKindMask selects the kind of a request in its id.
const RequestKindMask = 3
