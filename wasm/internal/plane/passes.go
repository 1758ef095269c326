package plane

import (
	"strings"
	"sync"
)

// passes are what the proxy has signed while metadata was read through it: they
// let the page use what the metadata names, and are sent along with that.
type passes struct {
	mu        sync.Mutex
	documents map[string]string // by the origin of metadata
	refusals  map[string]string // by that of a server that answered 401
	last      string            // of the documents
}

func originOf(url string) string {
	scheme, rest, _ := strings.Cut(url, "://")
	authority, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + authority
}

func (p *passes) note(url, header string, refused bool) {
	pass := headerOf(header, "x-portolan-binding")
	if pass == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.documents == nil || len(p.documents)+len(p.refusals) > 100 {
		p.documents, p.refusals = map[string]string{}, map[string]string{}
	}
	if refused {
		p.refusals[originOf(url)] = pass
		return
	}
	p.documents[originOf(url)], p.last = pass, pass
}

// of is the pass for a request: metadata may stand where a refusal says, and
// endpoints are in metadata, but for those of servers that have none.
func (p *passes) of(method, url string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	origin := originOf(url)
	first, second := p.documents[origin], p.refusals[origin]
	if method == "GET" {
		first, second = second, first
	}
	if first == "" {
		first = second
	}
	if first == "" {
		first = p.last
	}
	return first
}
