package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/portolan-mcp/portolan/bridge/loopback"
)

// routes returns the handler of the gateway's port.
func (g *Gateway) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/pair", g.servePair)
	mux.HandleFunc("/servers", g.serveStatus)
	mux.HandleFunc("/s/{name}/mcp", g.serveMCP)
	mux.HandleFunc("/s/{name}/status", g.serveStatus)
	return loopback.Guard(mux)
}

// serveStatus answers with what an admitted page may know of one server, or of all.
func (g *Gateway) serveStatus(w http.ResponseWriter, req *http.Request) {
	if _, ok := g.admit(w, req); !ok {
		return
	}
	if req.Method != http.MethodGet {
		loopback.Deny(http.StatusMethodNotAllowed, "want GET").Write(w)
		return
	}
	var answer any = map[string]any{"name": "portolan-gateway", "version": 1, "servers": g.Servers()}
	if name := req.PathValue("name"); name != "" {
		e := g.byName[name]
		if e == nil {
			loopback.Deny(http.StatusNotFound, "the gateway has no server of this name").Write(w)
			return
		}
		status := e.status()
		status.Log = e.log.text()
		answer = status
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}

// serveMCP is the endpoint of one server.
func (g *Gateway) serveMCP(w http.ResponseWriter, req *http.Request) {
	owner, ok := g.admit(w, req)
	if !ok {
		return
	}
	e := g.byName[req.PathValue("name")]
	if e == nil {
		loopback.Deny(http.StatusNotFound, "the gateway has no server of this name").Write(w)
		return
	}
	switch req.Method {
	case http.MethodPost:
		e.post(w, req, owner)
	case http.MethodGet:
		if to := e.ofSession(w, req, owner); to != nil {
			defer to.program.hold(to)()
			if last := req.Header.Get("Last-Event-Id"); last != "" {
				to.program.resume(w, req, to, last)
				return
			}
			out := newStream(g.opts.Limits)
			to.program.listen(to, out)
			defer to.program.unlisten(to, out)
			out.serve(w, req, true, nil)
		}
	case http.MethodDelete:
		if to := e.ofSession(w, req, owner); to != nil {
			e.leave(to)
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		loopback.Deny(http.StatusMethodNotAllowed, "want GET, POST or DELETE").Write(w)
	}
}

// ofSession returns the client of the session that a request names.
func (e *entry) ofSession(w http.ResponseWriter, req *http.Request, owner string) *peer {
	id, present, denied := loopback.SingleHeader(req, "Mcp-Session-Id")
	if denied == nil && (!present || id == "") {
		denied = loopback.Deny(http.StatusMethodNotAllowed, "there is no session: send initialize, or a request of "+modern)
		w.Header().Set("Allow", "POST")
	}
	if denied != nil {
		denied.Write(w)
		return nil
	}
	to := e.find(id, owner)
	if to == nil { // 404: the client begins a new session (2025-11-25, session management)
		loopback.Deny(http.StatusNotFound, "this session has ended").Write(w)
	}
	return to
}

// post handles a message of a client.
func (e *entry) post(w http.ResponseWriter, req *http.Request, owner string) {
	if kind, _, err := mime.ParseMediaType(req.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		loopback.Deny(http.StatusUnsupportedMediaType, "the body must be application/json").Write(w)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, int64(e.g.opts.Limits.Message)))
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		loopback.Deny(http.StatusRequestEntityTooLarge, "the message is too large").Write(w)
		return
	}
	if err != nil {
		return // the client left
	}
	m, err := parse(body)
	if err != nil {
		writeFault(w, nil, http.StatusBadRequest, &fault{Code: codeInvalidRequest, Message: "the body is not one JSON-RPC message"})
		return
	}
	version := req.Header.Get("Mcp-Protocol-Version")
	switch {
	case version >= modern:
		e.postModern(w, req, owner, m)
	case m.method == "initialize" && m.isRequest():
		e.initialize(w, req, owner, m)
	default:
		if to := e.ofSession(w, req, owner); to != nil {
			e.relay(w, req, to, m, nil)
		}
	}
}

// initialize begins a session.
func (e *entry) initialize(w http.ResponseWriter, req *http.Request, owner string, m *message) {
	to, f := e.open(req.Context(), owner)
	if f != nil {
		writeFault(w, m.id.in(m.text), http.StatusOK, f)
		return
	}
	begun := false
	defer func() {
		if !begun {
			e.leave(to)
		}
	}()
	w.Header().Set("Mcp-Session-Id", to.session)
	if e.Shared {
		if g, first := to.program.greeting(); !first {
			answer := g.wait(req.Context(), m.id.in(m.text))
			out := newStream(e.g.opts.Limits)
			out.end(answer)
			begun = g.result != nil && answer != nil
			out.serve(w, req, false, plain)
			return
		}
	}
	e.relay(w, req, to, m, func(answer []byte) {
		a, err := parse(answer)
		begun = err == nil && a.result.there()
	})
}

// postModern handles a message from 2026-07-28 on.
func (e *entry) postModern(w http.ResponseWriter, req *http.Request, owner string, m *message) {
	id := m.id.in(m.text)
	if f := headerFault(req.Header, m); f != nil {
		writeFault(w, id, http.StatusBadRequest, f)
		return
	}
	to, f := e.stateless(req.Context(), owner)
	if f != nil {
		writeFault(w, id, statusOf(f.Code), f)
		return
	}
	if f := to.program.paramFault(req.Header, m); f != nil {
		writeFault(w, id, http.StatusBadRequest, f)
		return
	}
	e.relay(w, req, to, m, nil)
}

// relay passes a client's message on, and answers the HTTP request. seen gets the answer
// to a request; it may be nil.
func (e *entry) relay(w http.ResponseWriter, req *http.Request, to *peer, m *message, seen func(answer []byte)) {
	p := to.program
	switch {
	case m.isResponse():
		p.answer(to, m)
	case !m.isRequest():
		p.notify(to, m)
	default:
		e.call(w, req, to, m, seen)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (e *entry) call(w http.ResponseWriter, req *http.Request, to *peer, m *message, seen func([]byte)) {
	p, id := to.program, m.id.in(m.text)
	c := &call{peer: to, id: bytes.Clone(id), method: m.method, out: newStream(e.g.opts.Limits)}
	if m.method == "resources/subscribe" || m.method == "resources/unsubscribe" {
		c.uri = m.param("uri")
	}
	defer p.hold(to)()
	if to.session != "" && m.method != "initialize" && req.Header.Get("Mcp-Protocol-Version") >= firstResumable {
		p.resumable(to, c.out)
		defer p.written(to, c.out)
	}
	if f := p.begin(c, m); f != nil {
		writeFault(w, id, http.StatusOK, f)
		return
	}
	status := plain
	if to.session == "" {
		status = statusOfText
	}
	c.out.seen = seen
	c.out.serve(w, req, m.method == "subscriptions/listen", status)
	if to.session == "" || m.method == "initialize" { // the end of the exchange cancels it (2026-07-28)
		p.abandon(c)
	}
}

func plain([]byte) int { return http.StatusOK }

// statusOfText returns the HTTP status of a response from 2026-07-28 on.
func statusOfText(answer []byte) int {
	m, err := parse(answer)
	if err != nil || !m.fail.there() {
		return http.StatusOK
	}
	var f fault
	_ = json.Unmarshal(m.fail.in(m.text), &f)
	return statusOf(f.Code)
}

func statusOf(code int) int {
	switch code {
	case codeMethodNotFound:
		return http.StatusNotFound
	case codeInvalidParams, codeUnsupportedVersion, codeMissingCapability, codeHeaderMismatch:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

func writeFault(w http.ResponseWriter, id []byte, status int, f *fault) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(failure(id, f))
}
