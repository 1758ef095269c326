//go:build !js

package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Handler returns the proxy as an http.Handler, for self-hosting and tests. The Worker
// does not use it. upstream sends the requests: see [Transport]. Each Handler has its
// own counts for Config.MaxPerMinute.
func (p *Policy) Handler(upstream http.RoundTripper) http.Handler {
	rates := &rates{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{p: p, rates: rates, upstream: upstream, w: w, r: r, began: time.Now()}
		defer func() {
			if v := recover(); v != nil && (x.begun || v == http.ErrAbortHandler) {
				panic(http.ErrAbortHandler) // the response cannot be taken back
			} else if v != nil {
				x.refuse("internal")
			}
		}()
		x.serve()
	})
}

// An exchange is one request and its response.
type exchange struct {
	p        *Policy
	rates    *rates
	upstream http.RoundTripper
	w        http.ResponseWriter
	r        *http.Request
	d        *Decision
	from     string // the caller's IP address
	began    time.Time
	begun    bool // the response
}

func (x *exchange) serve() {
	x.d = x.p.Decide(x.request())
	switch {
	case x.d.Verdict == Answer:
		if x.d.Code != "" {
			x.note(x.d.Code)
		}
		x.answer(x.d.Status, x.d.Header, x.d.Body)
		return
	case !x.rates.allow(x.d.RateKey, x.p.cfg.MaxPerMinute, x.d.now):
		x.refuse("rate_limited")
		return
	case x.d.Verdict == Diagnose:
		found := x.d.Diagnosis(x.probe())
		x.note("")
		x.answer(found.Status, found.Header, found.Body)
		return
	}
	res, cancel, code := x.send(http.MaxBytesReader(x.w, x.r.Body, x.d.MaxRequest))
	for {
		if code != "" {
			x.refuse(code)
			return
		}
		reply := x.d.Respond(&Response{Status: res.StatusCode, Header: pairs(res.Header, res.ContentLength)})
		if reply.Follow == nil {
			x.reply(reply, res)
			cancel()
			return
		}
		res.Body.Close()
		cancel()
		x.d = reply.Follow
		res, cancel, code = x.send(nil)
	}
}

func (x *exchange) request() *Request {
	scheme := "http"
	if x.r.TLS != nil {
		scheme = "https"
	}
	x.from = x.client()
	return &Request{
		Method: x.r.Method, URL: scheme + "://" + x.r.Host + x.r.RequestURI, Header: pairs(x.r.Header, x.r.ContentLength),
		Client: x.from, Now: x.began,
	}
}

// client returns the caller's IP address. A reverse proxy that is trusted says whose request it passes.
func (x *exchange) client() string {
	client, _, err := net.SplitHostPort(x.r.RemoteAddr)
	if err != nil {
		client = x.r.RemoteAddr
	}
	hops := strings.Split(strings.Join(x.r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		at, err := netip.ParseAddr(client)
		isTrusted := func(network netip.Prefix) bool { return network.Contains(at.Unmap()) }
		if err != nil || !slices.ContainsFunc(x.p.cfg.TrustedProxies, isTrusted) {
			break
		}
		hop := strings.TrimSpace(hops[i])
		if withPort, err := netip.ParseAddrPort(hop); err == nil {
			hop = withPort.Addr().String()
		}
		if _, err := netip.ParseAddr(hop); err != nil {
			break
		}
		client = hop
	}
	return client
}

func pairs(h http.Header, length int64) []Pair {
	out := make([]Pair, 0, len(h)+1)
	for name, values := range h {
		if name == "Content-Length" {
			continue
		}
		for _, v := range values {
			out = append(out, Pair{strings.ToLower(name), v})
		}
	}
	if length > 0 {
		out = append(out, Pair{"content-length", strconv.FormatInt(length, 10)})
	}
	return out
}

// send sends the decided request. Without a response, code is the code of the refusal.
// The caller ends the response with cancel.
func (x *exchange) send(body io.ReadCloser) (res *http.Response, cancel context.CancelFunc, code string) {
	ctx, abort := context.WithCancelCause(x.r.Context())
	cancel = func() { abort(nil) }
	req, err := http.NewRequestWithContext(ctx, x.d.Method, x.d.URL, nil)
	if err != nil {
		cancel()
		return nil, nil, "internal"
	}
	if body != nil && x.r.ContentLength != 0 {
		req.Body, req.ContentLength = body, x.r.ContentLength
	}
	for _, h := range x.d.Header {
		if h.Name != "content-length" {
			req.Header.Add(h.Name, h.Value)
		}
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header["User-Agent"] = nil // none, instead of Go's own
	}
	late := errors.New("no response in time")
	timer := time.AfterFunc(x.d.FirstByte, func() { abort(late) })
	res, err = x.upstream.RoundTrip(req)
	if !timer.Stop() && err == nil {
		res.Body.Close()
		err = late
	}
	if err == nil {
		return res, cancel, ""
	}
	defer cancel()
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, nil, "request_too_large"
	case context.Cause(ctx) == late:
		return nil, nil, "upstream_timeout"
	}
	return nil, nil, "upstream_unreachable"
}

// reply passes a response on.
func (x *exchange) reply(reply *Reply, res *http.Response) {
	defer res.Body.Close()
	if reply.Body != nil {
		x.note(reply.Code)
		x.answer(reply.Status, reply.Header, reply.Body)
		return
	}
	if reply.Stream {
		if !x.p.Enter(x.d.Caller) {
			x.refuse("too_many_streams")
			return
		}
		defer x.p.Leave(x.d.Caller)
	}
	body := io.Reader(res.Body)
	if reply.Bind > 0 {
		head, err := io.ReadAll(io.LimitReader(res.Body, int64(reply.Bind)+1))
		if err != nil {
			x.refuse("upstream_unreachable")
			return
		}
		x.d.Bind(reply, head)
		body = io.MultiReader(bytes.NewReader(head), res.Body)
	}
	x.note("")
	x.header(reply.Status, reply.Header)
	if reply.Prime {
		_, _ = io.WriteString(x.w, ":\n\n")
	}
	x.stream(body, reply.MaxBody)
}

// stream copies the body and flushes each part. A limit of 0 means no limit; a longer
// body aborts the response.
func (x *exchange) stream(body io.Reader, limit int64) {
	control := http.NewResponseController(x.w)
	_ = control.Flush()
	buf := make([]byte, 32<<10)
	for size := int64(0); ; {
		n, err := body.Read(buf)
		if size += int64(n); limit > 0 && size > limit {
			panic(http.ErrAbortHandler) // the length may be known: a short body must not look whole
		}
		if n > 0 {
			if _, err := x.w.Write(buf[:n]); err != nil {
				return
			}
			_ = control.Flush()
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			panic(http.ErrAbortHandler)
		}
	}
}

func (x *exchange) refuse(code string) {
	origin := x.r.Header.Get("Origin") // of a request that was not decided
	if x.d != nil {
		origin = x.d.Origin()
	}
	x.note(code)
	d := Refuse(code, origin)
	x.answer(d.Status, d.Header, d.Body)
}

// note notes the outcome. The origin is the request's own, also if it is refused.
func (x *exchange) note(code string) {
	o := Outcome{Code: code, Origin: x.r.Header.Get("Origin"), Client: x.from, Began: x.began, Took: time.Since(x.began)}
	if x.d != nil {
		o.Host = x.d.Host()
	}
	x.p.Note(o)
}

func (x *exchange) answer(status int, header []Pair, body []byte) {
	x.header(status, header)
	_, _ = x.w.Write(body)
}

func (x *exchange) header(status int, header []Pair) {
	x.begun = true
	for _, h := range header {
		x.w.Header().Add(h.Name, h.Value)
	}
	x.w.WriteHeader(status)
}
