package proxy

import (
	"errors"
	"slices"
	"strconv"
	"strings"
)

// originOf returns an Origin header's value. It is ok for the form that browsers send:
// scheme://host[:port] in canonical form, or the origin of an extension. "null" is not ok.
func originOf(header string) (string, bool) {
	if id, ok := strings.CutPrefix(header, "chrome-extension://"); ok {
		return header, len(id) == 32 && strings.Trim(id, "abcdefghijklmnop") == ""
	}
	if id, ok := strings.CutPrefix(header, "moz-extension://"); ok {
		return header, isUUID(id)
	}
	t, refused := parseTarget(header)
	return header, refused == nil && t.url == header+"/"
}

func isUUID(s string) bool {
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && strings.IndexByte("0123456789abcdef", s[i]) < 0 {
			return false
		}
	}
	return len(s) == 36
}

// An originPattern is one of Config.Origins.
type originPattern struct {
	exact               string // "" with wildcards
	of                  target
	subdomains, anyPort bool
}

func parseOriginPattern(text string) (originPattern, error) {
	var p originPattern
	scheme, host, _ := strings.Cut(strings.ToLower(text), "://")
	host, p.subdomains = strings.CutPrefix(host, "*.")
	host, p.anyPort = strings.CutSuffix(host, ":*")
	origin := scheme + "://" + host
	if p.anyPort {
		origin += ":1" // stands for any port, and refuses a second one
	}
	_, ok := originOf(origin)
	if p.subdomains || p.anyPort {
		p.of, _ = parseTarget(origin) // fails for extensions
		ok = ok && p.of.host != "" && (!p.subdomains || isDomain(p.of))
	} else {
		p.exact = origin
	}
	if !ok {
		return originPattern{}, errors.New(`"` + text +
			`" is not an origin that can be allowed: write https://ide.example, https://*.example.com, ` +
			`http://localhost:* or chrome-extension://…, without a path, a final slash or the scheme's own port`)
	}
	return p, nil
}

func (p originPattern) matches(origin string) bool {
	if p.of.host == "" {
		return origin != "" && origin == p.exact
	}
	if _, ok := originOf(origin); !ok {
		return false
	}
	t, _ := parseTarget(origin)
	return t.scheme == p.of.scheme && isUnder(t.host, p.of.host, p.subdomains) && (p.anyPort || t.port == p.of.port)
}

// A hostPattern is one of Config.Hosts.
type hostPattern struct {
	any, subdomains bool
	host            string
	port            int // 0 means those of Config.Ports
}

func parseHostPattern(text string) (hostPattern, error) {
	if text == "*" {
		return hostPattern{any: true}, nil
	}
	name, subdomains := strings.CutPrefix(text, "*.")
	t, refused := parseTarget("https://" + name)
	if refused != nil || strings.ContainsAny(name, "/?#") || subdomains && !isDomain(t) {
		return hostPattern{}, errors.New(`"` + text +
			`" is not a host that can be allowed: write mcp.example.com, mcp.example.com:8443, *.example.com or *`)
	}
	p := hostPattern{subdomains: subdomains, host: t.host}
	if strings.HasSuffix(name, ":"+strconv.Itoa(t.port)) {
		p.port = t.port
	}
	return p, nil
}

func (p hostPattern) matches(t target) bool {
	return p.any || isUnder(t.host, p.host, p.subdomains) && (p.port == 0 || p.port == t.port)
}

// isUnder reports whether host is the domain, or with subdomains a subdomain of it. The
// pattern "*.example.com" does not match example.com.
func isUnder(host, domain string, subdomains bool) bool {
	if subdomains {
		return strings.HasSuffix(host, "."+domain)
	}
	return host == domain
}

// isDomain reports whether "*." may stand before the host. An address and "com" refuse it.
func isDomain(t target) bool {
	return !t.ip.IsValid() && (strings.Contains(t.host, ".") || slices.Contains(localDomains, t.host))
}
