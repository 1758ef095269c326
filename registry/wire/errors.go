package wire

// An Error is a class of errors: its stable code, what to do about it, and whether the
// same call may work later, unchanged.
type Error struct {
	Code      string
	Hint      string
	Retryable bool
}

// The classes of errors. Several HTTP statuses share the code http_status.
var (
	SignInNeeded     = Error{"sign_in_needed", "Sign in: signIn(name), from a click.", false}
	SignInFailed     = Error{"sign_in_failed", "The message says why. Mend that if it is yours to mend, and sign in again: signIn(name).", false}
	UnknownServer    = Error{"unknown_server", "Add the server first, or check its name.", false}
	ServerRemoved    = Error{"server_removed", "The server was removed or changed while this ran, and may have run it. Look at getTools() again.", false}
	UnknownTool      = Error{"unknown_tool", "Use a name from getTools(); run discover() if the server was added just now.", false}
	UnknownPrompt    = Error{"unknown_prompt", "Use a name from prompts().", false}
	UnknownResource  = Error{"unknown_resource", "Use a URI from resources(), or one that the server sent.", false}
	UnknownSkill     = Error{"unknown_skill", "Use a skill of skills(), or the URI of its SKILL.md.", false}
	Disabled         = Error{"disabled", "Turn the server on: setEnabled(name, true).", false}
	Suspended        = Error{"suspended", "The server failed several times in a row and is paused. It is tried again by itself; retry(name) tries now.", true}
	Held             = Error{"held", "It is not what was approved. Look at what changed, and approve it: getSnapshot().held and approveTools(server), or prompts({held: true}) and approvePrompts(server).", false}
	Denied           = Error{"denied", "The user did not allow this call.", false}
	Gone             = Error{"gone", "Call the tool again.", false}
	Closed           = Error{"closed", "The registry was closed; create a new one.", false}
	InvalidConfig    = Error{"invalid_config", "Correct the server's name or configuration.", false}
	InvalidArguments = Error{"invalid_arguments", "Pass one JSON object that fits the tool's inputSchema, or the prompt's arguments.", false}
	InvalidResult    = Error{"invalid_result", "Tell the server's maker; validateResults: 'flag' gives such results with flags.", false}
	InvalidSkill     = Error{"invalid_skill", "Its entry or a file is not as it must be. Load it again if it has just changed, or tell the maker.", false}
	SessionExpired   = Error{"session_expired", "The server keeps forgetting the session; try again.", true}
	Redirect         = Error{"redirect", "Redirects are refused: what is sent would go along. If you trust where this one leads, make that address the server's url.", false}
	TooLarge         = Error{"too_large", "Raise the limit in the registry's limits, or ask the tool for less.", false}
	Unsupported      = Error{"unsupported", "The server, this client or its host lacks a part of MCP; the message names it. Go on without it.", false}
	Timeout          = Error{"timeout", "The server did not answer in time. Try again, or raise timeoutMs.", true}
	Aborted          = Error{"aborted", "The caller cancelled the call.", false}
	Network          = Error{"network", "No answer came. Check your network, the URL and the server. In a browser it may also lack CORS headers: set proxy: true and a proxy.", true}
	Protocol         = Error{"protocol", "Tell the server's maker. If it has never worked, the URL may not be an MCP endpoint (often it ends in /mcp or /sse).", false}
	ServerError      = Error{"server_error", "The server refused the request; its message says why.", false}
	Internal         = Error{"internal", "", false}
	ProxyRefused     = Error{"proxy_refused", "", false}
	Unauthorized     = Error{"unauthorized", "The server wants credentials: set an Authorization header for it, or signIn(name).", false}
	Forbidden        = Error{"forbidden", "The server refused these credentials, or this page's origin.", false}
	NoEndpoint       = Error{"http_status", "There is no MCP endpoint at this URL; check its path (often /mcp or /sse).", false}
	RateLimited      = Error{"rate_limited", "The server asks for fewer requests; try again later.", true}
	ServerFault      = Error{"http_status", "The server has a fault of its own; try again later.", true}
	HTTPStatus       = Error{"http_status", "The server refused the request.", false}
)
