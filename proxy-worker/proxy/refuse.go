package proxy

// A refusal is an error as a page sees it: {"error":{"code","message","hint"}},
// with the code in X-Proxy-Error as well.
type refusal struct {
	status              int
	code, message, hint string
}

// The refusals. Those of the policy are 4xx. A permitted server that cannot be reached
// gives 502 or 504.
var (
	notConfigured = refusal{403, "not_configured", "this proxy is closed: it has no configuration",
		"Set ALLOWED_ORIGINS and one of ALLOWED_HOSTS, CALLER_KEYS and TICKET_KEYS; see the README."}
	originMissing = refusal{403, "origin_missing", "the request names no origin",
		"Use the proxy from a page or an extension; programs do not need it."}
	originRefused = refusal{403, "origin_refused", "this origin may not use the proxy", "Add it to ALLOWED_ORIGINS."}
	callerRefused = refusal{403, "caller_refused", "the proxy asks for a key or a ticket",
		"Send X-Portolan-Key, or a ticket that the proxy's owner has made for this origin and server."}
	ticketInvalid = refusal{403, "ticket_invalid", "the ticket is not valid for this request",
		"Ask the proxy's owner for a new one: it may have expired, or be for another origin or server."}
	bindingInvalid = refusal{403, "binding_invalid", "the binding is not valid for this request",
		"Read the server's metadata through the proxy again and send the binding that comes with it."}
	sealInvalid = refusal{400, "seal_invalid", "the sealed headers cannot be opened for this request",
		"Seal them again for this origin and server."}
	targetMissing = refusal{400, "target_missing", "the request names no server",
		"Send X-Portolan-Target, or ?url= with the server's URL, encoded."}
	targetInvalid = refusal{400, "target_invalid", "the server's URL is not valid",
		"Give an absolute URL such as https://mcp.example.com/mcp."}
	schemeRefused   = refusal{403, "scheme_refused", "the proxy speaks https only", "Use the server's https address."}
	userinfoRefused = refusal{400, "userinfo_refused", "the server's URL holds a user name or password",
		"Send credentials in the Authorization header."}
	hostOdd = refusal{400, "host_odd", "the server's host is written in an odd way",
		"Write a DNS name in ASCII (xn-- for others) or a plain IP address."}
	hostRefused = refusal{403, "host_refused", "the proxy does not go to this server",
		"Add its host to ALLOWED_HOSTS."}
	portRefused = refusal{403, "port_refused", "the proxy does not go to this port", "Add it to ALLOWED_PORTS."}
	selfLoop    = refusal{403, "self_loop", "the server's URL is the proxy's own",
		"Give the URL of the MCP server itself."}
	methodRefused = refusal{405, "method_refused", "MCP does not use this method", "Use POST, GET or DELETE."}
	notMCP        = refusal{403, "not_mcp", "this is not a request that an MCP client makes",
		"POST JSON with Accept: application/json, text/event-stream; GET text/event-stream; " +
			"DELETE with Mcp-Session-Id; GET OAuth metadata."}
	unbound = refusal{403, "binding_missing",
		"a form or registration goes only to endpoints that metadata has named",
		"Read the metadata through the proxy and send its X-Portolan-Binding."}
	headerRefused = refusal{403, "header_refused", "the ticket does not cover a header of the request",
		"Ask for a ticket that names it."}
	requestTooLarge = refusal{413, "request_too_large", "the request is larger than the proxy takes",
		"Send less at once, or raise MAX_REQUEST_BYTES."}
	rateLimited    = refusal{429, "rate_limited", "too many requests to this server", "Wait a moment."}
	tooManyStreams = refusal{429, "too_many_streams", "too many open streams", "Close some, or raise MAX_STREAMS."}

	redirectRefused = refusal{502, "redirect_refused", "the server redirects where the proxy does not follow",
		"Use the address it redirects to."}
	responseTooLarge = refusal{502, "response_too_large", "the server's response is larger than the proxy passes on",
		"Raise MAX_RESPONSE_BYTES."}
	unreachable = refusal{502, "upstream_unreachable", "the server cannot be reached",
		"Check that it runs and that its address is right."}
	upstreamTimeout = refusal{504, "upstream_timeout", "the server did not answer in time", "Try again later."}
	internalError   = refusal{500, "internal", "a fault of the proxy", "Please report it."}
)

// body returns the refusal as JSON. Its words are constants that need no escapes.
func (r refusal) body() []byte {
	return []byte(`{"error":{"code":"` + r.code + `","message":"` + r.message + `","hint":"` + r.hint + `"}}`)
}

// decision answers a request from origin with the refusal.
func (r refusal) decision(origin string) *Decision {
	return &Decision{Verdict: Answer, Status: r.status, Code: r.code, Header: r.header(origin), Body: r.body()}
}

func (r refusal) header(origin string) []Pair {
	return append(cors(origin),
		Pair{"content-type", "application/json"},
		Pair{"cache-control", "no-store"},
		Pair{"x-proxy-error", r.code},
		Pair{"access-control-expose-headers", "X-Proxy-Error, Retry-After"})
}

// Refuse returns the answer to a request that failed after it was decided. The codes are
// rate_limited, too_many_streams, request_too_large, response_too_large,
// upstream_unreachable, upstream_timeout and internal. Any other code counts as internal.
func Refuse(code, origin string) *Decision {
	for _, r := range []refusal{rateLimited, tooManyStreams, requestTooLarge, responseTooLarge, unreachable,
		upstreamTimeout} {
		if r.code == code {
			d := r.decision(origin)
			if r.status == 429 {
				d.Header = append(d.Header, Pair{"retry-after", "10"})
			}
			return d
		}
	}
	return internalError.decision(origin)
}
