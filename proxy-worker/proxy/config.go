package proxy

import (
	"errors"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Config has the settings of an operator. The zero Config is closed: it refuses everything.
type Config struct {
	// Origins are the origins that may use the proxy: exact ones ("https://ide.example",
	// "chrome-extension://…"), "https://*.example.com" for subdomains, and
	// "http://localhost:*" for any port. No pattern allows all origins.
	Origins []string
	// Hosts are the permitted servers: "mcp.example.com", "*.example.com" for
	// subdomains, or "*" for all public ones. "*" needs Keys, unless Private is set.
	Hosts []string
	// Keys are the caller keys. A caller sends any of them as X-Portolan-Key.
	Keys []string
	// BindingKeys sign bindings if there is neither a ticket key nor a caller key. A
	// single process may make one at each start.
	BindingKeys []string
	// TicketKeys sign tickets and bindings: the first signs, all verify.
	TicketKeys []string
	// SealKeys open sealed headers: the first seals, all open.
	SealKeys []string
	// MetricsKeys open GET /metrics. Without one there is no such page.
	MetricsKeys []string
	// OnRefusal, if not nil, gets each refusal that is noted, for a security log. It may be
	// called from several goroutines at once.
	OnRefusal func(Outcome)
	// Ports are the ports of targets. None means 443 and 8443, with HTTP also 80, and with
	// Private any. 0 means any.
	Ports []int
	// HTTP allows http targets, and Private allows private and loopback addresses. Both
	// are for local development.
	HTTP, Private bool

	// MaxRequest and MaxResponse are in bytes; 0 means 50 MiB and 100 MiB. They do not
	// apply to event streams. MaxStreams is per caller; 0 means 32.
	MaxRequest, MaxResponse int64
	MaxStreams              int
	// MaxPerMinute limits the requests in a minute of one origin and caller to one
	// server, in [Policy.Handler]; 0 means 600. A Worker has a binding for it.
	MaxPerMinute int
	// TrustedProxies are reverse proxies before [Policy.Handler]. The last address of X-Forwarded-For that is none of
	// them is the caller's.
	TrustedProxies []netip.Prefix
	// FirstByte bounds the time until a server's response begins; 0 means 60 s.
	FirstByte time.Duration
}

// Env reads a Config from environment variables: lists are separated by commas
// or spaces.
//
//	ALLOWED_ORIGINS ALLOWED_HOSTS ALLOWED_PORTS CALLER_KEYS TICKET_KEYS SEAL_KEYS METRICS_KEYS
//	ALLOW_HTTP ALLOW_PRIVATE MAX_REQUEST_BYTES MAX_RESPONSE_BYTES MAX_STREAMS FIRST_BYTE_SECONDS
//	MAX_REQUESTS_PER_MINUTE TRUSTED_PROXIES
func Env(get func(name string) string) (Config, error) {
	var problems []error
	list := func(name string) []string { return List(get(name)) }
	number := func(name string) int64 {
		text := strings.TrimSpace(get(name))
		if text == "" {
			return 0
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n <= 0 {
			problems = append(problems, errors.New(name+" is not a positive number"))
		}
		return n
	}
	flag := func(name string) bool {
		on, err := Flag(get, name)
		problems = append(problems, err)
		return on
	}
	cfg := Config{
		Origins: list("ALLOWED_ORIGINS"), Hosts: list("ALLOWED_HOSTS"), Keys: list("CALLER_KEYS"),
		TicketKeys: list("TICKET_KEYS"), SealKeys: list("SEAL_KEYS"), MetricsKeys: list("METRICS_KEYS"),
		HTTP: flag("ALLOW_HTTP"), Private: flag("ALLOW_PRIVATE"),
		MaxRequest: number("MAX_REQUEST_BYTES"), MaxResponse: number("MAX_RESPONSE_BYTES"),
		MaxStreams: int(number("MAX_STREAMS")), MaxPerMinute: int(number("MAX_REQUESTS_PER_MINUTE")),
		FirstByte: time.Duration(number("FIRST_BYTE_SECONDS")) * time.Second,
	}
	for _, port := range list("ALLOWED_PORTS") {
		n, err := strconv.ParseUint(port, 10, 16)
		if port == "*" {
			n, err = 0, nil
		} else if n == 0 {
			err = strconv.ErrRange // it would allow any port
		}
		if err != nil {
			problems = append(problems, errors.New("ALLOWED_PORTS has a value that is not a port"))
			continue
		}
		cfg.Ports = append(cfg.Ports, int(n))
	}
	for _, text := range list("TRUSTED_PROXIES") {
		network, err := Network(text)
		if err != nil {
			problems = append(problems, errors.New("TRUSTED_PROXIES has a value that is neither an address nor a network"))
			continue
		}
		cfg.TrustedProxies = append(cfg.TrustedProxies, network)
	}
	return cfg, errors.Join(problems...)
}

// Flag reads an environment variable that is true or false.
func Flag(get func(name string) string, name string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(get(name))) {
	case "1", "true", "yes", "on":
		return true, nil
	case "", "0", "false", "no", "off":
		return false, nil
	}
	return false, errors.New(name + " is neither true nor false")
}

// List returns the values of a list in an environment variable.
func List(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// minKey is the least length of a key, in bytes: 128 bits in base64.
const minKey = 22

// A Policy is a Config that was checked. Its methods may be called from several
// goroutines at once.
type Policy struct {
	cfg     Config
	origins []originPattern
	hosts   []hostPattern
	keys    [][32]byte // digests
	// metricsKeys are digests, too.
	metricsKeys [][32]byte
	tickets     [][]byte
	seals       [][]byte
	// bindings are the keys of bindings. Without one, no binding is made.
	bindings [][]byte

	streams streams
	parsed  parsed
	counts  counts
}

// New checks a configuration and returns its policy. The policy of an incomplete
// configuration refuses everything and says so. A wrong configuration is an error.
func New(cfg Config) (*Policy, error) {
	p := &Policy{cfg: cfg}
	var problems []error
	for _, o := range cfg.Origins {
		pattern, err := parseOriginPattern(o)
		if err != nil {
			problems = append(problems, err)
		}
		p.origins = append(p.origins, pattern)
	}
	for _, h := range cfg.Hosts {
		pattern, err := parseHostPattern(h)
		if err != nil {
			problems = append(problems, err)
		}
		p.hosts = append(p.hosts, pattern)
		if pattern.any && len(cfg.Keys) == 0 && !cfg.Private {
			problems = append(problems, errors.New(`the host "*" makes a relay for everybody: set a caller key too`))
		}
	}
	for _, keys := range []struct {
		name string
		list []string
	}{{"caller", cfg.Keys}, {"ticket", cfg.TicketKeys}, {"seal", cfg.SealKeys}, {"metrics", cfg.MetricsKeys}} {
		for _, k := range keys.list {
			if len(k) < minKey {
				problems = append(problems,
					errors.New("a "+keys.name+" key is shorter than 22 characters; make one with: openssl rand -base64 32"))
			}
		}
	}
	for _, k := range cfg.Keys {
		p.keys = append(p.keys, digest(k))
	}
	for _, k := range cfg.MetricsKeys {
		p.metricsKeys = append(p.metricsKeys, digest(k))
	}
	for _, k := range cfg.TicketKeys {
		p.tickets = append(p.tickets, derive(k, "portolan ticket"))
	}
	for _, k := range slices.Concat(cfg.TicketKeys, cfg.Keys, cfg.BindingKeys) {
		p.bindings = append(p.bindings, derive(k, "portolan binding"))
	}
	for _, k := range cfg.SealKeys {
		p.seals = append(p.seals, derive(k, "portolan seal"))
	}
	orDefault(&p.cfg.MaxRequest, 50<<20)
	orDefault(&p.cfg.MaxResponse, 100<<20)
	orDefault(&p.cfg.MaxStreams, 32)
	orDefault(&p.cfg.MaxPerMinute, 600)
	orDefault(&p.cfg.FirstByte, 60*time.Second)
	p.streams.open = map[string]int{}
	return p, errors.Join(problems...)
}

func orDefault[T int | int64 | time.Duration](v *T, def T) {
	if *v <= 0 {
		*v = def
	}
}

// configured reports whether the policy can let any request through.
func (p *Policy) configured() bool {
	return len(p.origins) > 0 && (len(p.hosts) > 0 || len(p.keys) > 0 || len(p.tickets) > 0)
}

// Network reads an IP address, or a network such as 10.0.0.0/8.
func Network(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return addr.Prefix(addr.BitLen())
	}
	return netip.ParsePrefix(text)
}
