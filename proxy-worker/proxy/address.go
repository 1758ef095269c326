package proxy

import (
	"net/netip"
	"strconv"
	"strings"
)

// parseHost reads a name, an IPv4 address in its one canonical form, or an IPv6
// address in brackets.
func parseHost(text string) (host string, ip netip.Addr, ok bool) {
	if text[0] == '[' {
		ip, err := netip.ParseAddr(text[1 : len(text)-1])
		return textOf(ip), ip, err == nil && ip.Is6() && ip.Zone() == ""
	}
	if len(text) > 253 || !isASCII(text) {
		return "", ip, false
	}
	host = strings.ToLower(text)
	last := ""
	for last = range strings.SplitSeq(host, ".") {
		if !isLabel(last) {
			return "", ip, false
		}
	}
	if !isNumber(last) {
		return host, ip, true
	}
	ip, err := netip.ParseAddr(host)
	return host, ip, err == nil
}

// isLabel accepts the letters, digits and hyphens of RFC 1123, and underscores, which
// are in use. No label ends in a hyphen, so no "xn--localhost-" decodes to ASCII.
func isLabel(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || isDigit(c) || c == '-' || c == '_') {
			return false
		}
	}
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNumber reports whether WHATWG parses a host with this last label as an IPv4
// address. Examples are "1", "017", "0x7f" and "0x".
func isNumber(label string) bool {
	if !isDigit(label[0]) {
		return false
	}
	hex, ok := strings.CutPrefix(label, "0x")
	return strings.Trim(label, "0123456789") == "" || ok && strings.Trim(hex, "0123456789abcdef") == ""
}

// textOf writes an IPv6 address as WHATWG does. netip writes mapped ones with dots.
func textOf(ip netip.Addr) string {
	if !ip.Is4In6() {
		return ip.String()
	}
	b := ip.As16()
	group := func(i int) string { return strconv.FormatUint(uint64(b[i])<<8|uint64(b[i+1]), 16) }
	return "::ffff:" + group(12) + ":" + group(14)
}

// An addressClass is a kind of address that no public server has.
type addressClass struct {
	refusal
	prefixes []netip.Prefix
}

func newClass(name, is string, prefixes ...string) addressClass {
	c := addressClass{refusal: refusal{403, "address_" + name, "the server's address is " + is,
		"Use a public address, or set ALLOW_PRIVATE on a proxy of your own."}}
	for _, p := range prefixes {
		c.prefixes = append(c.prefixes, netip.MustParsePrefix(p))
	}
	return c
}

// addressClasses follows IANA's special-purpose registries (RFC 6890 and later).
// The first class that contains an address names it, so narrow classes come first.
var addressClasses = []addressClass{
	newClass("metadata", "that of a cloud's metadata",
		"169.254.169.254/32", "169.254.170.2/32", "169.254.170.23/32", // AWS and most others; its containers
		"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", // Alibaba, Azure, Oracle
		"fd00:ec2::254/128", "fd00:ec2::23/128", "fd20:ce::254/128"), // AWS, Google
	newClass("unspecified", "unspecified", "0.0.0.0/8", "::/128"),
	newClass("loopback", "a loopback address", "127.0.0.0/8", "::1/128"),
	newClass("private", "private", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
	newClass("link_local", "link-local", "169.254.0.0/16", "fe80::/10"),
	newClass("cgnat", "a carrier's own", "100.64.0.0/10"),
	newClass("multicast", "a multicast address", "224.0.0.0/4", "ff00::/8"),
	newClass("broadcast", "the broadcast address", "255.255.255.255/32"),
	newClass("documentation", "for documentation only", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",
		"2001:db8::/32",
		"3fff::/20"),
	newClass("benchmarking", "for benchmarks only", "198.18.0.0/15", "2001:2::/48"),
	newClass("unique_local", "unique local", "fc00::/7"),
	newClass("site_local", "site-local", "fec0::/10"),
	// These contain an IPv4 address, which may be in any class above.
	newClass("nat64", "a NAT64 address", "64:ff9b::/96", "64:ff9b:1::/48"),
	newClass("6to4", "a 6to4 address", "2002::/16", "192.88.99.0/24"),
	newClass("teredo", "a Teredo address", "2001::/32"),
	newClass("mapped", "an IPv4 address written as IPv6", "::ffff:0:0/96"),
	newClass("translated", "an IPv4 address translated to IPv6", "::ffff:0:0:0/96"),
	newClass("compatible", "an IPv4 address in an old IPv6 form", "::/96"),
	// The other reserved blocks. IANA only allocates 2000::/3 of IPv6.
	newClass("reserved", "reserved", "192.0.0.0/24", "240.0.0.0/4", "2001::/23", "::/3", "4000::/2", "8000::/1"),
}

// addressRefusal returns nil for a public address.
func addressRefusal(ip netip.Addr) *refusal {
	ip = ip.WithZone("") // no prefix holds an address with a zone
	for i := range addressClasses {
		for _, p := range addressClasses[i].prefixes {
			if p.Contains(ip) {
				return &addressClasses[i].refusal
			}
		}
	}
	return nil
}

var hostLocal = refusal{403, "host_local", "the server's name is one of a local network or machine",
	"Use a public name, or set ALLOW_PRIVATE on a proxy of your own."}

// localDomains are the domains of local networks: RFC 6761, 6762 (with its appendix G)
// and 8375, ICANN's .internal, and those of home routers and Google's cloud.
var localDomains = []string{"localhost", "local", "localdomain", "internal", "intranet", "private", "corp",
	"home", "lan", "home.arpa", "test", "metadata.goog"}

// isLocal reports whether a name is that of a local machine. Transport checks the
// addresses of public names.
func isLocal(host string) bool {
	if !strings.Contains(host, ".") {
		return true
	}
	for _, d := range localDomains {
		if rest, ok := strings.CutSuffix(host, d); ok && (rest == "" || strings.HasSuffix(rest, ".")) {
			return true
		}
	}
	return false
}
