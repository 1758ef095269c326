package gateway

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// modern is the first protocol version without sessions.
const modern = "2026-07-28"

// olderVersions are those in which the client sends initialize.
var olderVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// unsupported is the answer to requests of 2026-07-28 if the program speaks older versions
// only. The client sends initialize then.
func unsupported() *fault {
	return &fault{
		Code: codeUnsupportedVersion, Message: "the program speaks older protocol versions only: send initialize",
		Data: map[string]any{"supported": olderVersions, "requested": modern},
	}
}

const discoverRequest = `{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"` + modern + `","io.modelcontextprotocol/clientCapabilities":{},` +
	`"io.modelcontextprotocol/clientInfo":{"name":"portolan-gateway","version":"1"}}}}`

// probeTime is how long the answer to server/discover may take once the program runs. Old
// programs may never answer what they do not know.
const probeTime = 30 * time.Second

// learn takes note of what a question or a session has shown. Nothing takes back what an answer has shown.
func (e *entry) learn(era int32) {
	for known := e.era.Load(); known < era && !e.era.CompareAndSwap(known, era); {
		known = e.era.Load()
	}
}

// discover asks the program whether it speaks 2026-07-28. It returns when that is known,
// or ctx ends. An answer that comes later still counts. The caller holds the turn.
func (p *program) discover(ctx context.Context) {
	p.mu.Lock()
	probe := p.probe
	asks := p.since.IsZero() // a shared program with older sessions is not asked any more
	if probe != nil {
		asks = isClosed(probe) // it could not answer the last time
	}
	if asks {
		probe = make(chan struct{})
		p.probe = probe
	}
	p.mu.Unlock()
	if probe == nil {
		return
	}
	if asks {
		m, _ := parse([]byte(discoverRequest))
		c := &call{method: m.method, result: func(answer *message) {
			p.entry.learn(eraOf(answer))
			close(probe)
		}}
		if p.begin(c, m) != nil {
			close(probe)
			return
		}
	}
	select {
	case <-probe:
	case <-time.After(probeTime):
	case <-ctx.Done():
	}
}

// eraOf reads the answer to server/discover, or nil of a program that ended instead. An older one may end because the
// first message is not initialize. But a missing network ends others, and makes an internal error.
func eraOf(answer *message) int32 {
	if answer == nil {
		return eraEnded
	}
	var result struct {
		Versions []string `json:"supportedVersions"`
	}
	var f fault
	_ = json.Unmarshal(answer.result.in(answer.text), &result)
	_ = json.Unmarshal(answer.fail.in(answer.text), &f)
	switch {
	case slices.ContainsFunc(result.Versions, func(v string) bool { return v >= modern }):
		return eraModern
	case f.Code == codeInternal:
		return eraUnknown
	}
	return eraLegacy
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// isProbing reports whether the program has been asked for its era, and nothing else.
func (p *program) isProbing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.calls) == 1 && some(maps.Values(p.calls), func(c *call) bool { return c.result != nil })
}
