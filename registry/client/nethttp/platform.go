// Package nethttp is the platform of package client over net/http: for native hosts.
//
//	c := client.New(nethttp.New(nil), nil)
//	r := registry.New(&registry.Options{Connect: c.Connect})
//
// It uses the proxies of the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), TLS and
// HTTP/2, and reuses connections. Redirects are not followed: they would carry
// configured headers to another server.
//
// [registry.Limits] bound all reading: bodies after decompression, events, lists,
// nesting, and messages a second. Payloads stay here as JSON text. The platform checks,
// splits and cleans this text, and never decodes it.
package nethttp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/portolan-mcp/portolan/registry"
	"github.com/portolan-mcp/portolan/registry/client"
	"github.com/portolan-mcp/portolan/registry/pin"
	"github.com/portolan-mcp/portolan/registry/rawjson"
	poison "github.com/portolan-mcp/portolan/registry/scan"
	"github.com/portolan-mcp/portolan/registry/text"
)

// Options configure a [Platform]. The zero value is the good default.
type Options struct {
	// RoundTripper carries the requests. Nil means a transport of the platform's own.
	RoundTripper http.RoundTripper
}

// A Platform is a [client.Platform]. Its methods may be called from several goroutines.
type Platform struct {
	rt  http.RoundTripper
	own *http.Transport // rt, if the platform made it

	limits registry.Limits // set once, before the first exchange
	sink   client.Sink     // likewise

	mu      sync.Mutex
	closed  bool
	live    map[uint32]context.CancelFunc // exchanges under way, by id
	rates   map[uint32]*rates             // by session
	tables  map[uint32]*table
	last    uint32          // table
	origins map[string]bool // those that answered over HTTP/2

	running sync.WaitGroup
}

// A table holds the payloads of one answer: tool definitions, or one result.
type table struct {
	shown [][]byte // definitions without hidden text, or the result
	sent  [][]byte // definitions as the server sent them
	flags map[uint32][]text.Flag
}

// idleConnections is the number of unused connections that are kept for one server.
const idleConnections = 16

// maxResponseHeader bounds the header of a response, in bytes.
const maxResponseHeader = 256 << 10

// New returns a platform. opts may be nil.
func New(opts *Options) *Platform {
	p := &Platform{
		live: make(map[uint32]context.CancelFunc), rates: make(map[uint32]*rates),
		tables: make(map[uint32]*table), origins: make(map[string]bool),
	}
	if opts != nil {
		p.rt = opts.RoundTripper
	}
	if p.rt == nil {
		p.own = http.DefaultTransport.(*http.Transport).Clone()
		p.own.MaxIdleConnsPerHost = idleConnections
		p.own.MaxResponseHeaderBytes = maxResponseHeader
		p.own.DisableCompression = true // decompress bounds it
		p.own.OnProxyConnectResponse = proxyRefused
		p.rt = p.own
	}
	return p
}

// proxyRefused says which proxy refuses to connect. Its bare status would look like the server's.
func proxyRefused(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return errors.New("proxyconnect " + proxy.Host + ": " + res.Status)
}

// Close ends all exchanges, waits for their goroutines, and closes idle connections. Exchanges that start later fail.
func (p *Platform) Close() {
	p.mu.Lock()
	p.closed = true
	for _, cancel := range p.live {
		cancel()
	}
	p.mu.Unlock()
	p.running.Wait()
	if p.own != nil {
		p.own.CloseIdleConnections()
	}
}

// Join implements [client.Platform].
func (p *Platform) Join(l registry.Limits, sink client.Sink) { p.limits, p.sink = l, sink }

// Resolve implements [client.Platform].
func (p *Platform) Resolve(base, ref string) (href, origin string, ok bool) {
	u, err := url.Parse(base)
	if err == nil {
		u, err = u.Parse(ref)
	}
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", false
	}
	u.Fragment, u.RawFragment = "", ""
	port := ":443"
	if u.Scheme == "http" {
		port = ":80"
	}
	u.Host = strings.TrimSuffix(strings.ToLower(u.Host), port)
	u.Path = cmp.Or(u.Path, "/")
	return u.String(), u.Scheme + "://" + u.Host, true
}

// Multiplexed implements [client.Platform].
func (p *Platform) Multiplexed(origin string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.origins[origin]
}

// maxOrigins bounds the remembered origins.
const maxOrigins = 1000

func (p *Platform) noteProtocol(u *url.URL, major int) {
	if major < 2 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.origins) >= maxOrigins {
		clear(p.origins)
	}
	p.origins[u.Scheme+"://"+strings.ToLower(u.Host)] = true
}

// Start implements [client.Platform].
func (p *Platform) Start(x *client.Exchange) {
	ctx, cancel := context.WithCancel(context.Background())
	run := &exchange{Exchange: x, p: p, ctx: ctx}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		cancel()
		go run.end(client.Network, "the client was closed") // the caller may hold locks
		return
	}
	p.live[x.ID] = cancel
	p.running.Go(func() {
		defer cancel()
		run.run()
	})
}

// Cancel implements [client.Platform].
func (p *Platform) Cancel(id uint32) {
	p.mu.Lock()
	cancel := p.live[id]
	delete(p.live, id)
	p.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

func (p *Platform) add(t *table) uint32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last++
	p.tables[p.last] = t
	return p.last
}

// payloadAt returns the payload at index, or nil.
func payloadAt(payloads [][]byte, index uint32) []byte {
	if int(index) >= len(payloads) {
		return nil
	}
	return payloads[index]
}

func (p *Platform) table(id uint32) *table {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tables[id]; t != nil {
		return t
	}
	return new(table)
}

var errReleased = errors.New("the value was released")

// Text implements [client.Platform].
func (p *Platform) Text(table, index uint32) ([]byte, error) {
	if text := payloadAt(p.table(table).shown, index); text != nil {
		return text, nil
	}
	return nil, errReleased
}

// Pin implements [client.Platform].
func (p *Platform) Pin(table, index uint32) string {
	sent := payloadAt(p.table(table).sent, index)
	if sent == nil {
		return ""
	}
	digest, _ := pin.Of(sent)
	return digest
}

// Risky implements [client.Platform].
func (p *Platform) Risky(table, index uint32, done func(bool)) {
	t := p.table(table)
	def := payloadAt(t.shown, index)
	destroys := rawjson.IsTrue(rawjson.Get(def, "annotations"), "destructiveHint")
	done(destroys || len(t.flags[index]) > 0 || len(poison.Definition(def, nil)) > 0)
}

// Flags returns the flags of the hidden text that was removed from a definition.
func (p *Platform) Flags(table, index uint32) []text.Flag { return p.table(table).flags[index] }

// Fingerprint implements [client.Platform].
func (p *Platform) Fingerprint(table uint32, done func(string)) {
	all := sha256.New()
	for _, sent := range p.table(table).sent {
		all.Write(sent)
		all.Write([]byte{','})
	}
	done(hex.EncodeToString(all.Sum(nil)))
}

// Free implements [client.Platform].
func (p *Platform) Free(table uint32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.tables, table)
}

// Held returns the numbers of tables and exchanges, for tests of leaks.
func (p *Platform) Held() (tables, exchanges int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.tables), len(p.live)
}
