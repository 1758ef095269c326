package registry

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/portolan-mcp/portolan/registry/approvals"
	"github.com/portolan-mcp/portolan/registry/convert"
	"github.com/portolan-mcp/portolan/registry/text"
)

// Statuses of a registry: nothing discovered yet; a Discover under way; all
// enabled servers have a list; some have none, or are in error.
const (
	StatusIdle        = "idle"
	StatusDiscovering = "discovering"
	StatusReady       = "ready"
	StatusPartial     = "partial"
)

// A Snapshot is the whole state at one moment. It is never changed; a later
// state has a higher Version.
type Snapshot struct {
	Status  string
	Version uint64
	Servers map[string]ServerState
	Tools   []Tool
	Held    []Tool // that wait for ApproveTools
}

// A ServerState is one server in a Snapshot.
type ServerState struct {
	ServerHealth
	Config ServerConfig // with header values: redact before showing
}

// A ServerHealth is the state of one server.
type ServerHealth struct {
	Status              string // a Status constant of servers
	Suspended           bool
	ToolCount           int // tools offered
	ToolTotal           int // tools listed, before the configuration's filter
	HeldCount           int // tools held until they are approved
	Transport           string
	ProtocolVersion     string
	Server              Implementation // what the server says of itself, untrusted
	LastSuccessful      time.Time      // zero: never
	LastConnected       time.Time      // zero: never
	LastError           string
	ErrorCode           string // Explanation.Code of the last error, or ""
	Hint                string // what to do about it
	ConsecutiveFailures int
	RetryAt             time.Time     // zero unless suspended
	Latency             time.Duration // of the last list or call; 0: unknown
	// Instructions and Capabilities are what the server said of itself, once it was asked.
	// HeldInstructions wait for [Registry.ApproveInstructions].
	Instructions, HeldInstructions string
	Capabilities                   Capabilities
	// Resources, Templates and Prompts are the lengths of these lists; nil if a list was not
	// asked for, or has changed since.
	Resources, Templates, Prompts *int
	Warnings                      []string // what the last list left out, and why
	SignIn                        string   // SignInNeeded, SignedIn or ""
	SignInHost                    string   // the authorization server's, if known
}

// A Tool is one tool that models can call.
type Tool struct {
	Name    string      // what models call it; see ToolName
	Server  string      // the server that offers it
	RawName string      // the server's own name for it
	Def     Payload     // the whole Tool object of the spec, without hidden text
	Pin     string      // the digest that is approved; see package pin
	Flags   []text.Flag // of the hidden text
	// Withheld says that the server's configuration leaves the tool out: models
	// may not call it. Only a Filter that asks for such tools gets them.
	Withheld bool
	// AppOnly says that only the server's own apps may call the tool; see [Call.App]. Such a
	// tool is withheld.
	AppOnly bool
	// Hold, if not nil, says why models may not call the tool before it is approved.
	Hold *approvals.Hold

	listed   bool // in the table of names
	renamed  bool // an override gave the name
	harmless bool // Def is a Risky, and was found not to be
	endpoint string
}

// Endpoint returns the key of [PinStore] to which the tool's approval is bound; "" before a review.
func (t *Tool) Endpoint() string { return t.endpoint }

// Digest returns the part of the pin that decides whether the tool is as approved.
func (t *Tool) Digest() string { return approvals.Digest(t.Pin) }

func (r *Registry) heldTools() (held []Tool) {
	r.eachTool(Filter{Held: true}, func(t *Tool) {
		if t.Hold != nil {
			held = append(held, *t)
		}
	})
	return held
}

// Health returns the state of one server.
func (r *Registry) Health(name string) (h ServerHealth, known bool) {
	r.mu.Lock()
	s := r.servers[name]
	if s != nil {
		h = r.health(s)
	}
	r.mu.Unlock()
	return h, s != nil
}

// Config returns a server's configuration, header values included.
func (r *Registry) Config(name string) (cfg ServerConfig, known bool) {
	r.mu.Lock()
	s := r.servers[name]
	if s != nil {
		cfg = s.cfg.clone()
	}
	r.mu.Unlock()
	return cfg, s != nil
}

func (r *Registry) health(s *server) ServerHealth {
	h := ServerHealth{
		Status: s.status(), Suspended: s.breaker.suspended,
		ToolCount: s.offered, ToolTotal: len(s.listed), HeldCount: s.held,
		Transport: s.info.Transport, ProtocolVersion: s.info.ProtocolVersion,
		Server:         s.info.Server,
		LastSuccessful: s.lastSuccess, LastConnected: s.lastConnected,
		LastError: s.lastError, ConsecutiveFailures: s.breaker.failures,
		RetryAt: s.breaker.retryAt, Latency: s.latency, Warnings: s.warned(),
	}
	h.Instructions, h.HeldInstructions, h.Capabilities = s.instructions, s.heldInstructions, s.info.Capabilities
	now := r.opts.Clock()
	h.Resources, h.Templates, h.Prompts = s.count(resourceList, now), s.count(templateList, now), s.count(promptList, now)
	if s.failure != nil {
		x := Explain(s.failure)
		h.ErrorCode, h.Hint = x.Code, x.Hint
	}
	if r.opts.SignIns != nil {
		h.SignIn, h.SignInHost = r.opts.SignIns.SignInState(s.name, s.cfg)
	}
	return h
}

// warned returns the warnings of the last lists, of missing secrets and of dropped messages.
func (s *server) warned() []string {
	warnings := append(s.warnings[:len(s.warnings):len(s.warnings)], s.taken...)
	if a := s.cfg.Auth; a != nil {
		for _, name := range a.Missing {
			warnings = append(warnings, "auth."+name+" was not stored; set it again")
		}
	}
	for i := range s.offers {
		warnings = append(warnings, s.offers[i].warnings...)
	}
	if s.dropped > 0 {
		warnings = append(warnings, strconv.Itoa(s.dropped)+" messages that came too fast were dropped")
	}
	return warnings
}

// Snapshot returns the current state. Two calls without a change between them
// return the same pointer.
func (r *Registry) Snapshot() *Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.snapshot == nil {
		snap := &Snapshot{
			Status: r.status(), Version: r.version,
			Servers: make(map[string]ServerState, len(r.servers)),
			Tools:   r.visibleTools(Filter{}),
			Held:    r.heldTools(),
		}
		for name, s := range r.servers {
			snap.Servers[name] = ServerState{r.health(s), s.cfg.clone()}
		}
		r.snapshot = snap
	}
	return r.snapshot
}

// Status returns the registry's own status and version, without a whole Snapshot.
func (r *Registry) Status() (status string, version uint64) {
	r.mu.Lock()
	status, version = r.status(), r.version
	r.mu.Unlock()
	return status, version
}

func (r *Registry) status() string {
	switch {
	case r.discovering > 0:
		return StatusDiscovering
	case !r.discovered:
		return StatusIdle
	}
	for _, s := range r.servers {
		if !s.cfg.Disabled && (s.failure != nil || s.refreshedAt.IsZero()) {
			return StatusPartial
		}
	}
	return StatusReady
}

// A Filter chooses tools. Empty fields choose all. Include and Exclude hold
// model names; a trailing * stands for any rest.
type Filter struct {
	Servers []string
	Include []string
	Exclude []string
	// Withheld adds the tools that their servers' configurations leave out.
	Withheld bool
	// Held adds the tools that wait for their approval.
	Held bool
}

func (f Filter) admits(t *Tool) bool {
	return (len(f.Include) == 0 || matches(f.Include, t.Name)) && !matches(f.Exclude, t.Name)
}

func matches(patterns []string, name string) bool {
	for _, p := range patterns {
		if prefix, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(name, prefix) || p == name {
			return true
		}
	}
	return false
}

// Tools returns the tools that models may call now: those of enabled servers
// that are not suspended, by server name and then in the server's own order.
func (r *Registry) Tools(f Filter) (tools []Tool) {
	r.mu.Lock()
	tools = r.visibleTools(f)
	r.mu.Unlock()
	return tools
}

// EachTool calls visit for each of [Registry.Tools], in place of a copy of the list. visit
// must not call the registry or keep the pointer.
func (r *Registry) EachTool(f Filter, visit func(*Tool)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.eachTool(f, visit)
}

func (r *Registry) visibleTools(f Filter) (tools []Tool) {
	r.eachTool(f, func(t *Tool) { tools = append(tools, *t) })
	return tools
}

func (r *Registry) eachTool(f Filter, visit func(*Tool)) {
	servers := f.Servers
	if len(servers) != 1 {
		servers = text.Keys(r.servers)
	}
	for _, name := range servers {
		s := r.servers[name]
		if s == nil || !s.visible() || len(f.Servers) > 0 && !slices.Contains(f.Servers, name) {
			continue
		}
		for i := range s.listed {
			if t := &s.listed[i]; (f.Withheld || !t.Withheld) && (f.Held || t.Hold == nil) && f.admits(t) {
				visit(t)
			}
		}
	}
}

// Export writes the tools that pass the filter as one JSON array in a dialect,
// in the order of [Registry.Tools]. The report names what the dialect could not
// express, and each tool that is left out because its list was replaced meanwhile.
// For an unknown dialect the array is nil, and the report's one loss says why.
func (r *Registry) Export(d convert.Dialect, f Filter) ([]byte, convert.Report) {
	var report convert.Report
	if err := d.Check(); err != nil {
		report.Losses = []convert.Loss{{What: err.Error()}}
		return nil, report
	}
	out := []byte{'['}
	for _, t := range r.Tools(f) {
		def, err := t.Def.JSON()
		if err != nil {
			report.Losses = append(report.Losses, convert.Loss{Tool: t.Name, What: "tool: left out, its list was replaced"})
			continue
		}
		tool, losses, err := convert.Tool(d, t.Name, t.Server, def)
		if err != nil {
			report.Losses = append(report.Losses, convert.Loss{Tool: t.Name, What: "tool: left out, " + err.Error()})
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, tool...)
		report.Losses = append(report.Losses, losses...)
	}
	return append(out, ']'), report
}
