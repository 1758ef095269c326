// Package proxy is the policy of a CORS proxy for MCP: which request of which
// page may go to which server, with which headers, and what goes back. It decides
// and moves no bytes: a Cloudflare Worker (proxy-worker) and [Handler] do.
//
// A request is decided by [Policy.Decide]. Unless the decision is an answer, the
// caller sends what it says and passes the response's status and headers to
// [Decision.Respond], which says what goes back: the response, another request
// (a redirect), or a refusal. Neither blocks, and nothing is remembered from one
// request to the next but counts of open streams.
package proxy

import (
	"strings"
	"time"
)

// A Pair is one header field. Names are in lower case; values are byte-exact.
type Pair struct{ Name, Value string }

// Get returns the first value of a header, by its name in lower case.
func get(header []Pair, name string) string {
	for _, h := range header {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

func has(header []Pair, name string) bool {
	for _, h := range header {
		if h.Name == name {
			return true
		}
	}
	return false
}

// A Request is what a policy knows of one.
type Request struct {
	Method string
	// URL is the whole URL of the request, the proxy's own.
	URL    string
	Header []Pair
	// Client names who asks where nothing better does: the IP address.
	Client string
	Now    time.Time
}

// A Verdict says what to do.
type Verdict int

const (
	// Answer with Status, Header and Body; nothing is sent.
	Answer Verdict = iota
	// Send Method, URL, Header and the request's body, without following redirects.
	Send
	// Diagnose: send Probes at once, each for FirstByte at most, and answer with
	// what [Decision.Diagnosis] makes of what comes.
	Diagnose
)

// A Decision is what becomes of a request.
type Decision struct {
	Verdict Verdict

	// Of an answer. Code is "" or that of a refusal.
	Status int
	Code   string
	Body   []byte

	// Of what is sent.
	Method string
	URL    string

	// Of either.
	Header []Pair

	// Of a diagnosis.
	Probes []Probe

	// RateKey is under what the request counts for rate limits, "" if it does not.
	RateKey string
	// Caller is on whose account a stream that stays open counts; see [Policy.Enter].
	Caller string
	// MaxRequest bounds the request's body, in bytes; MaxResponse that of the
	// response, unless it is an event stream. FirstByte is how long the response's
	// headers may take.
	MaxRequest, MaxResponse int64
	FirstByte               time.Duration

	policy  *Policy
	origin  string
	kind    kind
	target  target
	self    string // the request's own URL
	anyHost bool   // no list and no ticket says which servers
	hops    int
	id      uint64 // of a diagnosis
	now     time.Time
}

// Origin is the page's that asked, "" if it named none.
func (d *Decision) Origin() string { return d.origin }

// A Response is what a server answered: Status and Header.
type Response struct {
	Status int
	Header []Pair
}

// A Reply is what goes back.
type Reply struct {
	// Follow, if not nil, is another request to send first: a redirect.
	Follow *Decision
	Status int
	Header []Pair
	// Body, if not nil, replaces the response's body, which is dropped.
	Body []byte
	// Code is "" or that of a refusal.
	Code string
	// Prime asks for the bytes ":\n\n" before the body: an event stream, which some
	// browsers do not show before its first byte.
	Prime bool
	// Stream says that the body may stay open.
	Stream bool
	// Bind is how many bytes of the body, a metadata document, [Decision.Bind]
	// wants to read before the headers go back; 0: none.
	Bind int
	// MaxBody bounds the body, in bytes; 0: not.
	MaxBody int64
}

func lower(s string) string { return strings.ToLower(s) }
