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
	signed map[string]string // by the origin of metadata, or refusedBy and that of a server that answered 401
	last   string            // of the metadata
}

const refusedBy = "401 "

func (p *proxyPasses) note(url, header string, refused bool) {
	pass := headerOf(header, "x-portolan-binding")
	if pass == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.signed == nil || len(p.signed) > 100 {
		p.signed = map[string]string{}
	}
	if refused {
		p.signed[refusedBy+endpoint.Origin(url)] = pass
		return
	}
	p.signed[endpoint.Origin(url)], p.last = pass, pass
}

// of returns the pass for a request. A GET is for metadata, whose place a refusal of the
// same origin may name. Any other request is for an endpoint that metadata names, or that
// a server without metadata has.
func (p *proxyPasses) of(method, url string) string {
	origin := endpoint.Origin(url)
	p.mu.Lock()
	document, refusal, last := p.signed[origin], p.signed[refusedBy+origin], p.last
	p.mu.Unlock()
	if method == "GET" {
		document, refusal = refusal, document
	}
	return cmp.Or(document, refusal, last)
}
