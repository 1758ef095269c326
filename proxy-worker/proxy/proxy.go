// Package proxy is the policy of a CORS proxy for MCP. It decides which page may send
// which request to which server, with which headers, and which response goes back. The
// policy moves no bytes: a Cloudflare Worker (proxy-worker) and [Policy.Handler] do.
//
// [Policy.Decide] decides a request. Unless the decision is an answer, the caller sends
// the decided request and passes the response's status and headers to
// [Decision.Respond]. The reply is the response, another request (a redirect), or a
// refusal. Neither method blocks. Between requests the policy keeps counts and the
// parsed URLs of targets, and nothing of a request.
package proxy

import (
	"slices"
	"time"
)

// A Pair is one header field. Names are in lower case; values are byte-exact.
type Pair struct{ Name, Value string }

// Get returns the first value of a header, by its name in lower case, or "".
func Get(header []Pair, name string) string {
	for _, h := range header {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

func has(header []Pair, name string) bool {
	return slices.ContainsFunc(header, func(h Pair) bool { return h.Name == name })
}

// A Request is a page's request, as the policy sees it.
type Request struct {
	Method string
	// URL is the whole URL of the request, the proxy's own.
	URL    string
	Header []Pair
	// Client names the caller that sends no key and no ticket: its IP address.
	Client string
	Now    time.Time
}

// A Verdict is the next step of the caller of Decide.
type Verdict int

const (
	// Answer with Status, Header and Body; nothing is sent.
	Answer Verdict = iota
	// Send Method, URL, Header and the request's body, without following redirects.
	Send
	// Diagnose: send Probes at the same time, each for FirstByte at most. Then answer
	// with the result of [Decision.Diagnosis].
	Diagnose
)

// A Decision is the policy's decision about a request.
type Decision struct {
	Verdict Verdict

	// Fields of an answer. Code is "", or the code of a refusal.
	Status int
	Code   string
	Body   []byte

	// Fields of a request to send.
	Method string
	URL    string

	// Header is that of the answer or of the request.
	Header []Pair

	// Probes are the requests of a diagnosis.
	Probes []Probe

	// RateKey is the key of the rate limit, "" if there is none.
	RateKey string
	// Caller is the key under which open streams are counted; see [Policy.Enter].
	Caller string
	// MaxRequest bounds the request's body, in bytes. MaxResponse bounds the response's
	// body, unless it is an event stream. FirstByte bounds the time until the
	// response's headers.
	MaxRequest, MaxResponse int64
	FirstByte               time.Duration

	policy  *Policy
	origin  string
	kind    kind
	target  target
	self    string // the request's own URL
	anyHost bool   // the caller's key lets it reach any server
	hops    int
	id      uint64 // of a diagnosis
	now     time.Time
}

// Host is the host of the server, "" if the request named none that could be read.
func (d *Decision) Host() string { return d.target.host }

// Origin is the origin of the page, "" if the request had none.
func (d *Decision) Origin() string { return d.origin }

// A Response is the status and header of a server's response.
type Response struct {
	Status int
	Header []Pair
}

// A Reply is the response that goes back to the page.
type Reply struct {
	// Follow, if not nil, is another request to send first: a redirect.
	Follow *Decision
	Status int
	Header []Pair
	// Body, if not nil, replaces the response's body, which is dropped.
	Body []byte
	// Code is "", or the code of a refusal.
	Code string
	// Prime asks for the bytes ":\n\n" before the body of an event stream. Some browsers
	// do not deliver the response before its first byte.
	Prime bool
	// Stream says that the body may stay open.
	Stream bool
	// Bind is the number of bytes of a metadata document that [Decision.Bind] reads
	// before the headers go back; 0 means none.
	Bind int
	// MaxBody bounds the body, in bytes; 0 means no limit.
	MaxBody int64
}
