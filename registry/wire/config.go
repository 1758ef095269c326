package wire

// ConfigFields are the fields of a ServerConfig in JavaScript, in the order of
// documents and error texts.
var ConfigFields = [...]string{"url", "headers", "proxy", "enabled", "transport", "timeoutMs", "concurrency", "pingMs", "retry", "tools", "overrides", "auth", "trust", "holdNewTools", "logLevel", "rememberSecrets"}

// Words of fields in a ServerConfig and in its auth.
var (
	Transports        = []string{"auto", "streamable-http", "sse"}
	TrustPolicies     = []string{"trust", "ask-on-change", "ask-always"}
	AuthFlows         = []string{"authorization-code", "client-credentials", "jwt-bearer", "enterprise-managed"}
	SigningAlgorithms = []string{"ES256", "RS256"}
)

// LogLevels are the levels of a server's log (RFC 5424), the least first.
var LogLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// An AuthField is one text of the auth of a ServerConfig.
type AuthField struct {
	Name   string
	Secret bool // never shown, and stored encrypted only
}

// AuthFields are the texts of auth, sorted by name. Auth has scopes beside them.
var AuthFields = [...]AuthField{
	{"assertion", true},
	{"clientId", false},
	{"clientMetadataUrl", false},
	{"clientSecret", true},
	{"flow", false},
	{"idToken", true},
	{"idpClientId", false},
	{"idpTokenUrl", false},
	{"issuer", false},
	{"privateKey", true},
	{"signingAlgorithm", false},
}

// Bounds of a server's name, in characters, of its calls at the same time, and of the
// attempts of a call. The others bound a call's timeout and the time between pings.
const (
	MaxServerName  = 64
	MaxConcurrency = 1000
	MaxAttempts    = 5
	MaxTimeoutMs   = 24 * 3600 * 1000
	MinPingMs      = 1000
)

// Bounds of the overrides of a server, and of a name in them, in bytes.
const (
	MaxOverrides    = 64 << 10
	MaxOverrideName = 128
)

// OverrideFields are the fields of an override of a tool.
var OverrideFields = [...]string{"name", "title", "description", "hideParams", "fixed"}

// ForbiddenHeaders cannot be configured. The protocol sets them, or browsers refuse
// them: Firefox sends a preflight that fails for a User-Agent of its own.
var ForbiddenHeaders = []string{
	"host", "content-length", "connection", "transfer-encoding",
	"user-agent", "accept", "content-type", "origin", "cookie",
	"mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name", "last-event-id",
}

// BrowserHeaders are further headers that fetch refuses or removes in a browser, and
// so do those that begin with "sec-" and "proxy-".
var BrowserHeaders = []string{
	"accept-charset", "accept-encoding", "access-control-request-headers", "access-control-request-method",
	"access-control-request-private-network", "cookie2", "date", "dnt", "expect", "keep-alive", "referer",
	"set-cookie", "te", "trailer", "upgrade", "via",
}

// Statuses of a server and of a registry, in the order of types.ts.
var (
	ServerStatuses   = [...]string{"disabled", "disconnected", "connecting", "connected", "error"}
	RegistryStatuses = [...]string{"idle", "discovering", "ready", "partial"}
)
