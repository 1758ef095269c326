package endpoint

import (
	"strings"

	"github.com/portolan-mcp/portolan/registry/rawjson"
	"github.com/portolan-mcp/portolan/registry/text"
)

// A Network says where a host is.
type Network int

// The networks.
const (
	Public   Network = iota
	Private          // a local network, or a block that is reserved (RFC 6890)
	Loopback         // this machine
)

// localDomains are the domains of local networks: RFC 6761, 6762 (with its appendix G) and
// 8375, ICANN's .internal, and those of home routers and Google's cloud. The CORS proxy
// has the same ones.
var localDomains = []string{"local", "localdomain", "internal", "intranet", "private", "corp", "home", "lan",
	"home.arpa", "test", "metadata.goog"}

// NetworkOf returns the network of a URL's host, from the address that it spells, or from
// its name. It does not resolve names. A host that parsers read differently is Private.
func NetworkOf(host string) Network {
	host = strings.TrimSuffix(text.Lower(host), ".")
	if strings.HasPrefix(host, "[") {
		return networkOf6(strings.Trim(host, "[]"))
	}
	if isIn(host, "localhost") {
		return Loopback
	}
	if last := host[strings.LastIndexByte(host, '.')+1:]; strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return networkOf4(host)
	}
	for _, domain := range localDomains {
		if isIn(host, domain) {
			return Private
		}
	}
	if !strings.Contains(host, ".") {
		return Private
	}
	return Public
}

func isIn(host, domain string) bool {
	rest, ok := strings.CutSuffix(host, domain)
	return ok && (rest == "" || strings.HasSuffix(rest, "."))
}

// reserved4 are the IPv4 blocks that no public server has, with their bits.
var reserved4 = []struct{ prefix, bits uint32 }{
	{0, 8}, {10 << 24, 8}, {100<<24 | 64<<16, 10}, {169<<24 | 254<<16, 16}, {172<<24 | 16<<16, 12}, {192 << 24, 24},
	{192<<24 | 2<<8, 24}, {192<<24 | 88<<16 | 99<<8, 24}, {192<<24 | 168<<16, 16}, {198<<24 | 18<<16, 15},
	{198<<24 | 51<<16 | 100<<8, 24}, {203<<24 | 113<<8, 24}, {224 << 24, 3}, {168<<24 | 63<<16 | 129<<8 | 16, 32},
}

func networkOf4(host string) Network {
	address, ok := parse4(host)
	if !ok {
		return Private // 127.1, 0x7f.0.0.1, 172.020.0.1
	}
	if address>>24 == 127 {
		return Loopback
	}
	for _, block := range reserved4 {
		if (address^block.prefix)>>(32-block.bits) == 0 {
			return Private
		}
	}
	return Public
}

func parse4(host string) (address uint32, ok bool) {
	labels := strings.Split(host, ".")
	for _, label := range labels {
		n, ok := rawjson.Digits(label, 10)
		if !ok || n > 255 || label[0] == '0' && label != "0" {
			return 0, false
		}
		address = address<<8 | uint32(n)
	}
	return address, len(labels) == 4
}

// networkOf6 reads an IPv6 address. IANA allocates 2000::/3 only. Addresses that contain
// an IPv4 address are Private, as the proxy takes them.
func networkOf6(text string) Network {
	groups, ok := parse6(text)
	if groups == [8]uint32{7: 1} {
		return Loopback
	}
	first, second := groups[0], groups[1]
	switch {
	case !ok || first>>13 != 1:
	case first == 0x2001 && (second>>9 == 0 || second == 0xdb8): // special purposes, Teredo, documentation
	case first == 0x2002: // 6to4
	case first == 0x3fff && second>>12 == 0: // documentation
	default:
		return Public
	}
	return Private
}

func parse6(text string) (groups [8]uint32, ok bool) {
	before, after, short := strings.Cut(text, "::")
	head, okHead := groupsOf(before)
	tail, okTail := groupsOf(after)
	n := len(head) + len(tail)
	if !okHead || !okTail || n > 8 || short == (n == 8) {
		return groups, false
	}
	copy(groups[:], head)
	copy(groups[8-len(tail):], tail)
	return groups, true
}

func groupsOf(text string) (groups []uint32, ok bool) {
	if text == "" {
		return nil, true
	}
	all := strings.Split(text, ":")
	for i, group := range all {
		if address, isV4 := parse4(group); isV4 && i == len(all)-1 {
			return append(groups, address>>16, address&0xffff), true
		}
		n, ok := rawjson.Digits(group, 16)
		if !ok || n > 0xffff {
			return nil, false
		}
		groups = append(groups, uint32(n))
	}
	return groups, true
}
