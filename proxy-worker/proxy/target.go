package proxy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxURL bounds a target, in bytes, as common servers do.
const maxURL = 8 << 10

// A target is a server's URL with its parts. WHATWG parsers (of workerd and browsers)
// and net/url read the same parts from url. A text that they may read differently is
// refused, so the checked URL is the one that is sent.
type target struct {
	url          string     // canonical, absolute, without fragment
	scheme, host string     // host: ASCII in lower case, without port and brackets
	port         int        // always filled in
	path, query  string     // as in url: path begins with "/", query has no "?"
	ip           netip.Addr // valid if host is a literal
}

// parseTarget parses a URL. checkTarget decides whether it is permitted.
func parseTarget(raw string) (target, *refusal) {
	if len(raw) > maxURL || hasMisread(raw) {
		return target{}, &targetInvalid
	}
	scheme, rest, absolute := strings.Cut(raw, ":")
	t := target{scheme: strings.ToLower(scheme)}
	switch {
	case t.scheme == "https":
		t.port = 443
	case t.scheme == "http":
		t.port = 80
	case absolute && isScheme(t.scheme):
		return target{}, &schemeRefused
	default:
		return target{}, &targetInvalid
	}
	// WHATWG takes "https:a", "https:/a" and "https:///a" for "https://a".
	rest, absolute = strings.CutPrefix(rest, "//")
	rest, _, _ = strings.Cut(rest, "#")
	authority, rest := cutBefore(rest, "/?")
	if !absolute || authority == "" {
		return target{}, &targetInvalid
	}
	if strings.Contains(authority, "@") {
		return target{}, &userinfoRefused
	}
	if refused := t.readAuthority(authority); refused != nil {
		return target{}, refused
	}
	t.path, t.query, _ = strings.Cut(rest, "?")
	if t.path == "" {
		t.path = "/"
	}
	if !isPlainPath(t.path) || !isASCII(t.query) {
		return target{}, &targetInvalid
	}
	// Escape the characters that one of the two parsers escapes.
	t.path = escape(t.path, "\"<>^`{|}")
	t.query = escape(t.query, "\"'<>")
	t.url = t.scheme + "://" + t.authority() + t.path
	if t.scheme == "http" && t.port == 80 {
		t.url = "http://" + strings.TrimSuffix(t.authority(), ":80") + t.path
	}
	if t.query != "" {
		t.url += "?" + t.query
	}
	if len(t.url) > maxURL {
		return target{}, &targetInvalid
	}
	return t, nil
}

// parsed has the last targets, because pages send most requests to the same few.
type parsed struct {
	mu     sync.Mutex
	byText map[string]target
}

// The memory of parsed is bounded by the number of targets, and by the length of each.
const (
	maxParsed     = 256
	maxParsedText = 1 << 10
)

// target is parseTarget. It may be called from several goroutines at once.
func (p *parsed) target(raw string) (target, *refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t, ok := p.byText[raw]; ok {
		return t, nil
	}
	raw = strings.Clone(raw) // its parts must not keep the whole request
	t, refused := parseTarget(raw)
	if refused != nil || len(raw) > maxParsedText {
		return t, refused
	}
	if p.byText == nil || len(p.byText) >= maxParsed {
		p.byText = map[string]target{}
	}
	p.byText[raw] = t
	return t, nil
}

// hasMisread reports whether WHATWG parsers drop a character or take it for another.
func hasMisread(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c == 0x7f || c == '\\' })
}

func isScheme(s string) bool {
	return s != "" && 'a' <= s[0] && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

// cutBefore cuts s before the first of chars. Unlike strings.Cut it keeps the separator.
func cutBefore(s, chars string) (before, rest string) {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// readAuthority sets host and ip, and the port if the text has one.
func (t *target) readAuthority(text string) *refusal {
	host, port := cutBefore(text, ":")
	if text[0] == '[' {
		end := strings.IndexByte(text, ']') + 1
		host, port = text[:end], text[end:]
	}
	if port != "" {
		n, err := strconv.ParseUint(strings.TrimPrefix(port, ":"), 10, 16)
		if t.port = int(n); err != nil || n == 0 || port != ":"+strconv.Itoa(t.port) {
			return &targetInvalid
		}
	}
	if host == "" {
		return &targetInvalid
	}
	var ok bool
	if t.host, t.ip, ok = parseHost(host); !ok {
		return &hostOdd
	}
	return nil
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= 0x80 })
}

// isPlainPath reports whether all parsers read a path in the same way. Its escapes are
// whole. It has no dot segments, which WHATWG resolves, and no text that a server may
// read as one ("%2e%2e", "..%2f", "..;x").
func isPlainPath(path string) bool {
	if !isASCII(path) {
		return false
	}
	if strings.IndexByte(path, '%') < 0 && !strings.Contains(path, "/.") {
		return true // no escapes, and no segment begins with a dot
	}
	for i, s := range strings.Split(path, "%") {
		if i > 0 && (len(s) < 2 || strings.Trim(s[:2], "0123456789abcdefABCDEF") != "") {
			return false
		}
	}
	for segment := range strings.SplitSeq(dotted.Replace(path), "/") {
		if segment, _, _ = strings.Cut(segment, ";"); segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

var dotted = strings.NewReplacer("%2e", ".", "%2E", ".", "%2f", "/", "%2F", "/",
	"%5c", "/", "%5C", "/", "%3b", ";", "%3B", ";")

// escape replaces the characters of odd in s by %XX.
func escape(s, odd string) string {
	if !strings.ContainsAny(s, odd) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(odd, s[i]) < 0 {
			b.WriteByte(s[i])
			continue
		}
		const hex = "0123456789ABCDEF"
		b.WriteString(string([]byte{'%', hex[s[i]>>4], hex[s[i]&15]}))
	}
	return b.String()
}

// checkTarget returns the refusal of t, if any, apart from Config.Hosts. self is the
// request's own URL, which is the proxy's.
func (p *Policy) checkTarget(t target, self string) *refusal {
	scheme, rest, _ := strings.Cut(self, "://")
	authority, _ := cutBefore(rest, "/?#")
	own, _ := p.parsed.target(self[:min(len(self), len(scheme)+len("://")+len(authority))])
	switch {
	case t.scheme == "http" && !p.cfg.HTTP:
		return &schemeRefused
	case t.host == own.host && t.port == own.port:
		return &selfLoop
	case !p.portAllowed(t.port):
		return &portRefused
	case p.cfg.Private:
		return nil
	case t.ip.IsValid():
		return addressRefusal(t.ip)
	case isLocal(t.host):
		return &hostLocal
	}
	return nil
}

// hostAllowed reports whether one of Config.Hosts names t.
func (p *Policy) hostAllowed(t target) bool {
	return slices.ContainsFunc(p.hosts, func(h hostPattern) bool { return h.matches(t) })
}

func (p *Policy) portAllowed(port int) bool {
	if len(p.cfg.Ports) > 0 {
		return slices.Contains(p.cfg.Ports, port) || slices.Contains(p.cfg.Ports, 0)
	}
	return p.cfg.Private || port == 443 || port == 8443 || port == 80 && p.cfg.HTTP
}
