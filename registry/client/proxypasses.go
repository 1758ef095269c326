package client

import (
	"cmp"
	"sync"

	"github.com/portolan-mcp/portolan/registry/endpoint"
)

// proxyPasses are the bindings that the proxy signed when metadata was read through it. A
// request to an endpoint that the metadata names carries the binding (docs/design/proxy.md).
type proxyPasses struct {
	mu     sync.Mutex
	signed map[string]string // by the origin of metadata, and by the names below
}

const (
	refusedBy = "401 "  // and the origin of a server
	lastOf    = "last " // and the name of a server: of the metadata that was read last for it
)

func (p *proxyPasses) note(header string, names ...string) {
	pass := headerOf(header, "x-portolan-binding")
	if pass == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signed == nil || len(p.signed) > 200 {
		p.signed = map[string]string{}
	}
	for _, name := range names {
		p.signed[name] = pass
	}
}

// of returns the pass for a request of a server's sign-in. A GET is for metadata, whose place a refusal of the same
// origin may name, or what was read before. Any other request is for an endpoint that metadata names, or that a server
// without metadata has.
func (p *proxyPasses) of(method, url, server string) string {
	origin := endpoint.Origin(url)
	p.mu.Lock()
	document, refusal, last := p.signed[origin], p.signed[refusedBy+origin], p.signed[lastOf+server]
	p.mu.Unlock()
	if method == "GET" {
		document = ""
	}
	return cmp.Or(document, refusal, last)
}
