package client

import (
	"strings"
	"sync"
)

// proxyPasses are what the proxy has signed while metadata was read through it: they
// let the page use what the metadata names, and are sent along with that.
type proxyPasses struct {
	mu     sync.Mutex
	signed map[string]string // by the origin of metadata, or refusedBy and that of a server that answered 401
	last   string            // of the metadata
}

const refusedBy = "401 "

func originOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority
}

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
		p.signed[refusedBy+originOf(url)] = pass
		return
	}
	p.signed[originOf(url)], p.last = pass, pass
}

// of is the pass for a request: metadata may stand where a refusal says, and
// endpoints are in metadata, but for those of servers that have none.
func (p *proxyPasses) of(method, url string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	origin := originOf(url)
	document, refusal := p.signed[origin], p.signed[refusedBy+origin]
	if method == "GET" {
		document, refusal = refusal, document
	}
	switch {
	case document != "":
		return document
	case refusal != "":
		return refusal
	}
	return p.last
}
