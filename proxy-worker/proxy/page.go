package proxy

import (
	"strconv"
	"strings"
	"time"
)

// page answers with the policy in effect, without secrets.
func (p *Policy) page(origin string) *Decision {
	var b strings.Builder
	b.WriteString(`{"portolan":"CORS proxy for MCP","open":` + strconv.FormatBool(p.configured()))
	list := func(name string, values []string) {
		b.WriteString(`,"` + name + `":[`)
		for i, v := range values {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Quote(v))
		}
		b.WriteByte(']')
	}
	list("origins", p.cfg.Origins)
	list("hosts", p.cfg.Hosts)
	ports := make([]string, len(p.cfg.Ports))
	for i, n := range p.cfg.Ports {
		ports[i] = strconv.Itoa(n)
	}
	list("ports", ports)
	for _, f := range []struct {
		name string
		on   bool
	}{
		{"keys", len(p.keys) > 0}, {"tickets", len(p.tickets) > 0}, {"sealed", len(p.seals) > 0},
		{"http", p.cfg.HTTP}, {"private", p.cfg.Private},
	} {
		b.WriteString(`,"` + f.name + `":` + strconv.FormatBool(f.on))
	}
	for _, n := range []struct {
		name string
		v    int64
	}{
		{"maxRequestBytes", p.cfg.MaxRequest}, {"maxResponseBytes", p.cfg.MaxResponse},
		{"maxStreams", int64(p.cfg.MaxStreams)}, {"firstByteSeconds", int64(p.cfg.FirstByte / time.Second)},
	} {
		b.WriteString(`,"` + n.name + `":` + strconv.FormatInt(n.v, 10))
	}
	b.WriteByte('}')
	return answer(origin, b.String())
}
