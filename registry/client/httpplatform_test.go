//go:build !js

package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/pin"
)

// An httpPlatform is a Platform over a RoundTripper: what plane.ts does, for
// tests of the Go half without a browser.
type httpPlatform struct {
	rt http.RoundTripper

	mu     sync.Mutex
	limits registry.Limits
	live   map[uint32]context.CancelFunc
	tables map[uint32][]json.RawMessage
	sent   map[uint32][]json.RawMessage // tools, by table, as the server sent them
	last   uint32
	wg     sync.WaitGroup
}

func newHTTPPlatform(rt http.RoundTripper) *httpPlatform {
	return &httpPlatform{rt: rt, live: map[uint32]context.CancelFunc{}, tables: map[uint32][]json.RawMessage{}, sent: map[uint32][]json.RawMessage{}}
}

func (p *httpPlatform) Bound(l registry.Limits) { p.limits = l }

func (p *httpPlatform) Resolve(base, ref string) (href, origin string, ok bool) {
	b, err := url.Parse(base)
	if err != nil {
		return "", "", false
	}
	u, err := b.Parse(ref)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	u.Fragment = ""
	u.Host = strings.ToLower(u.Host)
	if u.Scheme == "http" {
		u.Host = strings.TrimSuffix(u.Host, ":80")
	} else {
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String(), u.Scheme + "://" + u.Host, true
}

func (p *httpPlatform) Multiplexed(string) bool { return false }

func (p *httpPlatform) Text(table, index uint32) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	values := p.tables[table]
	if int(index) >= len(values) {
		return nil, errors.New("no such value")
	}
	return values[index], nil
}

func (p *httpPlatform) Pin(table, index uint32) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	tools := p.sent[table]
	if int(index) >= len(tools) {
		return ""
	}
	digest, _ := pin.Of(tools[index])
	return digest
}

func (p *httpPlatform) Fingerprint(table uint32, done func(string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := sha256.New()
	for _, tool := range p.sent[table] {
		all.Write(tool)
		all.Write([]byte{0x2c})
	}
	done(hex.EncodeToString(all.Sum(nil)))
}

func (p *httpPlatform) Free(table uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tables, table)
	delete(p.sent, table)
}

// addTools keeps definitions as models see them, and as they were sent.
func (p *httpPlatform) addTools(tools, sent []json.RawMessage) uint32 {
	table := p.add(tools...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sent[table] = sent
	return table
}

func (p *httpPlatform) add(values ...json.RawMessage) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.tables[p.last] = values
	return p.last
}

// held counts tables and exchanges, for tests of leaks.
func (p *httpPlatform) held() (tables, exchanges int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tables), len(p.live)
}

func (p *httpPlatform) Cancel(id uint32) {
	p.mu.Lock()
	cancel := p.live[id]
	delete(p.live, id)
	p.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (p *httpPlatform) Start(x *Exchange, sink Sink) {
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	p.live[x.ID] = cancel
	p.mu.Unlock()
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		defer cancel()
		r := &httpExchange{p: p, x: x, ctx: ctx, sink: sink}
		r.run()
	}()
}

// An httpExchange is one exchange under way.
type httpExchange struct {
	p    *httpPlatform
	x    *Exchange
	ctx  context.Context
	sink Sink

	over    bool
	second  time.Time
	spent   int
	flooded bool
	// nonsense says that an event was not JSON.
	nonsense bool
}

func (r *httpExchange) emit(e *Event) {
	if r.over {
		freeEvent(r.p, e)
		return
	}
	if e.Last {
		r.over = true
		r.p.mu.Lock()
		delete(r.p.live, r.x.ID)
		r.p.mu.Unlock()
	}
	r.sink.Deliver(e)
}

func (r *httpExchange) end(why Reason, text string) {
	r.emit(&Event{Kind: End, Last: true, Why: why, Text: text, Retry: -1})
}

func (r *httpExchange) run() {
	req, err := http.NewRequestWithContext(r.ctx, r.x.Method, r.x.URL, bytes.NewReader(r.x.Body))
	if err != nil {
		r.end(Network, "")
		return
	}
	for i := 0; i < len(r.x.Header); i += 2 {
		req.Header.Set(r.x.Header[i], r.x.Header[i+1])
	}
	res, err := r.p.rt.RoundTrip(req)
	if err != nil {
		r.end(Network, "")
		return
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 && res.StatusCode < 400 {
		r.emit(&Event{Kind: Refused, Last: true}) // fetch shows no more of a redirect
		return
	}
	r.read(res)
}

func (r *httpExchange) read(res *http.Response) {
	if r.x.Whole {
		text, err := io.ReadAll(io.LimitReader(res.Body, maxMetadata+1))
		switch {
		case err != nil:
			r.end(Network, "the response broke off")
		case len(text) > maxMetadata:
			r.end(TooLarge, "response")
		default:
			r.emit(&Event{Kind: Refused, Last: true, Status: res.StatusCode, Header: headerLines(res.Header), Text: string(text)})
		}
		return
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(res.Body, int64(r.p.limits.ErrorBytes)))
		r.emit(&Event{Kind: Refused, Last: true, Status: res.StatusCode, Header: headerLines(res.Header), Text: string(text)})
		return
	}
	if r.x.Head {
		r.emit(&Event{Kind: Head, Status: res.StatusCode, Header: headerLines(res.Header)})
	}
	if r.x.Awaits != 0 && (res.StatusCode == 202 || res.StatusCode == 204) {
		r.end(NotMCP, "a status without an answer")
		return
	}
	if r.x.Awaits == 0 && r.x.Method != "GET" {
		r.end(EOF, "")
		return
	}
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream":
		r.readEvents(res.Body)
		return
	case r.x.Awaits == 0 || kind != "" && kind != "application/json" && !strings.HasSuffix(kind, "+json"):
		r.end(NotMCP, "content type is "+kind)
		return
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, int64(r.p.limits.ResponseBytes)+1))
	switch {
	case err != nil:
		r.end(Network, "the response broke off")
	case len(text) > r.p.limits.ResponseBytes:
		r.end(TooLarge, "response")
	case !json.Valid(text):
		r.end(NotMCP, "the response is not JSON")
	default:
		r.messages(text)
		r.end(NotMCP, "the response has no answer")
	}
}

func headerLines(h http.Header) string {
	var lines []string
	for _, name := range []string{"mcp-session-id", "content-type", "retry-after", "www-authenticate", "dpop-nonce", "x-proxy-error"} {
		if value := h.Get(name); value != "" {
			lines = append(lines, name, value)
		}
	}
	return strings.Join(lines, "\n")
}
