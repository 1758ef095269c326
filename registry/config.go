package registry

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry/names"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
	"github.com/portolan-mcp/portolan/registry/wire"
)

// Demo is the URL of the demo server, which the platform in a browser answers itself.
const Demo = "builtin:demo"

// A ServerConfig says where one server is and how to talk to it. Its JSON form
// is ServerConfig of the JavaScript surface.
type ServerConfig struct {
	// URL is the http or https endpoint, or [Demo].
	URL string
	// Headers go with every request to that URL's origin and nowhere else.
	Headers map[string]string
	// Proxy sends the requests through the registry's CORS proxy.
	Proxy bool
	// ProxyAuto reaches the server directly, and through the proxy where a browser
	// cannot and no Headers would go along. Natively nothing needs it.
	ProxyAuto bool
	// Disabled keeps the server in the list but never contacts it ("enabled": false).
	Disabled bool
	// Transport is "auto" (or ""), "streamable-http" or "sse".
	Transport string
	// Timeout bounds connecting and listing, each; 0 means the registry's default.
	Timeout time.Duration
	// Concurrency bounds the calls of the server at the same time, at most 1,000; 0 means
	// Limits.CallsPerServer. More calls wait for their turn.
	Concurrency int
	// Ping is how long a session of the versions until 2025-11-25 is idle before it is
	// pinged; 0: never. A session that does not answer is replaced by the next call.
	Ping time.Duration
	// Attempts is how often a call is sent at most, from 1 to 5; 0 means once. A call is sent
	// again if no answer came, or if the server answered 429 or 503. Its tool has to claim that
	// it is idempotent or reads only, and its server needs [TrustAll].
	Attempts int
	// AllowTools, if not nil, lists the only tools (the server's own names) that are offered;
	// DenyTools lists tools that are not.
	AllowTools []string
	DenyTools  []string
	// Overrides changes how models see tools. It is the JSON text of an object, whose keys are
	// the server's own names of tools. A value has name, title, description, hideParams and
	// fixed. hideParams are names of parameters that models do not see; a value for one is
	// removed. fixed are arguments of every call. The registry applies name, hideParams and
	// fixed. Hosts that show definitions apply the rest. Pins are about the server's own
	// definition. nil: none.
	Overrides []byte
	// Auth says how to sign in; nil follows what the server says. It is not changed.
	Auth *Auth
	// Trust says which tools wait for [Registry.ApproveTools]. AskOnChange, the same as
	// "", approves the first list and holds later changes. AskAlways also holds new tools
	// and the first list, and remembers no approval of a call. TrustAll holds nothing.
	Trust string
	// HoldNewTools holds new tools of a server that is known already.
	HoldNewTools bool
	// LogLevel is the least level of the log that the server is asked to send, one of
	// [wire.LogLevels]; "" leaves it to the server. It is for versions until 2025-11-25.
	LogLevel string
	// RememberSecrets says whether the host stores the values of Headers and the secrets
	// of Auth. nil is the host's default.
	RememberSecrets *bool
	// MissingHeaders names headers that were configured, and whose values the host did not store.
	MissingHeaders []string
}

// Policies of [ServerConfig.Trust].
const (
	TrustAll    = "trust"
	AskOnChange = "ask-on-change"
	AskAlways   = "ask-always"
)

// Limits bound what one server can make the registry hold or do. Sizes are in bytes.
// Zero fields mean the defaults of [wire.Limits].
type Limits struct {
	ResponseBytes    int // one response body
	EventBytes       int // one SSE event
	ErrorBytes       int // the part of an error body that is read
	MessageBytes     int // a server's words in an error or a warning
	DefinitionBytes  int // one tool's definition
	DescriptionBytes int // one tool's description
	Depth            int // nesting of any JSON
	SchemaDepth      int // nesting of schemas in an input or output schema
	SchemaNodes      int // schemas in an input or output schema
	EnumValues       int // values of one enum
	Pages            int // pages of one list
	ToolsPerServer   int
	Tools            int // of all servers
	ListBytes        int // all pages of one list
	ResultBytes      int // the text form of one result
	ResultValues     int // elements and members of one result, where a platform parses it
	EventsPerSecond  int // notifications decoded per server and second
	PingsPerSecond   int // requests of a server that are answered, each second
	Connects         int // tries to connect to a server in 10 s
	CallsPerServer   int // calls of one server at the same time; more wait for their turn
	Calls            int // calls of all servers at the same time
}

// fields returns the limits in the order of [wire.Limits].
func (l *Limits) fields() [len(wire.Limits)]*int {
	return [...]*int{
		&l.ResponseBytes, &l.EventBytes, &l.ErrorBytes, &l.MessageBytes, &l.DefinitionBytes, &l.DescriptionBytes,
		&l.Depth, &l.SchemaDepth, &l.SchemaNodes, &l.EnumValues, &l.Pages, &l.ToolsPerServer, &l.Tools,
		&l.ListBytes, &l.ResultBytes, &l.ResultValues, &l.EventsPerSecond, &l.PingsPerSecond, &l.Connects,
		&l.CallsPerServer, &l.Calls,
	}
}

// JSON returns all limits as an object, by their names in JavaScript.
func (l Limits) JSON() string {
	text := []byte{'{'}
	for i, field := range l.fields() {
		text = strconv.AppendInt(rawjson.AppendMember(text, wire.Limits[i].Name, nil), int64(*field), 10)
	}
	return string(append(text, '}'))
}

// WithDefaults returns l with every zero field replaced by its default.
func (l Limits) WithDefaults() Limits {
	for i, field := range l.fields() {
		if *field <= 0 {
			*field = wire.Limits[i].Default
		}
	}
	return l
}

// Set sets the limit of that JavaScript name to n, at most 1<<31 - 1. It reports false
// for an unknown name and for n below 1.
func (l *Limits) Set(name string, n int64) bool {
	for i, field := range l.fields() {
		if wire.Limits[i].Name == name && n > 0 {
			*field = int(min(n, 1<<31-1))
			return true
		}
	}
	return false
}

// objectNames are the names that every JavaScript object has. A page shows servers as an
// object by name.
var objectNames = []string{
	"__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor",
	"hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
}

// CheckName says whether name can name a server: 1 to 64 characters, no control characters,
// and no name that every JavaScript object has.
func CheckName(name string) error {
	if name == "" {
		return Because(ErrInvalidConfig, "the server's name is empty")
	}
	if len([]rune(name)) > wire.MaxServerName {
		return Because(ErrInvalidConfig, "the server's name is longer than 64 characters")
	}
	if slices.Contains(objectNames, name) {
		return Because(ErrInvalidConfig, "the server's name is one that every JavaScript object has; choose another")
	}
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return Because(ErrInvalidConfig, "the server's name holds a control character")
		}
	}
	return nil
}

// Check says what is wrong with the configuration, or nil. It does not reach out.
func (c ServerConfig) Check() error {
	if err := checkURL(c.URL); err != nil && c.URL != Demo {
		return err
	}
	if wrong := notOneOf("transport", c.Transport, wire.Transports); wrong != "" {
		return Because(ErrInvalidConfig, wrong)
	}
	if wrong := notOneOf("trust", c.Trust, wire.TrustPolicies); wrong != "" {
		return Because(ErrInvalidConfig, wrong)
	}
	headers := map[string]bool{}
	for name, value := range c.Headers {
		if err := checkHeader(name, value); err != nil {
			return err
		}
		name = text.Lower(name)
		if headers[name] {
			return Because(ErrInvalidConfig, `header "`+name+`" is configured twice, in names that differ in case only`)
		}
		headers[name] = true
	}
	if err := c.Auth.check(); err != nil {
		return err
	}
	if err := checkOverrides(c.Overrides); err != nil {
		return err
	}
	if c.Timeout < 0 {
		return Because(ErrInvalidConfig, "timeout is negative")
	}
	return nil
}

// notOneOf says that a field holds none of its words, or "". An empty field is the default.
func notOneOf(field, value string, words []string) string {
	if value == "" || slices.Contains(words, value) {
		return ""
	}
	last := len(words) - 1
	return field + ` is "` + value + `"; want "` + strings.Join(words[:last], `", "`) + `" or "` + words[last] + `"`
}

func (c *ServerConfig) clone() ServerConfig {
	d := *c
	d.Headers = maps.Clone(c.Headers)
	d.AllowTools = slices.Clone(c.AllowTools)
	d.DenyTools = slices.Clone(c.DenyTools)
	d.MissingHeaders = slices.Clone(c.MissingHeaders)
	d.Overrides = slices.Clone(c.Overrides)
	return d
}

// sameEndpoint reports whether a session for c serves d as well.
func (c *ServerConfig) sameEndpoint(d *ServerConfig) bool {
	return c.URL == d.URL && c.Proxy == d.Proxy && c.ProxyAuto == d.ProxyAuto && c.Transport == d.Transport &&
		maps.Equal(c.Headers, d.Headers) && c.Auth.Equal(d.Auth)
}

// offers reports whether the configuration lets the tool with that raw name through.
func (c *ServerConfig) offers(tool string) bool {
	if c.AllowTools != nil && !slices.Contains(c.AllowTools, tool) {
		return false
	}
	return !slices.Contains(c.DenyTools, tool)
}

// checkURL is a first look that needs no URL parser (net/url weighs 175 KB in
// the module): the transport parses the URL for good.
func checkURL(url string) error {
	scheme, rest, ok := strings.Cut(url, "://")
	scheme = text.Lower(scheme)
	if !ok || scheme != "http" && scheme != "https" {
		return Because(ErrInvalidConfig, "url must start with https:// or http:// (or be "+Demo+")")
	}
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	host, _, _ = strings.Cut(host, "#")
	if host == "" || host[0] == ':' {
		return Because(ErrInvalidConfig, "url has no host")
	}
	if strings.Contains(host, "@") {
		return Because(ErrInvalidConfig, "url holds a user name or password; use an Authorization header")
	}
	for _, r := range url {
		if r <= ' ' || r == 0x7f || r == '\\' {
			return Because(ErrInvalidConfig, "url holds a space, a control character or a backslash")
		}
	}
	return nil
}

func checkHeader(name, value string) error {
	if name == "" {
		return Because(ErrInvalidConfig, "a header has no name")
	}
	if !text.IsToken(name) {
		return Because(ErrInvalidConfig, `header name "`+name+`" holds a character that HTTP does not allow`)
	}
	if slices.Contains(wire.ForbiddenHeaders, text.Lower(name)) {
		return Because(ErrInvalidConfig, `header "`+name+`" is set by the protocol and cannot be configured`)
	}
	for i := 0; i < len(value); i++ {
		if b := value[i]; b < ' ' && b != '\t' || b >= 0x7f {
			return Because(ErrInvalidConfig, `the value of header "`+name+`" holds a character that is not printable ASCII`)
		}
	}
	return nil
}

// checkOverrides says what of [ServerConfig.Overrides] is not sound, or nil.
func checkOverrides(overrides []byte) error {
	fail := func(detail string) error { return Because(ErrInvalidConfig, "overrides"+detail) }
	if overrides == nil {
		return nil
	}
	if len(overrides) > wire.MaxOverrides {
		return fail(" has more than " + strconv.Itoa(wire.MaxOverrides) + " bytes")
	}
	if rawjson.Kind(overrides) != 'o' {
		return fail(" is not an object")
	}
	var taken []string
	return rawjson.Members(overrides, func(tool string, override []byte) error {
		where := "." + text.Quote(tool)
		if rawjson.Kind(override) != 'o' {
			return fail(where + " is not an object")
		}
		return rawjson.Members(override, func(field string, value []byte) error {
			kind, want := rawjson.Kind(value), byte('s')
			switch field {
			case "name":
				name, _ := rawjson.String(value)
				if slices.Contains(taken, name) || name == "" || len(name) > wire.MaxOverrideName {
					return fail(where + ".name is empty, too long, or another one's too")
				}
				taken = append(taken, name)
			case "title", "description":
			case "hideParams":
				want = 'a'
			case "fixed":
				want = 'o'
			default:
				return fail(where + " has the unknown field " + field + "; known are " + strings.Join(wire.OverrideFields[:], ", "))
			}
			if kind != want {
				return fail(where + "." + field + " is not " + rawjson.KindName(want))
			}
			return nil
		})
	})
}

// renames returns the names that overrides give tools, by the server's own names.
func (c *ServerConfig) renames() map[string]string {
	renames := map[string]string{}
	rawjson.Members(c.Overrides, func(tool string, override []byte) error {
		if name := rawjson.Text(override, "name"); name != "" {
			renames[tool] = name
		}
		return nil
	})
	return renames
}

// checkNames says which override takes the name of another tool of the list, or nil.
func (c *ServerConfig) checkNames(server string, listed []Tool) error {
	renames := c.renames()
	if len(renames) == 0 {
		return nil
	}
	taken := map[string]string{}
	for i := range listed {
		tool := listed[i].RawName
		name := modelName(server, tool, renames)
		if other, ok := taken[name]; ok {
			return Because(ErrInvalidConfig, text.Quote(other)+" and "+text.Quote(tool)+" would have the name "+name)
		}
		taken[name] = tool
	}
	return nil
}

// modelName returns the name of a tool for models.
func modelName(server, tool string, renames map[string]string) string {
	if name := renames[tool]; name != "" {
		tool = name
	}
	return names.Tool(server, tool)
}

// overrideArguments returns what the server gets of the arguments that a model wrote.
func overrideArguments(override, args []byte) []byte {
	fixed := rawjson.Get(override, "fixed")
	hidden := rawjson.Strings(rawjson.Get(override, "hideParams"))
	if fixed == nil && hidden == nil {
		return args
	}
	out := []byte{'{'}
	add := func(key string, value []byte) error {
		out = rawjson.AppendMember(out, key, value)
		return nil
	}
	err := rawjson.Members(args, func(key string, value []byte) error {
		if rawjson.Get(fixed, key) != nil || slices.Contains(hidden, key) {
			return nil
		}
		return add(key, value)
	})
	if err != nil {
		return args // the check of arguments says what is wrong
	}
	rawjson.Members(fixed, add)
	return append(out, '}')
}
