package proxy

import (
	"strconv"
	"strings"
	"time"
)

// page answers with the policy in effect, without secrets.
func (p *Policy) page(origin string) *Decision {
	members := []string{`"portolan":"CORS proxy for MCP"`}
	add := func(name, json string) { members = append(members, `"`+name+`":`+json) }
	flag := func(name string, on bool) { add(name, strconv.FormatBool(on)) }
	number := func(name string, n int64) { add(name, strconv.FormatInt(n, 10)) }
	texts := func(name string, values []string) {
		quoted := make([]string, len(values))
		for i, v := range values {
			quoted[i] = strconv.Quote(v)
		}
		add(name, "["+strings.Join(quoted, ",")+"]")
	}
	flag("open", p.configured())
	texts("origins", p.cfg.Origins)
	texts("hosts", p.cfg.Hosts)
	texts("ports", p.ports())
	flag("keys", len(p.keys) > 0)
	flag("tickets", len(p.tickets) > 0)
	flag("sealed", len(p.seals) > 0)
	flag("http", p.cfg.HTTP)
	flag("private", p.cfg.Private)
	number("maxRequestBytes", p.cfg.MaxRequest)
	number("maxResponseBytes", p.cfg.MaxResponse)
	number("maxStreams", int64(p.cfg.MaxStreams))
	number("firstByteSeconds", int64(p.cfg.FirstByte/time.Second))
	return answer(origin, "{"+strings.Join(members, ",")+"}")
}

// ports returns the ports that are allowed, or "*" if all are.
func (p *Policy) ports() (allowed []string) {
	if p.portAllowed(0) {
		return []string{"*"}
	}
	some := p.cfg.Ports
	if len(some) == 0 {
		some = []int{443, 8443, 80}
	}
	for _, n := range some {
		if p.portAllowed(n) {
			allowed = append(allowed, strconv.Itoa(n))
		}
	}
	return allowed
}
