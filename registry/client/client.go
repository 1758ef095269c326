package client

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client/corsproxy"
	"github.com/portolan-mcp/portolan/registry/oauth"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// Options say how a [Client] connects. The zero value is the good default.
type Options struct {
	// Limits bound what one server can make the platform hold or do.
	Limits registry.Limits
	// Elicit asks the user on behalf of a server by a form; nil does not announce the capability.
	Elicit registry.Elicit
	// ElicitURL asks the user to open an address on behalf of a server; nil does not
	// announce the capability. The answer accept says that the address was opened. With the
	// member awaitsEnd in the params it says that the user is done there.
	ElicitURL registry.Elicit
	// Sample has the host's model answer sampling/createMessage of a server, once its user
	// allows it. params are those of the request with the member mode "sampling". The answer
	// is a CreateMessageResult. nil does not announce the capability. Servers from 2026-07-28
	// on never learn of it. A server may send 5 requests in a minute.
	Sample registry.Elicit
	// SampleTools announces that Sample can offer the model tools of the request.
	SampleTools bool
	// Apps announces that the host shows the apps of tools (io.modelcontextprotocol/ui), and
	// lets tools for apps only through. Without it they are dropped.
	Apps bool
	// Roots are the user's folders for servers of the versions until 2025-11-25. nil does
	// not announce the capability. See [Client.SetRoots].
	Roots []registry.Root
	// ElicitTime bounds the time of a question; 10 minutes if 0. Then the server gets cancel.
	ElicitTime time.Duration
	// Validate checks the content of an answer against the schema of its question; nil
	// leaves that to Elicit.
	Validate func(schema, content []byte) error
	// Proxy is where requests of servers with Proxy set go: a template such as
	// "https://proxy.example/?url={href}". {href} becomes the percent-encoded
	// URL. "" sends them directly.
	Proxy string
	// ClientName and ClientVersion introduce the client; "portolan" and "0" if empty.
	ClientName, ClientVersion string
	// OAuth signs people in; nil: nobody can, and a 401 is an error.
	OAuth *oauth.Client
	// Hints is what is known of endpoints from earlier; nil starts without.
	Hints *Hints
	// Early are endpoint URLs whose first request the platform has sent already. The
	// request of the URL at index i has the id 4 * (i + 1). The client sends the same
	// request, and the platform gives it the response.
	Early []string
}

// A Client opens sessions over one [Platform].
type Client struct {
	platform Platform
	opts     Options
	hints    *Hints
	budget   *budget
	passes   proxyPasses

	impl         []byte // the Implementation object that introduces the client
	capabilities []byte // the ClientCapabilities for versions until 2025-11-25
	meta         []byte // what each modern request carries, as members
	groups       atomic.Uint32

	mu      sync.Mutex
	lastID  uint32
	early   map[string]uint32      // ids of Options.Early that are not used yet
	waiting map[int64]*mailbox     // for the events of exchanges, by id
	live    map[*Session]struct{}  // sessions that have not ended
	roots   []byte                 // as the spec lists them; nil: not announced
	samples map[string][]time.Time // of each server, the last ones
}

// New returns a client over p, which nothing else uses.
func New(p Platform, opts *Options) *Client {
	c := &Client{
		platform: p, budget: newBudget(), waiting: map[int64]*mailbox{}, live: map[*Session]struct{}{},
		samples: map[string][]time.Time{},
	}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.Limits = c.opts.Limits.WithDefaults()
	c.early = make(map[string]uint32, len(c.opts.Early))
	for _, url := range c.opts.Early {
		c.lastID += opStep
		c.early[url] = c.lastID
	}
	if c.hints = c.opts.Hints; c.hints == nil {
		c.hints = &Hints{}
	}
	if c.opts.ClientName == "" {
		c.opts.ClientName = "portolan"
	}
	if c.opts.ElicitTime <= 0 {
		c.opts.ElicitTime = 10 * time.Minute
	}
	if c.opts.ClientVersion == "" {
		c.opts.ClientVersion = "0"
	}
	p.Join(c.opts.Limits, c)
	asks := []byte(capabilities(c.opts.Elicit != nil, c.opts.ElicitURL != nil))
	older := c.olderCapabilities()
	if c.opts.Apps {
		older = joinMembers(older, []byte(`"extensions":{`+appsExtension+`}`))
	}
	c.capabilities = object(joinMembers(asks, older))
	c.impl = object(member(member(nil, "name", c.opts.ClientName), "version", c.opts.ClientVersion))
	c.meta = member(nil, metaVersion, modern)
	c.meta = rawjson.AppendMember(c.meta, "io.modelcontextprotocol/clientInfo", c.impl)
	modernCapabilities := object(joinMembers(asks, []byte(c.extensions())))
	c.meta = rawjson.AppendMember(c.meta, "io.modelcontextprotocol/clientCapabilities", modernCapabilities)
	return c
}

// appsExtension is the member of the extensions of a host that shows apps (MCP Apps, 2026-01-26).
const appsExtension = `"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}`

// extensions is the member of ClientCapabilities from 2026-07-28 on.
func (c *Client) extensions() string {
	if c.opts.Apps {
		return `"extensions":{` + tasksExtension + `,` + appsExtension + `}`
	}
	return `"extensions":{` + tasksExtension + `}`
}

// capabilities is the member of ClientCapabilities of a host that can put forms to its
// user, or addresses.
func capabilities(form, url bool) string {
	switch {
	case form && url:
		return `"elicitation":{"form":{},"url":{}}`
	case form:
		return `"elicitation":{"form":{}}`
	case url:
		return `"elicitation":{"url":{}}`
	}
	return ""
}

// olderCapabilities are the members of ClientCapabilities that 2026-07-28 deprecates
// (SEP-2577). Roots that are not valid are announced as an empty list.
func (c *Client) olderCapabilities() (members []byte) {
	if c.opts.Roots != nil {
		var err error
		if c.roots, err = rootList(c.opts.Roots); err != nil {
			c.roots = []byte("[]")
		}
		members = rawjson.AppendMember(members, "roots", []byte(`{"listChanged":true}`))
	}
	switch {
	case c.opts.Sample != nil && c.opts.SampleTools:
		members = rawjson.AppendMember(members, "sampling", []byte(`{"tools":{}}`))
	case c.opts.Sample != nil:
		members = rawjson.AppendMember(members, "sampling", []byte(`{}`))
	}
	return members
}

const metaVersion = "io.modelcontextprotocol/protocolVersion"

func object(members []byte) []byte {
	return append(append([]byte{'{'}, members...), '}')
}

// Connect opens a session; it is a [registry.Connect].
func (c *Client) Connect(ctx context.Context, name string, cfg registry.ServerConfig, notify registry.Notify) (registry.Session, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.URL == registry.Demo { // which the platform itself answers
		cfg.Proxy, cfg.ProxyAuto, cfg.Transport = false, false, ""
	}
	d := &dial{c: c, name: name, cfg: cfg, notify: notify}
	if d.notify == nil {
		d.notify = func(registry.Notice) {}
	}
	var ok bool
	if d.href, d.home, ok = c.platform.Resolve(cfg.URL, ""); !ok {
		return nil, registry.Because(registry.ErrInvalidConfig, "url cannot be parsed")
	}
	d.origin = d.home
	d.auth = c.signInOf((*oauth.Client).Server, name, d.href, cfg)
	for key, value := range cfg.Headers {
		d.headers = append(d.headers, key, value)
	}
	if cfg.Proxy {
		if err := d.throughProxy(); err != nil {
			return nil, err
		}
	}
	connect := d.connect
	if cfg.ProxyAuto && !d.proxied && c.opts.Proxy != "" {
		connect = d.connectSomehow
	}
	s, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// A dial is one attempt to connect: what all sessions that it tries share.
type dial struct {
	c       *Client
	name    string
	cfg     registry.ServerConfig
	notify  registry.Notify
	href    string        // the endpoint, normalized
	home    string        // the endpoint's origin
	origin  string        // the origin that requests go to
	headers []string      // the configured ones
	auth    *oauth.Server // nil: the headers have the credentials
	proxied bool          // requests go through the proxy
	silent  bool          // the first discover had no answer in its time
	// sessionID is the last that the server gave.
	sessionID atomic.Pointer[string]
}

// via is the URL to fetch for href: href itself or the proxy's.
func (d *dial) via(href string) string {
	if !d.proxied {
		return href
	}
	through, _ := corsproxy.URL(d.c.opts.Proxy, href) // throughProxy has seen that it works
	return through
}

// remember notes what worked, except of the demo: no round trips can be saved there.
func (s *Session) remember() {
	d := s.d
	if d.href == registry.Demo {
		return
	}
	s.mu.Lock()
	hint := Hint{s.info.Transport, s.info.ProtocolVersion, s.info.ListChanged, d.proxied && d.cfg.ProxyAuto}
	s.mu.Unlock()
	d.c.hints.set(d.href, hint)
}

func (d *dial) forget() { d.c.hints.set(d.href, Hint{}) }

// The bounds of what a server says of itself.
const (
	maxServerWord   = 256
	maxServerText   = 1 << 10
	maxServerIcons  = 8
	maxIcon         = 4 << 10
	maxInstructions = 16 << 10
	maxCapabilities = 16 << 10
)

func (d *dial) word(object []byte, key string, most int) string {
	return d.plain(rawjson.Text(object, key), most)
}

// implementation reads an Implementation. Parts that are no such are left out.
func (d *dial) implementation(server []byte) registry.Implementation {
	i := registry.Implementation{
		Name:        d.word(server, "name", maxServerWord),
		Version:     d.word(server, "version", maxServerWord),
		Title:       d.word(server, "title", maxServerWord),
		Description: d.word(server, "description", maxServerText),
		WebsiteURL:  d.address(server, "websiteUrl", maxServerText, "https://", "http://"),
	}
	_ = rawjson.Elements(rawjson.Get(server, "icons"), func(b []byte) error {
		src := d.address(b, "src", maxIcon, "https://", "data:image/")
		if len(i.Icons) == maxServerIcons || src == "" {
			return nil
		}
		icon := registry.Icon{Src: src, MIMEType: d.word(b, "mimeType", maxServerWord), Theme: d.word(b, "theme", maxServerWord)}
		for _, size := range rawjson.Strings(rawjson.Get(b, "sizes")) {
			if len(icon.Sizes) < maxServerIcons {
				icon.Sizes = append(icon.Sizes, d.plain(size, maxServerWord))
			}
		}
		i.Icons = append(i.Icons, icon)
		return nil
	})
	return i
}

// address reads a URL that begins in one of the ways and has printable ASCII only, or "".
func (d *dial) address(object []byte, key string, most int, begins ...string) string {
	url, known := rawjson.Text(object, key), false
	for _, b := range begins {
		known = known || strings.HasPrefix(url, b)
	}
	if !known || !text.IsVisible(url) || len(url) > most || d.redact(url) != url {
		return ""
	}
	return url
}

// negotiated takes what InitializeResult and DiscoverResult have in common.
func (s *Session) negotiated(version string, result, server []byte) {
	info := registry.SessionInfo{
		Transport:       "streamable-http",
		ProtocolVersion: version,
		Server:          s.d.implementation(server),
		Instructions:    strings.Trim(s.d.words(rawjson.Text(result, "instructions"), maxInstructions), " \t\r\n"),
	}
	if s.sse {
		info.Transport = "sse"
	}
	info.Capabilities = capabilitiesOf(result)
	s.tasks = info.Capabilities.Has("tasks", "requests", "tools", "call")
	info.ListChanged = info.Capabilities.Has("tools", "listChanged")
	s.mu.Lock()
	s.info = info
	s.mu.Unlock()
}
