//go:build js

package main

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/portolan-mcp/portolan/proxy-worker/proxy"
)

// A request is the state of a request between its exports.
type request struct {
	decision *proxy.Decision
	outcome  proxy.Outcome // as far as it is known
	reply    *proxy.Reply
	streams  bool // counts among its caller's open streams
}

var (
	requests = map[int32]*request{}
	last     int32
)

// rehearsal begins the URL of the request that policy.mjs makes up at the start.
const rehearsal = "https://portolan.invalid/"

// note notes the outcome of a request. now is in ms.
func (r *request) note(code string, now float64) {
	o := r.outcome
	o.Code, o.Took = code, time.UnixMilli(int64(now)).Sub(o.Began)
	policy.Note(o)
}

// portolan_decide reads a method, a URL and header fields. It writes an answer,
// or the request to send.
//
//go:wasmexport portolan_decide
func decide(n int32, now float64) (result unsafe.Pointer) {
	method, rest, _ := strings.Cut(readRoom(n), "\n")
	url, rest, _ := strings.Cut(rest, "\n")
	header := pairsOf(rest)
	defer func() {
		if recover() != nil {
			result = refusal("internal", proxy.Get(header, "origin"))
		}
	}()
	d := policy.Decide(&proxy.Request{
		Method: method, URL: url, Header: header, Client: proxy.Get(header, "cf-connecting-ip"),
		Now: time.UnixMilli(int64(now)),
	})
	outcome := proxy.Outcome{
		Code: d.Code, Origin: proxy.Get(header, "origin"), Client: proxy.Get(header, "cf-connecting-ip"), Host: d.Host(),
		Began: time.UnixMilli(int64(now)),
	}
	if d.Verdict == proxy.Answer {
		if d.Code != "" && !strings.HasPrefix(url, rehearsal) {
			policy.Note(outcome)
		}
		return answer(d.Status, d.Header, d.Body)
	}
	last++
	outcome.Origin, outcome.Client = strings.Clone(outcome.Origin), strings.Clone(outcome.Client)
	requests[last] = &request{decision: d, outcome: outcome}
	if d.Verdict == proxy.Diagnose {
		return diagnose(last, d)
	}
	return send(last, d)
}

// portolan_respond reads the header fields of a response. It writes an answer, the next
// request to send, or the header to pass on.
//
//go:wasmexport portolan_respond
func respond(id, status, n int32, now float64) (result unsafe.Pointer) {
	header := pairsOf(readRoom(n))
	r := requests[id]
	defer safe(id, &result)
	reply := r.decision.Respond(&proxy.Response{Status: int(status), Header: header})
	r.reply = reply
	switch {
	case reply.Follow != nil:
		r.decision = reply.Follow
		return send(id, r.decision)
	case reply.Body != nil:
		r.note(reply.Code, now)
		return answer(reply.Status, reply.Header, reply.Body)
	case reply.Stream && !policy.Enter(r.decision.Caller):
		r.note("too_many_streams", now)
		return refusal("too_many_streams", r.decision.Origin())
	}
	r.note("", now)
	r.streams = reply.Stream
	return pass(reply)
}

// portolan_bind reads the metadata document for which a reply asked.
//
//go:wasmexport portolan_bind
func bind(id, n int32) (result unsafe.Pointer) {
	body := readRoom(n)
	r := requests[id]
	defer safe(id, &result)
	r.decision.Bind(r.reply, []byte(body))
	return pass(r.reply)
}

// portolan_diagnosis reads the findings of a diagnosis, each as its number of
// lines, a status, a fault and header fields.
//
//go:wasmexport portolan_diagnosis
func diagnosis(id, n int32, now float64) (result unsafe.Pointer) {
	lines := strings.Split(readRoom(n), "\n")
	r := requests[id]
	defer safe(id, &result)
	var findings []proxy.Finding
	for len(lines) > 1 {
		n, _ := strconv.Atoi(lines[0])
		status, _ := strconv.Atoi(lines[1])
		header := slices.Clone(pairsOf(strings.Join(lines[3:1+n], "\n")))
		findings = append(findings, proxy.Finding{Status: status, Fault: lines[2], Header: header})
		lines = lines[1+n:]
	}
	d := r.decision.Diagnosis(findings)
	r.note("", now)
	return answer(d.Status, d.Header, d.Body)
}

// portolan_refuse reads the code of a refusal and writes the answer.
//
//go:wasmexport portolan_refuse
func refuse(id, n int32, now float64) (result unsafe.Pointer) {
	code := readRoom(n)
	defer safe(id, &result)
	requests[id].note(code, now)
	return refusal(code, requests[id].decision.Origin())
}

// portolan_done forgets a request. An event stream has ended by then.
//
//go:wasmexport portolan_done
func done(id int32) {
	defer func() { _ = recover() }()
	r := requests[id]
	delete(requests, id)
	if r != nil && r.streams {
		policy.Leave(r.decision.Caller)
	}
}

// safe turns a panic into an answer, so that the program goes on.
func safe(id int32, result *unsafe.Pointer) {
	if recover() == nil {
		return
	}
	origin := ""
	if r := requests[id]; r != nil {
		origin = r.decision.Origin()
		r.outcome.Code = "internal"
		policy.Note(r.outcome)
	}
	*result = refusal("internal", origin)
}
